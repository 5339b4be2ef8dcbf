//go:build !go1.23 && !tnf_cgo && !race && !msan && !asan && (amd64 || arm64)

package tnf

import "unsafe"

// Most of what a call by cgo costs is that the scheduler is told twice: that the thread is away in
// C for who knows how long, and that it is back.  A hit of a probe that its file already has takes
// some 20 ns, takes no lock, waits for nobody and calls nothing of Go's, so it goes without: by
// asmcgocall, with which the runtime itself calls C (setenv, for one).  That is sound:
//
//   - Stack: asmcgocall runs the function on the thread's own stack (g0), which in a program with
//     cgo is the C library's, as for any call by cgo.
//   - Garbage: the goroutine is at no safepoint.  Its stack neither moves nor shrinks meanwhile,
//     and no collection ends before it has been looked at; so C may read Go's strings where they
//     are.  A collection waits for the end of the hit, as it waits for as much code of Go's.
//   - Signals: Go's handlers have stacks of their own (gsignal).  They find g0, as in any of the
//     runtime's own code, and so do not preempt; a profile counts the time as external code.
//   - Time: a thread's first hit makes some system calls, none of which waits; a page of the trace
//     file may have to be fetched, as for any store into a mapped file.  A collection waits for
//     that, too.  The first hit of each probe, which may have to open the file, goes by cgo.
//   - Calls of Go: functions that prex connects to a probe might make some: such a probe goes by
//     cgo.  (One that is connected while a hit is under way must be C's alone.)
//
// From 1.23 on Go's linker wants a flag for such a name, and the race detector and its kin want to
// see each call; there, all hits go by cgo, and so they do in a program built with -tags tnf_cgo.

//go:linkname asmcgocall runtime.asmcgocall
//go:noescape
func asmcgocall(function, argument unsafe.Pointer) int32

const haveDirect = true

func direct(argument unsafe.Pointer) { asmcgocall(directHit, argument) }

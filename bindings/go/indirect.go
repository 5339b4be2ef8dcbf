//go:build go1.23 || tnf_cgo || race || msan || asan || !(amd64 || arm64)

package tnf

import "unsafe"

const haveDirect = false

func direct(unsafe.Pointer) {}

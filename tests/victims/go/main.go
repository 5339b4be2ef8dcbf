// Victim: goroutines on small stacks that lie side by side, with probes in C.
//
// Prints "unharmed" after the end of its input if every goroutine has found on
// its stack what it had put there.
package main

/*
#include <tnf/probe.h>

static void hit(int n)
{
	TNF_PROBE_1(goroutine, "go", "", tnf_int, number, n);
}
*/
import "C"

import (
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
)

var over, harmed int32

// Fills a piece of the stack, gives others the CPU, and looks again.
func look(n byte, depth int) bool {
	var piece [200]byte

	for i := range piece {
		piece[i] = n
	}
	if depth > 0 {
		if !look(n, depth-1) {
			return false
		}
	} else {
		runtime.Gosched()
	}
	for i := range piece {
		if piece[i] != n {
			return false
		}
	}
	return true
}

func run(n int, group *sync.WaitGroup) {
	defer group.Done()
	for i := 0; atomic.LoadInt32(&over) == 0; i++ {
		if !look(byte(n+1), i%6) {
			atomic.StoreInt32(&harmed, 1)
		}
		if i%16 == 0 {
			C.hit(C.int(n))
		}
	}
}

func main() {
	var group sync.WaitGroup
	var line [16]byte

	for n := 0; n < 100; n++ {
		group.Add(1)
		go run(n, &group)
	}
	fmt.Println("ready")
	for {
		if got, err := os.Stdin.Read(line[:]); got == 0 || err != nil {
			break
		}
	}
	atomic.StoreInt32(&over, 1)
	group.Wait()
	if harmed != 0 {
		fmt.Println("harmed: a stack was written by somebody else")
		os.Exit(9)
	}
	fmt.Println("unharmed")
}

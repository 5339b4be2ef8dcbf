// The least nanoseconds of a hit with two integers, or of a call of a C function that does nothing,
// over 50 pieces: bench tnf|floor LOOPS
package main

// static void nothing(unsigned long a, unsigned long b) { (void)a, (void)b; }
import "C"

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"time"

	"tnf"
)

var hit = tnf.NewProbe("hit", "bench", tnf.Int64("n"), tnf.Int64("m"))

func main() {
	loops, _ := strconv.Atoi(os.Args[2])
	n := loops / 50 // Go's compiler would divide at each turn
	floor, least := os.Args[1] == "floor", math.MaxFloat64
	for piece := 0; piece < 50; piece++ {
		began := time.Now()
		for i := 0; i < n; i++ {
			if floor {
				C.nothing(C.ulong(i), 2)
			} else if hit.On() {
				hit.Hit(tnf.I(int64(i)), tnf.I(2))
			}
		}
		least = math.Min(least, float64(time.Since(began).Nanoseconds())/float64(n))
	}
	fmt.Println(least)
}

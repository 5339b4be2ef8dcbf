// The least nanoseconds of a hit with two integers, over 50 pieces: bench LOOPS
package main

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
	loops, _ := strconv.Atoi(os.Args[1])
	least := math.MaxFloat64
	for piece := 0; piece < 50; piece++ {
		began := time.Now()
		for i := 0; i < loops/50; i++ {
			if hit.On() {
				hit.Hit(tnf.I(int64(i)), tnf.I(2))
			}
		}
		least = math.Min(least, float64(time.Since(began).Nanoseconds())/float64(loops/50))
	}
	fmt.Println(least)
}

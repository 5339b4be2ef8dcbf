package tnf

import (
	"fmt"
	"io"
	"runtime"
	"runtime/pprof"
	"strings"
	"sync"
	"testing"
	"unsafe"
)

func TestOffRecordsNothing(t *testing.T) {
	p := NewProbe("off", "test", Int64("n"), Text("s"))
	if p.On() {
		t.Fatal("on, though nobody asked")
	}
	p.Hit(I(1), S("x"))
	p.Hit()
	NewSpan("span", "test").Begin().End(0)
}

func TestTooManyArguments(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("17 arguments were taken")
		}
	}()
	NewProbe("many", "test", make([]Type, ArgumentsMax+1)...)
}

func TestSpanByNeedsAnInteger(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("a text was taken")
		}
	}()
	NewSpanBy("by", "test", Text("s"))
}

func TestConnectedProbeGoesByCgo(t *testing.T) {
	control := new(_Ctype_struct_control)
	p := &Probe{control: control}
	if p.isPlain() {
		t.Fatal("a probe that no file has")
	}
	control.index = 1
	if !p.isPlain() {
		t.Fatal("a probe that its file has")
	}
	control.chain = unsafe.Pointer(control)
	if p.isPlain() {
		t.Fatal("a probe with a connected function")
	}
}

var storm = NewProbe("storm", "storm", Int64("n"), String("s"), Text("t"), Text("none"))

// Goroutines hit a probe with texts of their stacks and of the heap while stacks grow, garbage is
// collected and a profile is taken.  go.sh looks at what was recorded.
func TestStorm(t *testing.T) {
	if !storm.On() {
		t.Skip("TNF_ENABLE=storm turns it on")
	}
	if err := pprof.StartCPUProfile(io.Discard); err != nil {
		t.Fatal(err)
	}
	defer pprof.StopCPUProfile()
	done, collected := make(chan bool), make(chan bool)
	go func() {
		for {
			select {
			case <-done:
				close(collected)
				return
			default:
				runtime.GC()
			}
		}
	}()
	var all sync.WaitGroup
	for g := 0; g < 8; g++ {
		all.Add(1)
		go func(g int) {
			defer all.Done()
			for i := 0; i < 1000; i++ {
				deep(g*1000+i, i%50)
			}
		}(g)
	}
	all.Wait()
	close(done)
	<-collected
}

func deep(n, depth int) byte {
	var room [256]byte
	if depth > 0 {
		return deep(n, depth-1) + room[n%256]
	}
	var short [8]byte
	text := string(fmt.Appendf(short[:0], "%d", n))
	storm.Hit(I(int64(n)), S(text), S(strings.Repeat(text+" ", 20)), S(""))
	return room[n%256]
}

var benched = NewProbe("benched", "test", Int64("n"), Int64("m"))

// With TNF_ENABLE=benched the cost of a hit, otherwise that of a probe that is off.
func BenchmarkHit(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if benched.On() {
			benched.Hit(I(int64(i)), I(2))
		}
	}
}

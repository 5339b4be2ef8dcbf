package tnf

import "testing"

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

var benched = NewProbe("benched", "test", Int64("n"), Int64("m"))

// With TNF_ENABLE=benched the cost of a hit, otherwise that of a probe that is off.
func BenchmarkHit(b *testing.B) {
	for i := 0; i < b.N; i++ {
		if benched.On() {
			benched.Hit(I(int64(i)), I(2))
		}
	}
}

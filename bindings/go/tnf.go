// Package tnf has probes of TNF for Linux.
//
// A probe has a name, keys and typed arguments.  A probe that is off costs an atomic load;
// prex or TNF_ENABLE switches it on, by name or by key, and then each hit writes a record to the
// trace file of the process, without a system call.  tnfdump prints the records.
//
//	var recipe = tnf.NewProbe("recipe", "cache", tnf.Text("cake"), tnf.Int64("pieces"))
//
//	if recipe.On() {
//		recipe.Hit(tnf.S(cake), tnf.I(12))
//	}
//
// A Span is a pair of probes NAME_start and NAME_end:
//
//	var bake = tnf.NewSpan("bake", "oven", tnf.Int64("id"))
//
//	end := bake.Begin(tnf.I(7))
//	defer end.End(0)
//
// The library libtnfprobe.so.1 is looked up when the first probe is made.  In a program that
// cannot load the library all probes stay off.
//
// A goroutine may move to another thread in the middle of a span.  tnfdump pairs starts and
// ends of one thread, unless both have a member that tells the instances apart and --pair names
// the member: a span that may wait for something is given one, by NewSpanBy.
package tnf

/*
#cgo LDFLAGS: -ldl
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>

// The declarations of <tnf/runtime.h>, which need not be installed.
struct argument_type { const char *name; uint32_t kind; };
struct value { uint64_t word; size_t size; };
struct control {
	uint32_t version, size, test, traced;
	void *ops, *chain;
	uint64_t controlled;
	uint32_t index;
};

static struct control *(*tnf_define)(const char *, const char *, const char *, unsigned,
    const struct argument_type *);
static void (*tnf_hit)(struct control *, const struct value *);
static struct control tnf_off;

static void
tnf_load(void)
{
	void *library = dlopen("libtnfprobe.so.1", RTLD_NOW | RTLD_GLOBAL);

	if (library == NULL)
		return;
	tnf_hit = (void (*)(struct control *, const struct value *))dlsym(library, "tnf_probe_hit");
	if (tnf_hit != NULL)
		tnf_define = (struct control *(*)(const char *, const char *, const char *, unsigned,
		    const struct argument_type *))dlsym(library, "tnf_probe_define");
}

static struct control *
tnf_make(char *name, char *keys, char *detail, unsigned n, struct argument_type *types)
{
	struct control *c = NULL;

	if (tnf_define != NULL)
		c = tnf_define(name, keys, detail, n, types);
	return c != NULL ? c : &tnf_off;
}

// The library is there, but would not make the probe.
static int
tnf_refused(const struct control *c)
{
	return c == &tnf_off && tnf_define != NULL;
}

// Texts are offsets into 'bytes': Go's memory may have no pointers of its own when C sees it.
static void
tnf_record(struct control *c, struct value *v, unsigned n, uint64_t texts, const char *bytes)
{
	struct value real[16];

	for (unsigned i = 0; i < n; i++) {
		real[i] = v[i];
		if (texts >> i & 1)
			real[i].word += (uint64_t)(uintptr_t)bytes;
	}
	tnf_hit(c, real);
}

// What direct() hands over: the words of a text are where Go has it.
struct hit { struct control *control; struct value values[16]; };

static void
tnf_direct(void *argument)
{
	const struct hit *h = argument;

	tnf_hit(h->control, h->values);
}

static void *
tnf_direct_address(void)
{
	return (void *)tnf_direct;
}

// Up to three numbers, without memory of Go's.
static void
tnf_record3(struct control *c, uint64_t a, uint64_t b, uint64_t d)
{
	struct value v[3] = { { a, 0 }, { b, 0 }, { d, 0 } };

	tnf_hit(c, v);
}
*/
import "C"

import (
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
)

// ArgumentsMax is how many arguments a probe can have.
const ArgumentsMax = 16

// A Type is the name of an argument and its type in the trace.
type Type struct {
	name string
	kind uint32
	text bool
}

// Int64 is an argument with the value I(v).
func Int64(name string) Type { return Type{name, 4, false} }

// Uint64 is an argument with the value U(v).
func Uint64(name string) Type { return Type{name, 8, false} }

// Float64 is an argument with the value F(v).
func Float64(name string) Type { return Type{name, 10, false} }

// Opaque is an argument with the value U(v), shown in hexadecimal.
func Opaque(name string) Type { return Type{name, 11, false} }

// String is an argument with the value S(v), of which the first 255 bytes are recorded.
func String(name string) Type { return Type{name, 12, true} }

// Text is an argument with the value S(v), of which up to 64 KiB are recorded.
func Text(name string) Type { return Type{name, 13, true} }

// A Value is the value of an argument.
type Value struct {
	word uint64
	text string
}

// I is a signed integer.
func I(v int64) Value { return Value{word: uint64(v)} }

// U is an unsigned integer.
func U(v uint64) Value { return Value{word: v} }

// F is a floating point number.
func F(v float64) Value { return Value{word: math.Float64bits(v)} }

// S is a text.
func S(v string) Value { return Value{text: v} }

// A Probe is safe for use by several goroutines.
type Probe struct {
	control *C.struct_control
	test    *uint32
	n       int
	texts   uint64
}

var (
	load      sync.Once
	directHit unsafe.Pointer
)

// NewProbe makes a probe, or finds the one that was made with the same words.  keys are words
// separated by blanks.  It panics if a name or a key has a character that is not allowed (a
// blank, a semicolon), or if there are more than ArgumentsMax arguments.
func NewProbe(name, keys string, types ...Type) *Probe {
	return newProbe(2, name, keys, types)
}

func newProbe(skip int, name, keys string, types []Type) *Probe {
	load.Do(func() {
		C.tnf_load()
		directHit = C.tnf_direct_address()
	})
	if len(types) > ArgumentsMax {
		panic(fmt.Sprintf("tnf: %s: %d arguments: a probe has at most %d", name, len(types), ArgumentsMax))
	}
	detail := ""
	if _, file, line, ok := runtime.Caller(skip); ok {
		detail = fmt.Sprintf("file %s;line %d", strings.ReplaceAll(file, ";", "_"), line)
	}
	p := &Probe{n: len(types)}
	text := func(s string) *C.char { return C.CString(s) }
	c := [3]*C.char{text(name), text(keys), text(detail)}
	args := (*[ArgumentsMax]C.struct_argument_type)(C.calloc(ArgumentsMax, C.sizeof_struct_argument_type))
	for i, t := range types {
		args[i].name = text(t.name)
		args[i].kind = C.uint32_t(t.kind)
		if t.text {
			p.texts |= 1 << i
		}
	}
	p.control = C.tnf_make(c[0], c[1], c[2], C.uint(len(types)), &args[0])
	for i := range types {
		C.free(unsafe.Pointer(args[i].name))
	}
	for _, s := range c {
		C.free(unsafe.Pointer(s))
	}
	C.free(unsafe.Pointer(args))
	if C.tnf_refused(p.control) != 0 {
		panic(fmt.Sprintf("tnf: %q, %q: a name or a key has a character that is not allowed", name, keys))
	}
	p.test = (*uint32)(unsafe.Pointer(&p.control.test))
	return p
}

// On tells whether somebody wants the events of the probe.
func (p *Probe) On() bool { return atomic.LoadUint32(p.test) != 0 }

// Hit records an event if the probe is on.  There is a value for each argument of the
// definition, or nothing is recorded.
func (p *Probe) Hit(values ...Value) {
	if !p.On() || len(values) != p.n {
		return
	}
	if haveDirect && p.isPlain() {
		p.hitDirect(values)
	} else {
		p.hitCgo(values)
	}
}

// The probe has its place in the file, and no function is connected to it: a hit only writes.
func (p *Probe) isPlain() bool {
	return atomic.LoadUint32((*uint32)(&p.control.index)) != 0 && atomic.LoadPointer(&p.control.chain) == nil
}

func (p *Probe) hitDirect(values []Value) {
	if p.n <= 3 {
		var h struct {
			control *C.struct_control
			values  [3]C.struct_value
		}
		h.control = p.control
		for i := range values {
			h.values[i] = p.word(i, &values[i])
		}
		direct(unsafe.Pointer(&h))
	} else {
		var h C.struct_hit
		h.control = p.control
		for i := range values {
			h.values[i] = p.word(i, &values[i])
		}
		direct(unsafe.Pointer(&h))
	}
	runtime.KeepAlive(values)
}

// What C reads of a value; the address of a text is but a number to the garbage collector.
func (p *Probe) word(i int, v *Value) C.struct_value {
	if p.texts>>i&1 == 0 {
		return C.struct_value{word: C.uint64_t(v.word)}
	}
	text := unsafe.Pointer(&noText)
	if v.text != "" {
		text = *(*unsafe.Pointer)(unsafe.Pointer(&v.text))
	}
	return C.struct_value{word: C.uint64_t(uintptr(text)), size: C.size_t(len(v.text))}
}

var noText byte

func (p *Probe) hitCgo(values []Value) {
	if p.texts == 0 && p.n <= 3 {
		var w [3]C.uint64_t
		for i := range values {
			w[i] = C.uint64_t(values[i].word)
		}
		C.tnf_record3(p.control, w[0], w[1], w[2])
		return
	}
	s := scratches.Get().(*scratch)
	s.bytes = s.bytes[:0]
	for i := range values {
		s.words[i] = C.struct_value{word: C.uint64_t(values[i].word)}
		if p.texts>>i&1 != 0 {
			s.words[i].word = C.uint64_t(len(s.bytes))
			s.words[i].size = C.size_t(len(values[i].text))
			s.bytes = append(s.bytes, values[i].text...)
		}
	}
	s.bytes = append(s.bytes, 0)
	C.tnf_record(p.control, &s.words[0], C.uint(p.n), C.uint64_t(p.texts), (*C.char)(unsafe.Pointer(&s.bytes[0])))
	scratches.Put(s)
}

// The words and bytes that a hit hands to C.
type scratch struct {
	words [ArgumentsMax]C.struct_value
	bytes []byte
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// A Span is a pair of probes NAME_start and NAME_end.
type Span struct {
	start, end *Probe
	by         bool
}

// NewSpan makes a span whose start has these arguments; its end has "error".
func NewSpan(name, keys string, types ...Type) *Span {
	return &Span{newProbe(2, name+"_start", keys, types),
		newProbe(2, name+"_end", keys, []Type{Int64("error")}), false}
}

// NewSpanBy makes a span whose first argument, an integer, tells its instances apart: its end
// has the argument, too.  tnfdump --pair NAME_start,NAME_end,ARGUMENT pairs them.
func NewSpanBy(name, keys string, types ...Type) *Span {
	if len(types) == 0 || types[0].text {
		panic(fmt.Sprintf("tnf: %s: the first argument must be an integer", name))
	}
	return &Span{newProbe(2, name+"_start", keys, types),
		newProbe(2, name+"_end", keys, []Type{types[0], Int64("error")}), true}
}

// A Begun is a span that has begun.
type Begun struct {
	span *Span
	id   Value
}

// Begin records the start.
func (s *Span) Begin(values ...Value) Begun {
	s.start.Hit(values...)
	b := Begun{span: s}
	if s.by && len(values) > 0 {
		b.id = values[0]
	}
	return b
}

// End records the end; err is 0 if all went well.
func (b Begun) End(err int64) {
	if b.span.by {
		b.span.end.Hit(b.id, I(err))
	} else {
		b.span.end.Hit(I(err))
	}
}

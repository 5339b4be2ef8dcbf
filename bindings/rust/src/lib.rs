//! Probes of TNF for Linux.
//!
//! A probe has a name, keys and typed arguments.  A probe that is off costs a load and a
//! comparison; `prex -p PID` or `TNF_ENABLE` switches it on, by name or by key, and then each
//! hit writes a record to the trace file of the process, without a system call.  `tnfdump`
//! prints the records.
//!
//! ```
//! fn bake(order: i64, cake: &str) {
//!     let _span = tnf::span!("bake", "oven", id: i64 = order);
//!     tnf::probe!("recipe", "cache", cake: &str = cake, pieces: u32 = 12);
//! }   // the span ends here
//! # bake(7, "apple");
//! ```
//!
//! Arguments are computed only while the probe is on.  The library `libtnfprobe.so.1` is looked
//! up when the first probe is defined; without the library all probes stay off, and nothing
//! else changes.  Probes are defined before `main`, so that `prex` lists them from the start.
//!
//! With the feature `tracing`, [`Layer`] records every span and event of the crate `tracing`.

mod library;
#[cfg(feature = "tracing")]
mod layer;
#[cfg(feature = "tracing")]
pub use layer::Layer;

use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

#[doc(hidden)]
pub use library::{Control, UNDEFINED};
pub use library::{Kind, Value};

/// A type that an argument of a probe can have.
///
/// Integers, `bool`, floating point, `&str`, `String`, `&[u8]` and raw pointers.  A text or
/// slice is recorded up to 64 KiB; a text ends at its first NUL.
pub trait Argument {
    /// The type in the trace.
    const KIND: Kind;
    /// The value; it refers to the bytes of a text or slice, which must outlive the hit.
    fn value(&self) -> Value;
}

macro_rules! integers {
    ($($ty:ty => $kind:ident),*) => { $(
        impl Argument for $ty {
            const KIND: Kind = Kind::$kind;
            #[inline]
            fn value(&self) -> Value { Value::integer(*self as u64) }
        }
    )* };
}
integers!(i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64, isize => Int64, u8 => UInt8,
    u16 => UInt16, u32 => UInt32, u64 => UInt64, usize => UInt64, bool => UInt8);

impl Argument for f32 {
    const KIND: Kind = Kind::Float32;
    #[inline]
    fn value(&self) -> Value {
        Value::integer((*self as f64).to_bits())
    }
}

impl Argument for f64 {
    const KIND: Kind = Kind::Float64;
    #[inline]
    fn value(&self) -> Value {
        Value::integer(self.to_bits())
    }
}

impl Argument for &str {
    const KIND: Kind = Kind::Text;
    #[inline]
    fn value(&self) -> Value {
        Value::bytes(self.as_bytes())
    }
}

/// A text of which the first 255 bytes are recorded; cheaper than `&str`.
#[derive(Clone, Copy, Debug)]
pub struct Short<'a>(pub &'a str);

impl Argument for Short<'_> {
    const KIND: Kind = Kind::String;
    #[inline]
    fn value(&self) -> Value {
        Value::bytes(self.0.as_bytes())
    }
}

impl Argument for String {
    const KIND: Kind = Kind::Text;
    #[inline]
    fn value(&self) -> Value {
        Value::bytes(self.as_bytes())
    }
}

impl Argument for &[u8] {
    const KIND: Kind = Kind::Blob;
    #[inline]
    fn value(&self) -> Value {
        Value::bytes(self)
    }
}

impl<T> Argument for *const T {
    const KIND: Kind = Kind::Opaque;
    #[inline]
    fn value(&self) -> Value {
        Value::integer(*self as usize as u64)
    }
}

/// The value of an argument of the given type; for the macros.
#[doc(hidden)]
#[inline]
pub fn value<T: Argument>(v: &T) -> Value {
    v.value()
}

/// A probe, made by [`probe!`], [`define!`] or [`span!`].
pub struct Probe {
    control: AtomicPtr<Control>,
    name: &'static str,
    keys: &'static str,
    file: &'static str,
    line: u32,
    arguments: &'static [(&'static str, Kind)],
}

impl Probe {
    #[doc(hidden)]
    pub const fn new(
        undefined: &'static Control,
        name: &'static str,
        keys: &'static str,
        place: (&'static str, u32),
        arguments: &'static [(&'static str, Kind)],
    ) -> Probe {
        let control = AtomicPtr::new(undefined as *const Control as *mut Control);
        Probe { control, name, keys, file: place.0, line: place.1, arguments }
    }

    /// True while somebody wants the events of the probe.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on().is_some()
    }

    /// The control block, while the probe is on.
    #[doc(hidden)]
    #[inline]
    pub fn on(&self) -> Option<&'static Control> {
        // The control blocks of probes are never freed.
        let control = unsafe { &*self.control.load(Ordering::Acquire) };
        if !control.is_on() {
            return None;
        }
        if ptr::eq(control, &UNDEFINED) { self.define() } else { Some(control) }
    }

    /// Defines the probe, unless that has been done.
    #[doc(hidden)]
    #[cold]
    pub fn define(&self) -> Option<&'static Control> {
        let detail = format!("file {};line {}", self.file, self.line);
        let control = library::define(self.name, self.keys, &detail, self.arguments);
        self.control.store(control as *const Control as *mut Control, Ordering::Release);
        if control.is_on() { Some(control) } else { None }
    }

    /// Records an event if the probe is on.  There is a value for each argument of the
    /// definition, or nothing is recorded.
    #[inline]
    pub fn hit(&self, values: &[Value]) {
        if let Some(control) = self.on() {
            if values.len() == self.arguments.len() {
                control.hit(values);
            }
        }
    }
}

/// A span of time: its start has been recorded, and its end is when the guard is dropped.
#[must_use = "the span ends when the guard is dropped"]
pub struct Span {
    end: &'static Probe,
    error: i64,
}

impl Span {
    #[doc(hidden)]
    pub fn new(end: &'static Probe) -> Span {
        Span { end, error: 0 }
    }

    /// The end will tell this error; 0, the default, is none.
    pub fn set_error(&mut self, error: i64) {
        self.error = error;
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        if self.end.is_on() {
            self.end.hit(&[value(&self.error)]);
        }
    }
}

/// Defines a probe for code that hits the probe itself: `define!(NAME, "name", "keys",
/// argument: type, ...)` makes a `static NAME:` [`Probe`].
#[macro_export]
macro_rules! define {
    ($static:ident, $name:expr, $keys:expr $(, $argument:ident : $ty:ty)* $(,)?) => {
        static $static: $crate::Probe = $crate::Probe::new(
            &$crate::UNDEFINED, $name, $keys, (file!(), line!()),
            &[$((stringify!($argument), <$ty as $crate::Argument>::KIND)),*]);
        const _: () = {
            extern "C" fn before_main() {
                $static.define();
            }
            #[used]
            #[link_section = ".init_array"]
            static BEFORE_MAIN: extern "C" fn() = before_main;
        };
    };
}

/// A probe at this place: `probe!("name", "keys", argument: type = value, ...)`.
#[macro_export]
macro_rules! probe {
    ($name:expr, $keys:expr $(, $argument:ident : $ty:ty = $value:expr)* $(,)?) => {{
        $crate::define!(PROBE, $name, $keys $(, $argument: $ty)*);
        if let Some(control) = PROBE.on() {
            control.hit(&[$($crate::value::<$ty>(&$value)),*]);
        }
    }};
}

/// A [`Span`] from here to the end of its guard: the probes `NAME_start`, with the arguments,
/// and `NAME_end` with `error`.
#[macro_export]
macro_rules! span {
    ($name:literal, $keys:expr $(, $argument:ident : $ty:ty = $value:expr)* $(,)?) => {{
        $crate::define!(END, concat!($name, "_end"), $keys, error: i64);
        $crate::probe!(concat!($name, "_start"), $keys $(, $argument: $ty = $value)*);
        $crate::Span::new(&END)
    }};
}

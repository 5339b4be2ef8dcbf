//! libtnfprobe, looked up at run time: a program without it runs with all probes off.

use std::ffi::CString;
use std::os::raw::{c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use std::sync::Once;

/// The type of an argument in the trace: `enum tnf_argument_kind` of `<tnf/runtime.h>`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    Int8 = 1,
    Int16,
    Int32,
    Int64,
    UInt8,
    UInt16,
    UInt32,
    UInt64,
    Float32,
    Float64,
    Opaque,
    String,
    Text,
    Blob,
}

/// The value of an argument: `struct tnf_probe_value`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Value {
    word: u64,
    size: usize,
}

impl Value {
    #[inline]
    pub(crate) fn integer(word: u64) -> Value {
        Value { word, size: 0 }
    }

    #[inline]
    pub(crate) fn bytes(bytes: &[u8]) -> Value {
        Value { word: bytes.as_ptr() as usize as u64, size: bytes.len() }
    }
}

/// The first members of `struct tnf_probe_control`.
#[repr(C)]
pub struct Control {
    version: u32,
    size: u32,
    test: AtomicU32,
}

impl Control {
    #[inline]
    pub(crate) fn is_on(&self) -> bool {
        self.test.load(Ordering::Relaxed) != 0
    }

    /// Records an event of a probe that is on, and so has been defined: a value for each argument.
    #[doc(hidden)]
    #[inline]
    pub fn hit(&self, values: &[Value]) {
        unsafe {
            let hit: Hit = std::mem::transmute(HIT.load(Ordering::Relaxed));
            hit(self, values.as_ptr());
        }
    }
}

/// The control of a probe that is not defined yet: asking whether it is on defines it.
#[doc(hidden)]
pub static UNDEFINED: Control = Control { version: 0, size: 0, test: AtomicU32::new(1) };
/// The control of a probe that could not be defined.
static OFF: Control = Control { version: 0, size: 0, test: AtomicU32::new(0) };

#[repr(C)]
struct ArgumentType {
    name: *const c_char,
    kind: u32,
}

type Define = unsafe extern "C" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    c_uint,
    *const ArgumentType,
) -> *const Control;
type Hit = unsafe extern "C" fn(*const Control, *const Value);

extern "C" {
    fn dlopen(file: *const c_char, flags: c_int) -> *mut c_void;
    fn dlsym(library: *mut c_void, name: *const c_char) -> *mut c_void;
}
const RTLD_NOW: c_int = 2;
const RTLD_GLOBAL: c_int = 0x100;

static DEFINE: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());
static HIT: AtomicPtr<c_void> = AtomicPtr::new(std::ptr::null_mut());

fn load() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| unsafe {
        let library = dlopen(b"libtnfprobe.so.1\0".as_ptr().cast(), RTLD_NOW | RTLD_GLOBAL);
        if !library.is_null() {
            HIT.store(dlsym(library, b"tnf_probe_hit\0".as_ptr().cast()), Ordering::Release);
            DEFINE.store(dlsym(library, b"tnf_probe_define\0".as_ptr().cast()), Ordering::Release);
        }
    });
}

/// Defines a probe; the control block of one that is always off if that is not possible.
pub(crate) fn define(
    name: &str,
    keys: &str,
    detail: &str,
    arguments: &[(&str, Kind)],
) -> &'static Control {
    load();
    let define = DEFINE.load(Ordering::Acquire);
    if define.is_null() || HIT.load(Ordering::Acquire).is_null() {
        return &OFF;
    }
    let names: Result<Vec<CString>, _> = arguments.iter().map(|a| CString::new(a.0)).collect();
    let texts = (CString::new(name), CString::new(keys), CString::new(detail), names);
    let (name, keys, detail, names) = match texts {
        (Ok(name), Ok(keys), Ok(detail), Ok(names)) => (name, keys, detail, names),
        _ => return &OFF,
    };
    let types: Vec<ArgumentType> = names
        .iter()
        .zip(arguments)
        .map(|(name, (_, kind))| ArgumentType { name: name.as_ptr(), kind: *kind as u32 })
        .collect();
    // The function has this type in <tnf/runtime.h>, and copies what it is given.  The block
    // that it returns lives as long as the process.
    unsafe {
        let define: Define = std::mem::transmute(define);
        let (n, types) = (types.len() as c_uint, types.as_ptr());
        define(name.as_ptr(), keys.as_ptr(), detail.as_ptr(), n, types).as_ref().unwrap_or(&OFF)
    }
}

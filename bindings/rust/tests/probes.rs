//! What the macros promise when nothing is switched on, and what the types become.
use std::cell::Cell;
use tnf::{Argument, Kind};

tnf::define!(BOUND, "bound", "test", id: i32, text: &str);

#[test]
fn arguments_are_not_computed_while_the_probe_is_off() {
    let asked = Cell::new(0);
    let ask = || {
        asked.set(asked.get() + 1);
        asked.get()
    };
    tnf::probe!("asked", "test", n: i32 = ask());
    drop(tnf::span!("asking", "test", n: i32 = ask()));
    assert_eq!(asked.get(), 0);
}

#[test]
fn kinds() {
    assert_eq!(<i8 as Argument>::KIND, Kind::Int8);
    assert_eq!(<usize as Argument>::KIND, Kind::UInt64);
    assert_eq!(<bool as Argument>::KIND, Kind::UInt8);
    assert_eq!(<f32 as Argument>::KIND, Kind::Float32);
    assert_eq!(<&str as Argument>::KIND, Kind::Text);
    assert_eq!(<String as Argument>::KIND, Kind::Text);
    assert_eq!(<tnf::Short as Argument>::KIND, Kind::String);
    assert_eq!(<&[u8] as Argument>::KIND, Kind::Blob);
    assert_eq!(<*const u8 as Argument>::KIND, Kind::Opaque);
}

#[test]
fn a_hit_with_too_few_values_does_nothing() {
    assert!(!BOUND.is_on());
    BOUND.hit(&[tnf::value(&7i32)]);
}

#[test]
fn threads_hit_the_same_probe() {
    let threads: Vec<_> = (0..8)
        .map(|n| std::thread::spawn(move || tnf::probe!("thread", "test", n: i64 = n)))
        .collect();
    for thread in threads {
        thread.join().unwrap();
    }
}

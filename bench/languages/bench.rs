//! The least nanoseconds of a hit with two integers, over 50 pieces: bench LOOPS
use std::time::Instant;

fn main() {
    let loops = std::env::args().nth(1).unwrap().parse::<i64>().unwrap() / 50;
    let mut least = f64::MAX;
    for _ in 0..50 {
        let began = Instant::now();
        for i in 0..loops {
            tnf::probe!("hit", "bench", n: i64 = i, m: i64 = 2);
        }
        least = least.min(began.elapsed().as_nanos() as f64 / loops as f64);
    }
    println!("{least}");
}

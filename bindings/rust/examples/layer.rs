//! Spans of the crate `tracing` as records: two threads, one span in the other.
use tracing_subscriber::prelude::*;

fn bake(cake: &str) {
    let _span = tracing::info_span!("bake", cake).entered();
    tracing::info!(cake, "in the oven");
}

fn main() {
    tracing_subscriber::registry().with(tnf::Layer).init();
    let order = tracing::info_span!("order", id = 7);
    let worker = {
        let order = order.clone();
        std::thread::spawn(move || order.in_scope(|| bake("apple")))
    };
    worker.join().expect("the thread");
}

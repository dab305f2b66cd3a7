// Spans of `tracing` as operations: nested, by attribute, closed by another thread, and left out.
use std::time::{Duration, Instant};

use tracing::{info_span, span, Level};
use tracing_subscriber::prelude::*;

#[tracing::instrument(target = "server")]
fn answer(request: u64) -> u64 {
    let _parse = info_span!(target: "server", "parse", request).entered();
    let mut sum = request;
    for i in 0..2_000_000u64 {
        sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(i));
    }
    sum
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).map_or(0.1, |text| text.parse().unwrap());
    let layer = coz_tracing::layer_for(|metadata| metadata.target() == "server");
    eprintln!("layer: {}", layer.is_some());
    tracing_subscriber::registry().with(layer).init();
    let begin = Instant::now();
    let mut rounds = 0;
    while begin.elapsed() < Duration::from_secs_f64(seconds) {
        answer(rounds);
        let _library = span!(target: "library", Level::INFO, "flush").entered();
        let handed_over = info_span!(target: "server", "handed over");
        std::thread::spawn(move || drop(handed_over)).join().unwrap();
        rounds += 1;
    }
    println!("{rounds}");
}

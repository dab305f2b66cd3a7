// Every mark of the crate, in two threads. Prints how many rounds there were.
//
// marks SECONDS
use std::hint::black_box;
use std::time::{Duration, Instant};

fn work(length: u64) {
    for i in 0..length {
        black_box(i);
    }
}

fn operate(round: u64) {
    coz::scope!("operation");
    if round % 2 == 0 {
        return work(1_000_000);
    }
    work(2_000_000);
}

fn step() {
    coz::region!("step");
    work(500_000);
}

fn run(end: Instant, thread: u64) -> u64 {
    let mut round = 0;
    const OPERATION: u32 = 7;
    while Instant::now() < end {
        coz::begin_id!("constant", OPERATION as u64 + 10 * thread);
        coz::end_id!("constant", OPERATION as u64 + 10 * thread);
        coz::arrival!("arrived");
        coz::begin!("plain");
        coz::begin_id!("named", 2 * round + thread);
        operate(round);
        step();
        coz::end_id!("named", 2 * round + thread);
        coz::end!("plain");
        coz::progress!("done");
        coz::progress!();
        round += 1;
    }
    round
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).expect("marks SECONDS").parse().expect("seconds");
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let other = std::thread::spawn(move || run(end, 1));
    println!("{}", run(end, 0) + other.join().expect("the other thread"));
}

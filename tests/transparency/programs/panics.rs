// Rust: panics that are caught, that end threads, that end the process; threads, channels, locks, stack guards.
use std::panic;
use std::sync::{mpsc, Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

fn work(milliseconds: u64) -> u64 {
    let start = Instant::now();
    let mut sum: u64 = 1;
    while start.elapsed() < Duration::from_millis(milliseconds) {
        for i in 0..20_000u64 {
            sum = std::hint::black_box(sum.wrapping_mul(31).wrapping_add(i));
        }
        tick();
    }
    sum
}

#[inline(never)]
pub fn tick() {
    std::hint::black_box(());
}

struct Dropped(Arc<Mutex<u32>>);
impl Drop for Dropped {
    fn drop(&mut self) {
        *self.0.lock().unwrap() += 1;
    }
}

fn main() {
    panic::set_hook(Box::new(|_| {}));
    work(150);
    let dropped = Arc::new(Mutex::new(0));
    let mut caught = 0;
    for _ in 0..20 {
        let guard = Dropped(dropped.clone());
        let result = panic::catch_unwind(panic::AssertUnwindSafe(|| {
            let _guard = guard;
            work(1);
            panic!("caught");
        }));
        caught += result.is_err() as u32;
    }
    println!("caught {} of 20, dropped {}", caught, dropped.lock().unwrap());

    let mut failed = 0;
    for _ in 0..20 {
        let thread = thread::spawn(|| {
            work(1);
            panic!("ends the thread");
        });
        failed += thread.join().is_err() as u32;
    }
    println!("threads that panicked: {}", failed);

    let (sender, receiver) = mpsc::channel();
    let sum = Arc::new((Mutex::new(0u64), Condvar::new()));
    let threads: Vec<_> = (0..4u64)
        .map(|t| {
            let sender = sender.clone();
            let sum = sum.clone();
            thread::spawn(move || {
                for i in 0..50 {
                    work(0);
                    sender.send(t * 100 + i).unwrap();
                }
                let (lock, condition) = &*sum;
                *lock.lock().unwrap() += 1;
                condition.notify_all();
            })
        })
        .collect();
    drop(sender);
    println!("received {}", receiver.iter().sum::<u64>());
    let (lock, condition) = &*sum;
    let mut done = lock.lock().unwrap();
    while *done < 4 {
        done = condition.wait(done).unwrap();
    }
    for thread in threads {
        thread.join().unwrap();
    }
    work(50);
    println!("to the end");
    if std::env::args().nth(1).as_deref() == Some("abort") {
        std::process::abort();
    }
    panic!("out of main");
}

// Counts words in a hash map, through a generic function, iterator chains and a crate of its own: words SECONDS
use std::collections::HashMap;
use std::hash::Hash;

fn tally<T: Hash + Eq>(items: impl Iterator<Item = T>, counts: &mut HashMap<T, u64>) {
    for item in items {
        *counts.entry(item).or_insert(0) += 1;
    }
}

fn main() {
    let seconds: f64 = std::env::args().nth(1).map_or(1.0, |text| text.parse().unwrap());
    let start = std::time::Instant::now();
    let mut turns = 0u64;
    let mut total = 0u64;
    while start.elapsed().as_secs_f64() < seconds {
        let mut counts = HashMap::new();
        tally((0..400u64).map(|i| mixing::mix(i ^ turns, 60) % 64), &mut counts);
        total += (0..20000u64)
            .filter(|i| (i ^ turns) % 3 != 0)
            .map(|i| i.wrapping_mul(turns | 1) >> 7)
            .sum::<u64>() & 1;
        let mut words: Vec<String> = counts.keys().map(|key| key.to_string()).collect();
        words.sort();
        total += words.len() as u64;
        turns += 1; // TURN
    }
    println!("{turns} {total}");
}

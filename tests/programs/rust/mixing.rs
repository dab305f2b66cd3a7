// The crate that words.rs depends on.
#[inline(never)]
pub fn mix(seed: u64, rounds: u32) -> u64 {
    let mut value = seed;
    for _ in 0..rounds {
        value = value.wrapping_mul(6364136223846793005).rotate_left(17) ^ seed;
    }
    value
}

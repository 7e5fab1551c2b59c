//! Shows that work grows with its size, and not with the square of its size.

use std::time::{Duration, Instant};

/// How often a measurement is repeated that other programs may have disturbed.
const ATTEMPTS: usize = 5;

/// Fails if four times the work takes eight times as long or more. Quadratic work takes 16 times as
/// long.
pub(crate) fn assert_linear(work: impl Fn(usize)) {
    let time = |many| {
        let began = Instant::now();
        work(many);
        began.elapsed().max(Duration::from_micros(1))
    };
    let mut ratios = Vec::new();
    for _ in 0..ATTEMPTS {
        let less = time(2_000);
        let ratio = time(8_000).as_secs_f64() / less.as_secs_f64();
        if ratio < 8.0 {
            return;
        }
        ratios.push(ratio);
    }
    panic!("four times the work takes so many times as long: {ratios:.1?}");
}

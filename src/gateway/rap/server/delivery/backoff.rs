//! The pauses between attempts.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

const FIRST: Duration = Duration::from_millis(250);
const LONGEST: Duration = Duration::from_secs(30);

/// Doubling pauses from 250 ms to 30 s, each varied by a quarter, so that what failed together
/// does not come back together.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
    random: RandomState,
    drawn: u64,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Backoff {
            next: FIRST,
            random: RandomState::new(),
            drawn: 0,
        }
    }

    /// How long to wait before the next attempt.
    pub(super) fn pause(&mut self) -> Duration {
        let pause = self.next;
        self.next = (pause * 2).min(LONGEST);
        self.drawn += 1;
        // The standard library's only source of chance; good enough to spread attempts.
        let chance = self.random.hash_one(self.drawn) as f64 / u64::MAX as f64;
        pause.mul_f64(0.75 + chance / 2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_and_vary_by_a_quarter() {
        let mut seen = Vec::new();
        for _ in 0..50 {
            let mut backoff = Backoff::new();
            for expected in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] {
                let pause = backoff.pause().as_secs_f64();
                assert!(
                    (expected * 0.75..=expected * 1.25).contains(&pause),
                    "{expected}: {pause}"
                );
                seen.push(pause.to_bits());
            }
        }
        seen.sort_unstable();
        seen.dedup();
        assert!(seen.len() > 400, "{} of 450 differ", seen.len());
    }
}

//! Growing pauses between attempts.

use std::time::Duration;

use caphost::dialect::pauses::pause;
use uuid::Uuid;

/// The pauses between attempts, by the rule that apps have too.
#[derive(Debug)]
pub(crate) struct Pauses {
    first: Duration,
    longest: Duration,
    failed: u32,
}

impl Pauses {
    pub(crate) fn new(first: Duration, longest: Duration) -> Self {
        Pauses {
            first,
            longest,
            failed: 0,
        }
    }

    /// The next pause.
    pub(crate) fn next(&mut self) -> Duration {
        // The lower half of a random UUID ends in bits that are all random.
        let random = Uuid::new_v4().as_u64_pair().1 as u32;
        let chance = f64::from(random) / f64::from(u32::MAX);
        let [first, longest] = [self.first, self.longest].map(|it| it.as_secs_f64() * 1_000.0);
        let pause = pause(self.failed, first, longest, chance);
        self.failed = self.failed.saturating_add(1);
        Duration::from_secs_f64(pause / 1_000.0)
    }

    /// Starts with the first pause again. Must be called after a success.
    pub(crate) fn reset(&mut self) {
        self.failed = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let mut pauses = Pauses::new(Duration::from_millis(100), Duration::from_millis(300));
        let about = |pause: Duration, ms: u64| {
            let pause = pause.as_millis() as u64;
            assert!((ms * 3 / 4..=ms * 5 / 4).contains(&pause), "{pause} {ms}");
        };
        for ms in [100, 200, 300, 300] {
            about(pauses.next(), ms);
        }
        pauses.reset();
        about(pauses.next(), 100);
    }

    #[test]
    fn pauses_double_and_vary_by_a_quarter() {
        let mut seen = Vec::new();
        for _ in 0..50 {
            let mut pauses = Pauses::new(Duration::from_millis(250), Duration::from_secs(30));
            for expected in [0.25, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 30.0, 30.0] {
                let pause = pauses.next().as_secs_f64();
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

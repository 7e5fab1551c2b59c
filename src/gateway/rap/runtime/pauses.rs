//! Pauses that grow.

use std::time::Duration;

use uuid::Uuid;

use super::limits::RuntimeLimits;

/// The pauses between the attempts at one thing: each twice as long as the one before, up to a
/// longest, and varied by a quarter so that those who wait together do not come together.
#[derive(Debug)]
pub(super) struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pauses {
    pub fn new(limits: &RuntimeLimits) -> Self {
        Pauses {
            first: limits.first_pause,
            longest: limits.longest_pause,
            next: limits.first_pause,
        }
    }

    /// The next one.
    pub fn next(&mut self) -> Duration {
        let pause = self.next.min(self.longest);
        self.next = (pause * 2).min(self.longest);
        let chance = Uuid::new_v4().as_bytes()[0];
        pause.mul_f64(0.75 + f64::from(chance) / 510.0)
    }

    /// It has worked.
    pub fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_the_longest() {
        let limits = RuntimeLimits {
            first_pause: Duration::from_millis(100),
            longest_pause: Duration::from_millis(300),
            ..RuntimeLimits::default()
        };
        let mut pauses = Pauses::new(&limits);
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
}

//! Trying again, after pauses that grow.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

/// How far something is tried again.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    /// This many attempts were made.
    Attempts(u32),
    /// The next attempt would begin this long after the first.
    Elapsed(Duration),
}

/// Why something is not tried again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GivenUp {
    /// It was tried for long enough.
    Exhausted,
    /// Nobody wants it any longer.
    CalledOff,
}

/// The attempts at one thing. The first is under way.
#[derive(Debug)]
pub(super) struct Retry {
    pauses: Pauses,
    until: Until,
    began: Instant,
    /// How many attempts there were.
    pub attempts: u32,
}

impl Retry {
    pub(super) fn new(pauses: Pauses, until: Until) -> Self {
        Retry {
            pauses,
            until,
            began: Instant::now(),
            attempts: 1,
        }
    }

    /// Waits for the next attempt, if there is to be one.
    pub(super) async fn pause(&mut self, called_off: &CancellationToken) -> Result<(), GivenUp> {
        let pause = self.pauses.next();
        let exhausted = match self.until {
            Until::Attempts(most) => self.attempts >= most,
            Until::Elapsed(most) => self.began.elapsed() + pause > most,
        };
        if exhausted {
            return Err(GivenUp::Exhausted);
        }
        self.attempts += 1;
        tokio::select! {
            () = called_off.cancelled() => Err(GivenUp::CalledOff),
            () = sleep(pause) => Ok(()),
        }
    }
}

/// The pauses between the attempts at one thing: each twice as long as the one before, up to a
/// longest, and varied by a quarter so that what failed together does not come back together.
#[derive(Debug)]
pub(super) struct Pauses {
    first: Duration,
    longest: Duration,
    next: Duration,
}

impl Pauses {
    pub(super) fn new(first: Duration, longest: Duration) -> Self {
        Pauses {
            first,
            longest,
            next: first,
        }
    }

    /// The next one.
    pub(super) fn next(&mut self) -> Duration {
        let pause = self.next.min(self.longest);
        self.next = (pause * 2).min(self.longest);
        // The lower half of a random UUID ends in bits that are all random.
        let chance = Uuid::new_v4().as_u64_pair().1 as u32;
        pause.mul_f64(0.75 + f64::from(chance) / f64::from(u32::MAX) / 2.0)
    }

    /// To be called after a success: the next pause is the first again.
    pub(super) fn reset(&mut self) {
        self.next = self.first;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn it_is_tried_so_often_or_until_nobody_wants_it() {
        let pauses = || Pauses::new(Duration::from_millis(1), Duration::from_millis(1));
        let called_off = CancellationToken::new();
        let mut retry = Retry::new(pauses(), Until::Attempts(3));
        for _ in 0..2 {
            assert_eq!(retry.pause(&called_off).await, Ok(()));
        }
        assert_eq!(retry.pause(&called_off).await, Err(GivenUp::Exhausted));
        assert_eq!(retry.attempts, 3);
        let mut retry = Retry::new(pauses(), Until::Elapsed(Duration::from_micros(1)));
        assert_eq!(retry.pause(&called_off).await, Err(GivenUp::Exhausted));
        called_off.cancel();
        let long = Duration::from_secs(60);
        let mut retry = Retry::new(Pauses::new(long, long), Until::Attempts(3));
        assert_eq!(retry.pause(&called_off).await, Err(GivenUp::CalledOff));
    }

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

//! Trying again, after pauses that grow.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::pauses::Pauses;

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
}

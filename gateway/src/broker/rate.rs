//! How fast one agent may send.

/// A token bucket that holds one second's worth.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    tokens: f64,
    at_ms: f64,
}

impl Rate {
    pub(super) fn full(per_second: f64, now_ms: f64) -> Self {
        Rate {
            tokens: per_second.max(1.0),
            at_ms: now_ms,
        }
    }

    /// Takes one token, or says how many milliseconds to wait for it.
    pub(super) fn take(&mut self, per_second: f64, now_ms: f64) -> Result<(), f64> {
        let earned = (now_ms - self.at_ms).max(0.0) * per_second / 1_000.0;
        self.tokens = (self.tokens + earned).min(per_second.max(1.0));
        self.at_ms = now_ms;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        Err(((1.0 - self.tokens) * 1_000.0 / per_second).ceil())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_come_back_with_time() {
        let mut rate = Rate::full(2.0, 0.0);
        assert_eq!(rate.take(2.0, 0.0), Ok(()));
        assert_eq!(rate.take(2.0, 0.0), Ok(()));
        assert_eq!(rate.take(2.0, 0.0), Err(500.0));
        assert_eq!(rate.take(2.0, 250.0), Err(250.0));
        assert_eq!(rate.take(2.0, 500.0), Ok(()));
        assert_eq!(rate.take(2.0, 60_000.0), Ok(()));
    }
}

//! The bounds of a host.

/// Every bound, with its default. The shells enforce message size and nesting depth, as only they
/// see the bytes.
///
/// ```
/// use caphost::Limits;
///
/// let limits = Limits {
///     sessions: 10,
///     ..Limits::default()
/// };
/// assert_eq!(limits.depth, 128);
/// ```
///
/// Bounds are added in minor versions. So a literal ends with `..Limits::default()`, as above.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Ended calls remembered per session: 10 000. A cancel that comes after so many later calls is
    /// answered `Operation not found`.
    pub remembered: usize,
    /// Calls in flight per session, 16 384: a few hundred bytes each, so about 5 MB.
    pub in_flight: usize,
    /// Bytes of calls in flight per session: 64 MiB, about the size of their parameters. The last
    /// call may exceed this by the size of one message.
    pub in_flight_bytes: usize,
    /// Sessions open at once: 1 000. These are agents of one page, or of one app behind a gateway.
    /// The windows of one origin, one window and one gateway each have a share: see
    /// [`Party`](super::Party).
    pub sessions: usize,
    /// Requests per second per session: 100 000, with a burst of the same size. This is far above
    /// what a transport carries, and low enough to stop a runaway loop.
    pub requests_per_second: f64,
    /// Characters or bytes in one message, 16 MiB: a 10 MB file as base64, and room around it.
    pub message_bytes: usize,
    /// Levels of nesting in parameters and data, 128: what JSON parsers commonly allow.
    pub depth: usize,
    /// Has a literal end with `..Limits::default()`, which `#[non_exhaustive]` would forbid.
    #[doc(hidden)]
    pub more: (),
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            remembered: 10_000,
            in_flight: 16_384,
            in_flight_bytes: 64 << 20,
            sessions: 1_000,
            requests_per_second: 100_000.0,
            message_bytes: 16 << 20,
            depth: 128,
            more: (),
        }
    }
}

/// A token bucket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rate {
    tokens: f64,
    at: f64,
}

impl Rate {
    pub(super) fn full(limits: &Limits, now: f64) -> Self {
        Rate {
            tokens: limits.requests_per_second,
            at: now,
        }
    }

    /// Takes one token, or says how many milliseconds to wait for it.
    pub(super) fn take(&mut self, limits: &Limits, now: f64) -> Result<(), f64> {
        let per_ms = limits.requests_per_second / 1_000.0;
        let earned = (now - self.at).max(0.0) * per_ms;
        self.tokens = (self.tokens + earned).min(limits.requests_per_second);
        self.at = now;
        if self.tokens >= 1.0 {
            self.tokens -= 1.0;
            return Ok(());
        }
        let wait = (1.0 - self.tokens) / per_ms;
        let whole = wait as u64 as f64;
        Err(if whole < wait { whole + 1.0 } else { whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_refills_with_time() {
        let limits = Limits {
            requests_per_second: 2.0,
            ..Limits::default()
        };
        let mut rate = Rate::full(&limits, 0.0);
        assert_eq!(rate.take(&limits, 0.0), Ok(()));
        assert_eq!(rate.take(&limits, 0.0), Ok(()));
        assert_eq!(rate.take(&limits, 0.0), Err(500.0));
        assert_eq!(rate.take(&limits, 500.0), Ok(()));
    }

    #[test]
    fn rate_says_how_long_to_wait_in_whole_milliseconds() {
        let limits = |requests_per_second| Limits {
            requests_per_second,
            ..Limits::default()
        };
        let two = limits(2.0);
        let mut rate = Rate::full(&two, 500.0);
        assert_eq!(
            [rate.take(&two, 500.0), rate.take(&two, 500.0)],
            [Ok(()); 2]
        );
        assert_eq!(rate.take(&two, 600.0), Err(400.0));
        let three = limits(3.0);
        let mut rate = Rate::full(&three, 0.0);
        for _ in 0..3 {
            assert_eq!(rate.take(&three, 0.0), Ok(()));
        }
        assert_eq!(rate.take(&three, 0.0), Err(334.0));
    }
}

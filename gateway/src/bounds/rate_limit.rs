//! How often each key may do something: a rate limit per key, in bounded memory.
//!
//! A secret of this process hashes the keys into a fixed number of slots, and each slot has its own bucket.
//! So the memory is bounded whatever keys come. No bucket is ever evicted, because an evicted bucket would
//! come back full. Two keys share a bucket only by a chance that nobody can steer.

use std::hash::{BuildHasher, Hash, RandomState};
use std::num::NonZeroU32;
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::DefaultKeyedStateStore;
use governor::{DefaultDirectRateLimiter as DirectLimiter, Quota, RateLimiter as Governor};

/// How many keys can have their own bucket, at most. An entry takes about 32 bytes.
const SLOTS: u64 = 1 << 16;

/// Limits how often something may happen.
#[derive(Debug)]
pub struct Pace(DirectLimiter);

impl Pace {
    /// A limit of `rate` times a second, and `burst` times at once.
    pub fn new(rate: f64, burst: f64) -> Self {
        Pace(Governor::direct(quota(rate, burst)))
    }

    /// Counts one use. If the limit is reached, returns the wait until the next use.
    pub fn check(&self) -> Result<(), Duration> {
        let now = || DefaultClock::default().now();
        let checked = self.0.check();
        checked.map_err(|not_until| not_until.wait_time_from(now()))
    }
}

fn quota(rate: f64, burst: f64) -> Quota {
    // The period is at least a nanosecond, which is the finest time, and at most a day.
    let period = (1.0 / rate).clamp(1e-9, 86_400.0);
    let burst = NonZeroU32::new(burst.ceil() as u32).unwrap_or(NonZeroU32::MIN);
    let quota = Quota::with_period(Duration::from_secs_f64(period));
    quota
        .unwrap_or(Quota::per_second(NonZeroU32::MIN))
        .allow_burst(burst)
}

/// Limits how often each key may do something.
#[derive(Debug)]
pub struct RateLimiter<C: Clock = DefaultClock> {
    hasher: RandomState,
    buckets: Governor<u64, DefaultKeyedStateStore<u64>, C, NoOpMiddleware<C::Instant>>,
    clock: C,
}

impl RateLimiter {
    /// A limit of `rate` times a second for each key. The burst is one second's worth, but at least one.
    pub fn per_second(rate: f64) -> Self {
        Self::with_clock(rate, rate, DefaultClock::default())
    }

    /// A limit of `rate` times a second for each key, and `burst` times at once.
    pub fn with_burst(rate: f64, burst: f64) -> Self {
        Self::with_clock(rate, burst, DefaultClock::default())
    }
}

impl<C: Clock + Clone> RateLimiter<C> {
    fn with_clock(rate: f64, burst: f64, clock: C) -> Self {
        let (quota, store) = (quota(rate, burst), DefaultKeyedStateStore::default());
        RateLimiter {
            hasher: RandomState::new(),
            buckets: Governor::new(quota, store, clock.clone()),
            clock,
        }
    }

    /// Counts one use by `key`. If the limit is reached, returns the wait until the next use.
    pub fn check(&self, key: &impl Hash) -> Result<(), Duration> {
        let slot = self.hasher.hash_one(key) % SLOTS;
        let not_until = match self.buckets.check_key(&slot) {
            Ok(()) => return Ok(()),
            Err(not_until) => not_until,
        };
        Err(not_until.wait_time_from(self.clock.now()))
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.buckets.len()
    }
}

#[cfg(test)]
mod tests {
    use governor::clock::FakeRelativeClock;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn each_key_has_its_own_rate_and_gets_it_back_with_time() {
        let clock = FakeRelativeClock::default();
        let limiter = RateLimiter::with_clock(2.0, 2.0, clock.clone());
        assert_eq!(limiter.check(&"a"), Ok(()));
        assert_eq!(limiter.check(&"a"), Ok(()));
        assert_eq!(limiter.check(&"a"), Err(SECOND / 2));
        assert_eq!(limiter.check(&"b"), Ok(()));
        clock.advance(SECOND / 4);
        assert_eq!(limiter.check(&"a"), Err(SECOND / 4));
        clock.advance(SECOND / 4);
        assert_eq!(limiter.check(&"a"), Ok(()));
        assert_eq!(limiter.check(&"a"), Err(SECOND / 2));
    }

    #[test]
    fn a_burst_may_differ_from_the_rate() {
        let clock = FakeRelativeClock::default();
        let limiter = RateLimiter::with_clock(0.5, 3.0, clock.clone());
        let allowed = (0..5).filter(|_| limiter.check(&1).is_ok()).count();
        assert_eq!(allowed, 3);
        assert_eq!(limiter.check(&1), Err(2 * SECOND));
        let least = RateLimiter::with_clock(0.5, 0.5, clock);
        assert!(least.check(&1).is_ok() && least.check(&1).is_err());
    }

    #[test]
    fn any_number_of_keys_takes_bounded_memory() {
        let limiter = RateLimiter::per_second(1.0);
        for key in 0..3 * SLOTS {
            let _ = limiter.check(&key);
        }
        assert!(limiter.len() as u64 <= SLOTS);
    }

    #[test]
    fn extreme_rates_are_rates() {
        for rate in [f64::MIN_POSITIVE, 1e300] {
            assert!(RateLimiter::per_second(rate).check(&1).is_ok());
        }
    }
}

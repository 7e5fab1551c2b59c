//! How many messages of one connection are read before others have their turn. The number falls as more
//! connections of the same party have messages, so that a party with many connections makes nobody wait
//! longer.

use std::sync::Arc;

use crate::bounds::{InUse, QuotaKey};

/// How many messages all connections of one party have together.
pub(crate) const AT_ONCE: usize = 64;

/// For each party, how many of its connections have messages to read.
#[derive(Debug, Default)]
pub(crate) struct Bursts(InUse<QuotaKey, ()>);

/// A connection of that party has messages to read, until this value is dropped.
#[derive(Debug)]
pub(crate) struct Burst(Arc<()>);

impl Bursts {
    pub fn begin(&self, quota_key: &QuotaKey) -> Burst {
        Burst(self.0.get(quota_key, || ()))
    }
}

impl Burst {
    /// How many messages are read before others have their turn.
    pub fn share(&self) -> usize {
        (AT_ONCE / Arc::strong_count(&self.0)).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_of_one_party_share_what_is_read_at_once() {
        let quota_key = |last: u8| QuotaKey::Stranger([10, 0, 0, last].into());
        let bursts = Bursts::default();
        let (one, other) = (quota_key(1), quota_key(2));
        let first = bursts.begin(&one);
        assert_eq!(first.share(), AT_ONCE);
        let mut more: Vec<_> = (0..3).map(|_| bursts.begin(&one)).collect();
        assert_eq!(
            (first.share(), bursts.begin(&other).share()),
            (AT_ONCE / 4, AT_ONCE)
        );
        more.extend((0..1_000).map(|_| bursts.begin(&one)));
        assert_eq!(first.share(), 1);
        drop(more);
        assert_eq!(first.share(), AT_ONCE);
    }
}

//! Whether an invocation is still wanted, and whether it was sent.

use std::sync::atomic::{AtomicU8, Ordering};

use tokio_util::sync::CancellationToken;

const WAITING: u8 = 0;
const SENT: u8 = 1;
const CALLED_OFF: u8 = 2;

/// What a call and the delivery of its invocation know of each other. An invocation is either sent
/// or called off before; both sides see the same.
#[derive(Debug, Default)]
pub(super) struct Errand {
    state: AtomicU8,
    over: CancellationToken,
}

impl Errand {
    /// The invocation is about to be sent, for the first time or again. Whether it may.
    pub fn begin(&self) -> bool {
        self.advance(SENT) == SENT
    }

    /// The call is over: nothing more is sent. Whether something was.
    pub fn end(&self) -> bool {
        self.over.cancel();
        self.advance(CALLED_OFF) == SENT
    }

    /// Waits until the call is over.
    pub async fn over(&self) {
        self.over.cancelled().await;
    }

    /// The state, once it is not [`WAITING`] any more.
    fn advance(&self, state: u8) -> u8 {
        let (success, failure) = (Ordering::AcqRel, Ordering::Acquire);
        let advanced = self
            .state
            .compare_exchange(WAITING, state, success, failure);
        advanced.map_or_else(|before| before, |_| state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_called_off_is_not_sent() {
        let errand = Errand::default();
        assert!(!errand.end() && !errand.begin() && !errand.end());
    }

    #[test]
    fn what_is_sent_is_not_called_off() {
        let errand = Errand::default();
        assert!(errand.begin() && errand.begin() && errand.end() && errand.end());
    }
}

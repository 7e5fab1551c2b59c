//! How many bytes of results wait to be delivered.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A number of bytes to share.
#[derive(Clone, Debug)]
pub(in crate::fronts::rap::server) struct Budget {
    left: Arc<Mutex<usize>>,
}

/// A share of it, given back when it is dropped.
#[derive(Debug)]
pub(in crate::fronts::rap::server) struct Share {
    left: Arc<Mutex<usize>>,
    bytes: usize,
}

impl Budget {
    pub(in crate::fronts::rap::server) fn new(bytes: usize) -> Self {
        Budget {
            left: Arc::new(Mutex::new(bytes)),
        }
    }

    /// Takes so many bytes, if they are left.
    pub(in crate::fronts::rap::server) fn take(&self, bytes: usize) -> Option<Share> {
        let mut left = lock(&self.left);
        *left = left.checked_sub(bytes)?;
        drop(left);
        Some(Share {
            left: self.left.clone(),
            bytes,
        })
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        *lock(&self.left) += self.bytes;
    }
}

fn lock(left: &Mutex<usize>) -> MutexGuard<'_, usize> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_given_back_can_be_taken_again() {
        let budget = Budget::new(10);
        let six = budget.take(6).unwrap();
        assert!(budget.take(5).is_none());
        let four = budget.take(4).unwrap();
        drop(six);
        assert!(budget.take(6).is_some() && budget.take(7).is_none());
        drop(four);
        assert!(budget.take(10).is_some());
    }
}

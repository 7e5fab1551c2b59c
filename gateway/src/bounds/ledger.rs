//! Bytes held for unfinished transfers: how many there may be, and who makes room.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::Notify;

use super::quota_key::QuotaKey;
use super::tally::Tally;

/// So many bytes of each transfer are not counted.
pub(crate) const FREE_BYTES: usize = 64 << 10;

/// Why a transfer is given up.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NoRoom;

impl fmt::Display for NoRoom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Too many large messages are under way")
    }
}

impl std::error::Error for NoRoom {}

/// Two bounds. Strangers may have any number of addresses, so they only take bytes from each other.
#[derive(Debug)]
pub(crate) struct Ledgers {
    members: Arc<Ledger>,
    strangers: Arc<Ledger>,
}

impl Ledgers {
    pub fn new(members: usize, strangers: usize) -> Self {
        Ledgers {
            members: Ledger::new(members),
            strangers: Ledger::new(strangers),
        }
    }

    /// Opens an account without bytes.
    pub fn open(&self, key: QuotaKey, evicted: Arc<Notify>) -> Account {
        let ledger = match key.is_stranger() {
            true => &self.strangers,
            false => &self.members,
        };
        ledger.open(key, evicted)
    }
}

/// A number of bytes for all parties. When they are used up, the party with most bytes loses the largest of
/// its accounts. A party with no more than an equal share keeps its bytes.
#[derive(Debug)]
pub(crate) struct Ledger {
    most: usize,
    accounts: Mutex<Accounts>,
}

#[derive(Debug, Default)]
struct Accounts {
    last: u64,
    total: usize,
    all: HashMap<u64, Entry>,
    /// The bytes of each party, over all of its accounts.
    by_key: Tally<QuotaKey, usize>,
}

#[derive(Debug)]
struct Entry {
    key: QuotaKey,
    bytes: usize,
    evicted: Arc<Notify>,
}

/// The bytes of one transfer. Dropping the account gives them back.
#[derive(Debug)]
pub(crate) struct Account {
    ledger: Arc<Ledger>,
    number: u64,
}

impl Ledger {
    pub fn new(most: usize) -> Arc<Self> {
        Arc::new(Ledger {
            most,
            accounts: Mutex::default(),
        })
    }

    /// Opens an account without bytes. `evicted` is notified when the account has to make room.
    pub fn open(self: &Arc<Self>, key: QuotaKey, evicted: Arc<Notify>) -> Account {
        let mut accounts = self.accounts.lock();
        accounts.last += 1;
        let number = accounts.last;
        let entry = Entry {
            key,
            bytes: 0,
            evicted,
        };
        accounts.all.insert(number, entry);
        drop(accounts);
        Account {
            ledger: self.clone(),
            number,
        }
    }
}

impl Accounts {
    /// Sets the bytes on that account. Returns whether there is such an account.
    fn set(&mut self, number: u64, bytes: usize) -> bool {
        let Some(entry) = self.all.get_mut(&number) else {
            return false;
        };
        let before = std::mem::replace(&mut entry.bytes, bytes);
        self.total = self.total - before + bytes;
        self.by_key.change(&entry.key, |held| {
            *held = *held - before + bytes;
        });
        true
    }

    /// The account that makes room. The asking account does not, if another has as many bytes.
    fn largest(&self, asking: u64) -> Option<u64> {
        let asks = self.all.get(&asking).map(|entry| &entry.key);
        let by_key = self.by_key.iter();
        let most = by_key.max_by_key(|(key, bytes)| (*bytes, asks != Some(*key)));
        let (greediest, _) = most?;
        let accounts = self.all.iter();
        let accounts = accounts.filter(|(_, entry)| entry.key == *greediest);
        // Of equal accounts, the newest.
        let largest = accounts.max_by_key(|&(number, entry)| {
            let is_other = *number != asking;
            (entry.bytes, is_other, *number)
        });
        largest.map(|(number, _)| *number)
    }

    fn remove(&mut self, number: u64) -> Option<Entry> {
        self.set(number, 0);
        self.all.remove(&number)
    }
}

impl Account {
    /// Sets the bytes of the account. False if there is no room for them, or if the account has already made
    /// room for others.
    pub fn set(&self, bytes: usize) -> bool {
        let mut accounts = self.ledger.accounts.lock();
        if !accounts.set(self.number, bytes) {
            return false;
        }
        while accounts.total > self.ledger.most
            && let Some(largest) = accounts.largest(self.number)
            && let Some(gone) = accounts.remove(largest)
        {
            gone.evicted.notify_one();
        }
        accounts.all.contains_key(&self.number)
    }

    /// Whether the account had to make room.
    pub fn is_evicted(&self) -> bool {
        !self.ledger.accounts.lock().all.contains_key(&self.number)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        self.ledger.accounts.lock().remove(self.number);
    }
}

#[cfg(test)]
mod tests;

//! A number of things and their size.

/// How many things there are, and how many bytes they take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Amount {
    pub count: usize,
    pub bytes: usize,
}

impl Amount {
    /// One thing of that size.
    pub fn one(bytes: usize) -> Self {
        Amount { count: 1, bytes }
    }

    pub fn add(&mut self, more: Amount) {
        self.count += more.count;
        self.bytes += more.bytes;
    }

    pub fn take(&mut self, less: Amount) {
        self.count = self.count.saturating_sub(less.count);
        self.bytes = self.bytes.saturating_sub(less.bytes);
    }
}

//! How far the queue to a peer has been filled.

/// How far. It goes up at once, and down only when much has been written, so that it does not go to
/// and fro with each message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Backlog {
    /// There is room.
    #[default]
    Short,
    /// More than half of it was filled: who has filled it waits.
    Long,
    /// More than three quarters were filled: what is left is for cancels, which relieve the peer,
    /// without their reasons.
    Full,
}

impl Backlog {
    /// Of a queue of so many bytes that nobody has written from.
    pub fn of(bytes: usize, limit: usize) -> Self {
        match bytes {
            bytes if bytes > limit - limit / 4 => Backlog::Full,
            bytes if bytes > limit / 2 => Backlog::Long,
            _ => Backlog::Short,
        }
    }

    /// The queue has grown to so many bytes: what it is now, if that is more than before.
    pub fn grow(&mut self, bytes: usize, limit: usize) -> Option<Self> {
        let grown = Backlog::of(bytes, limit);
        let is_more = grown > *self;
        *self = grown.max(*self);
        is_more.then_some(grown)
    }

    /// Of the queue so many bytes are left. Whether it is less than before.
    pub fn shrink(&mut self, bytes: usize, limit: usize) -> bool {
        let before = *self;
        *self = match before {
            _ if bytes < limit / 4 => Backlog::Short,
            Backlog::Full if bytes < limit / 2 => Backlog::Long,
            before => before,
        };
        *self < before
    }
}

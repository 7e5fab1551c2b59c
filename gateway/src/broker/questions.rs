//! Questions of apps that agents have not answered, which they need never do.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Those that are kept of one agent.
pub const QUESTIONS: usize = 1_024;

/// What is kept of those of all apps of one owner.
pub const QUESTION_BYTES: usize = 4 << 20;

/// What is kept of one beside its id.
const AROUND_ID: usize = 64;

/// The bytes of the questions of one owner's apps.
#[derive(Clone, Debug, Default)]
pub(super) struct Asked(Arc<AtomicUsize>);

/// One that counts for its owner as long as it is kept.
#[derive(Debug)]
pub(super) struct Question {
    /// Its id, as the app wrote it.
    pub id: Box<str>,
    asked: Asked,
}

impl Asked {
    /// Whether there is room for one with that id.
    pub fn has_room(&self, id: &str) -> bool {
        self.0.load(Ordering::Relaxed) + id.len() + AROUND_ID <= QUESTION_BYTES
    }

    /// One more.
    pub fn question(&self, id: &str) -> Question {
        self.0.fetch_add(id.len() + AROUND_ID, Ordering::Relaxed);
        Question {
            id: id.into(),
            asked: self.clone(),
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        let bytes = self.id.len() + AROUND_ID;
        self.asked.0.fetch_sub(bytes, Ordering::Relaxed);
    }
}

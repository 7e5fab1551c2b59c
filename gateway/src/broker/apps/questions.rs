//! Questions that apps have asked agents. An agent need not answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// How many questions to one agent are kept.
pub const QUESTIONS: usize = 1_024;

/// How many bytes the questions of one owner's apps may take.
pub const QUESTION_BYTES: usize = 4 << 20;

/// The bytes of a question beside its id.
const AROUND_ID: usize = 64;

/// The bytes of the questions of one owner's apps.
#[derive(Clone, Debug, Default)]
pub(in crate::broker) struct QuestionBytes(Arc<AtomicUsize>);

/// A question. Its bytes count for its owner until it is dropped.
#[derive(Debug)]
pub(in crate::broker) struct Question {
    /// Its id, as the app wrote it.
    pub id: Box<str>,
    bytes: usize,
    asked: QuestionBytes,
}

impl QuestionBytes {
    /// Returns whether there is room for a question with that id.
    pub fn has_room(&self, id: &str) -> bool {
        self.has_room_with(id, 0)
    }

    /// Returns whether there is room for a question with that id whose text is kept too.
    pub fn has_room_with(&self, id: &str, text: usize) -> bool {
        self.0.load(Ordering::Relaxed) + id.len() + AROUND_ID + text <= QUESTION_BYTES
    }

    /// The bytes of all questions.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }

    /// Adds a question.
    pub fn question(&self, id: &str) -> Question {
        self.question_with(id, 0)
    }

    /// Adds a question whose text is kept too.
    pub fn question_with(&self, id: &str, text: usize) -> Question {
        let bytes = id.len() + AROUND_ID + text;
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Question {
            id: id.into(),
            bytes,
            asked: self.clone(),
        }
    }
}

impl Drop for Question {
    fn drop(&mut self) {
        self.asked.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

//! Limits log lines about conditions that last or repeat.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The time between two log lines on the same subject.
const SELDOM: Duration = Duration::from_secs(10);

/// Limits one log line to once in 10 s.
#[derive(Debug)]
pub(crate) struct Seldom(Mutex<Option<Instant>>);

impl Seldom {
    pub const fn new() -> Self {
        Seldom(Mutex::new(None))
    }

    pub fn is_due(&self) -> bool {
        self.is_due_at(Instant::now())
    }

    fn is_due_at(&self, now: Instant) -> bool {
        let mut last = self.0.lock();
        let is_due = last.is_none_or(|last| now.duration_since(last) >= SELDOM);
        if is_due {
            *last = Some(now);
        }
        is_due
    }
}

/// How many subjects may have their own line within [`SELDOM`].
const SUBJECTS: usize = 8;

/// [`Seldom`] for each of a few subjects, which strangers may choose. Events without room for their subject,
/// or with a recently logged subject, are counted for the next line.
#[derive(Debug)]
pub(crate) struct SeldomOf(Mutex<Told>);

#[derive(Debug)]
struct Told {
    lately: Vec<(String, Instant)>,
    suppressed: usize,
}

impl SeldomOf {
    pub const fn new() -> Self {
        SeldomOf(Mutex::new(Told {
            lately: Vec::new(),
            suppressed: 0,
        }))
    }

    /// Whether a line about `subject` is due. If it is, returns how many lines of any subject were left out
    /// since the last line.
    pub fn is_due(&self, subject: &str) -> Option<usize> {
        self.is_due_at(subject, Instant::now())
    }

    fn is_due_at(&self, subject: &str, now: Instant) -> Option<usize> {
        let mut told = self.0.lock();
        told.lately
            .retain(|(_, at)| now.saturating_duration_since(*at) < SELDOM);
        let is_known = told.lately.iter().any(|(known, _)| known == subject);
        if is_known || told.lately.len() >= SUBJECTS {
            told.suppressed += 1;
            return None;
        }
        told.lately.push((subject.to_string(), now));
        Some(std::mem::take(&mut told.suppressed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_on_is_logged_now_and_then() {
        let (seldom, now) = (Seldom::new(), Instant::now());
        assert!(seldom.is_due_at(now));
        for milliseconds in 1..1_000 {
            let later = now + Duration::from_millis(milliseconds * 10 - 1);
            assert!(!seldom.is_due_at(later));
        }
        assert!(seldom.is_due_at(now + SELDOM));
        assert!(!seldom.is_due_at(now + SELDOM));
    }

    #[test]
    fn each_subject_has_its_line_and_strangers_do_not_fill_the_log() {
        let (seldom, now) = (&SeldomOf::new(), Instant::now());
        assert_eq!(seldom.is_due_at("wrong", now), Some(0));
        assert_eq!(seldom.is_due_at("wrong", now), None);
        assert_eq!(seldom.is_due_at("none", now), Some(1));
        let guesses: Vec<_> = (0..1_000).map(|it| it.to_string()).collect();
        let lines = |at| {
            guesses
                .iter()
                .filter_map(move |it| seldom.is_due_at(it, at))
        };
        assert_eq!(lines(now).count(), SUBJECTS - 2);
        let later: Vec<_> = lines(now + SELDOM).collect();
        assert_eq!((later.len(), later[0]), (SUBJECTS, 1_000 - (SUBJECTS - 2)));
    }
}

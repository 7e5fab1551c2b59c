//! One file while it is read.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use tokio::time::Instant;
use uuid::Uuid;

use super::reading::Reading;
use super::{Content, Kept};
use crate::gateway::hub::Hub;

/// A file that is being read. If it was read to its end, the reference to it has ended. Otherwise the file can
/// be opened again after this value is dropped.
pub struct Opened {
    hub: Arc<Hub>,
    id: Uuid,
    kept: Arc<Kept>,
    source: Source,
    /// How many bytes are missing, if the size is known.
    missing: Option<u64>,
}

enum Source {
    Unread,
    Held(Bytes),
    InPage(Box<Reading>),
    Over,
}

/// What is known of a file before its bytes come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Head {
    /// Its size in bytes.
    pub size: Option<u64>,
    /// Its media type.
    pub media_type: Option<String>,
    /// The app's name for it.
    pub filename: Option<String>,
}

/// Why the bytes of a file do not come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lost {
    /// The app is gone, or does not answer.
    Disconnected,
    /// The page cannot read the file, for that reason.
    Unreadable(String),
}

/// How many bytes of a file in memory are given at once.
const SLICE: usize = 64 << 10;

impl Opened {
    pub(super) fn new(hub: Arc<Hub>, id: Uuid, kept: Arc<Kept>) -> Self {
        Opened {
            hub,
            id,
            kept,
            source: Source::Unread,
            missing: None,
        }
    }

    /// Whether the reference has ended.
    pub(super) fn is_over(&self) -> bool {
        let agent = self.kept.about.agent;
        let has_left = agent.is_some_and(|agent| !self.hub.state().broker.has_agent(agent));
        let is_gone = match &self.kept.content {
            Content::Held(_) => false,
            Content::InPage(session, _) => session.strong_count() == 0,
        };
        let is_over = has_left || is_gone || self.kept.until <= Instant::now();
        if is_over {
            self.hub.files.end(&[self.id]);
        }
        is_over
    }

    /// Begins to read. Waits until the page has found the file.
    pub async fn begin(&mut self) -> Result<Head, Lost> {
        let about = &self.kept.about;
        let mut head = Head {
            size: about.size,
            media_type: about.media_type.clone(),
            filename: about.filename.clone(),
        };
        self.source = match &self.kept.content {
            Content::Held(bytes) => {
                head.size = Some(bytes.len() as u64);
                Source::Held(bytes.clone())
            }
            Content::InPage(session, url) => {
                let session = session.upgrade().ok_or(Lost::Disconnected)?;
                let mut reading = Reading::begin(self.hub.clone(), session, url)?;
                let found = reading.found().await?;
                // The page knows better than the app's result.
                head.size = found.size;
                head.media_type = head.media_type.or(found.media_type);
                Source::InPage(Box::new(reading))
            }
        };
        self.missing = head.size;
        if head.size == Some(0) {
            self.complete();
        }
        Ok(head)
    }

    /// The next bytes. `None` after the last.
    pub async fn next(&mut self) -> Option<Result<Bytes, Lost>> {
        let next = match &mut self.source {
            Source::Held(rest) if !rest.is_empty() => {
                Some(Ok(rest.split_to(rest.len().min(SLICE))))
            }
            Source::InPage(reading) => reading.next().await,
            Source::Unread | Source::Held(_) | Source::Over => None,
        };
        match &next {
            Some(Ok(bytes)) => {
                self.missing = self.missing.map(|it| it.saturating_sub(bytes.len() as u64));
                // Nobody asks what comes after the last byte of a known number.
                if self.missing == Some(0) {
                    self.complete();
                }
            }
            Some(Err(_)) => self.source = Source::Over,
            None if !matches!(self.source, Source::Over) => self.complete(),
            None => {}
        }
        next
    }

    /// All of the file, if it is in memory and is text.
    pub fn held_text(&mut self) -> Option<String> {
        let Source::Held(bytes) = &self.source else {
            return None;
        };
        let text = str::from_utf8(bytes).ok()?.to_string();
        self.complete();
        Some(text)
    }

    /// The file was read to its end, which ends the reference.
    fn complete(&mut self) {
        self.hub.files.end(&[self.id]);
        self.source = Source::Over;
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.kept.is_read.store(false, Ordering::Release);
    }
}

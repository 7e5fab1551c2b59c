//! Results by reference: files that a result names by an address of the gateway.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the table of files, and who may read them |
//! | [`opened`] | one file while it is read |
//! | [`reading`] | the bytes of a file that a page has, window by window |
//! | [`readings`] | the files of one app that are being read |
//! | [`blobs`] | `blob:` URLs in the answers of apps |
//!
//! "Results by reference" in docs/protocol.md says when a reference ends. The gateway writes nothing to disk.

mod blobs;
mod opened;
mod reading;
mod readings;

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, Weak};
use std::time::SystemTime;

use axum::http::HeaderMap;
use bytes::Bytes;
use parking_lot::Mutex;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::time::{Instant, sleep_until};
use url::Url;
use uuid::Uuid;

use crate::bounds::{Budget, Permit};
use crate::broker::PeerId;
use crate::gateway::hub::Hub;
use crate::gateway::resume::AppSession;
use crate::http_url::root;
use crate::limits::References;
use crate::tokens::Identity;

pub use opened::{Head, Lost, Opened};
pub(crate) use readings::MOST_BINARY;
pub(super) use readings::{MESSAGES, Readings};

/// The path of a file is this, and its id.
pub(crate) const PATH: &str = "/files/";

/// How many references there are at once.
const MOST: usize = 16_384;
/// How many references one token, or one network where there are no tokens, has at once.
pub(crate) const MOST_OF_ONE: usize = 1_024;

/// The files that results refer to.
pub struct Files {
    limits: References,
    /// The URL at which everybody reaches the gateway, if it is known; and whether the gateway serves TLS.
    place: OnceLock<(Option<Url>, bool)>,
    /// The bytes that are kept in memory.
    bytes: Arc<Budget<Arc<str>>>,
    places: Arc<Budget<Arc<str>>>,
    table: Mutex<HashMap<Uuid, Arc<Kept>>>,
}

/// Who may read a file, and how the file is described.
#[derive(Clone, Debug)]
pub struct Description {
    /// The owner of the call. Only the owner may read the file.
    pub owner: Identity,
    /// The holder whose share the file uses.
    pub quota_key: Arc<str>,
    /// The agent whose session must not be over, if the agent has a connection of its own.
    pub agent: Option<PeerId>,
    /// The app's name for the file.
    pub filename: Option<String>,
    /// The media type, as the app says.
    pub media_type: Option<String>,
    /// The size in bytes, as the app says.
    pub size: Option<u64>,
}

/// A reference that was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Given {
    /// The id of the file.
    pub id: Uuid,
    /// When the reference ends.
    pub until: SystemTime,
}

impl Given {
    /// The path of the file on the gateway.
    pub fn path(&self) -> String {
        format!("{PATH}{}", self.id.simple())
    }

    /// When the reference ends, as a date of ISO 8601, in whole seconds.
    pub fn expiry(&self) -> String {
        let until = OffsetDateTime::from(self.until).truncate_to_second();
        until.format(&Rfc3339).unwrap_or_default()
    }
}

/// The id of the file at that URL or path.
pub fn id_of(url: &str) -> Option<Uuid> {
    let (_, id) = url.rsplit_once(PATH)?;
    Uuid::try_parse(id).ok()
}

/// One file.
struct Kept {
    about: Description,
    content: Content,
    until: Instant,
    /// Whether somebody reads the file now.
    is_read: AtomicBool,
    _room: (Permit<Arc<str>>, Option<Permit<Arc<str>>>),
}

/// Where the bytes of a file are.
enum Content {
    /// In memory.
    Held(Bytes),
    /// In the page of that session, at that `blob:` URL.
    InPage(Weak<AppSession>, String),
}

/// Why a file cannot be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Closed {
    /// There is no such file for this reader.
    NotFound,
    /// The file is being read.
    Busy,
}

impl Files {
    /// No files.
    pub fn new(limits: &References) -> Self {
        Files {
            limits: limits.clone(),
            place: OnceLock::new(),
            bytes: Budget::new(limits.bytes, limits.bytes_of_one),
            places: Budget::new(MOST, MOST_OF_ONE),
            table: Mutex::default(),
        }
    }

    /// Sets the URL at which everybody reaches the gateway, if it is known, and whether the gateway serves TLS.
    pub fn are_at(&self, public: Option<Url>, tls: bool) {
        let _ = self.place.set((public, tls));
    }

    /// The URL of the gateway for the sender of a request with these headers, without a slash at the end.
    pub fn base(&self, headers: &HeaderMap) -> Option<String> {
        let (public, tls) = self.place.get()?;
        let base = public.clone().or_else(|| root(headers, *tls))?;
        Some(base.as_str().trim_end_matches('/').into())
    }

    /// The largest file that stands in a result.
    pub fn inline(&self) -> usize {
        self.limits.inline
    }

    /// Ends these references. Who reads one of them may go on.
    pub fn end(&self, ids: &[Uuid]) {
        let mut table = self.table.lock();
        for id in ids {
            table.remove(id);
        }
    }

    fn take(&self, id: Uuid, reader: &Identity) -> Result<Arc<Kept>, Closed> {
        let kept = self.table.lock().get(&id).cloned();
        let kept = kept.filter(|it| it.about.owner.name == reader.name);
        let kept = kept.ok_or(Closed::NotFound)?;
        match kept.is_read.swap(true, Ordering::AcqRel) {
            true => Err(Closed::Busy),
            false => Ok(kept),
        }
    }
}

impl Hub {
    /// Keeps bytes of a result in memory until they are read. `None` if there is no room.
    pub fn hold_file(self: &Arc<Self>, about: Description, bytes: Bytes) -> Option<Given> {
        let room = self.files.bytes.take(&about.quota_key, bytes.len()).ok()?;
        self.give_file(about, Content::Held(bytes), Some(room))
    }

    /// Gives a reference. It ends after a time.
    fn give_file(
        self: &Arc<Self>,
        about: Description,
        content: Content,
        room: Option<Permit<Arc<str>>>,
    ) -> Option<Given> {
        let place = self.files.places.take(&about.quota_key, 1).ok()?;
        let (id, time) = (Uuid::new_v4(), self.files.limits.time);
        let until = Instant::now() + time;
        let kept = Kept {
            about,
            content,
            until,
            is_read: AtomicBool::new(false),
            _room: (place, room),
        };
        self.files.table.lock().insert(id, Arc::new(kept));
        let hub = Arc::downgrade(self);
        tokio::spawn(async move {
            sleep_until(until).await;
            if let Some(hub) = hub.upgrade() {
                hub.files.end(&[id]);
            }
        });
        let until = SystemTime::now() + time;
        Some(Given { id, until })
    }

    /// Opens a file for a reader. Nobody else can read the file until the returned value is dropped.
    pub fn open_file(self: &Arc<Self>, id: Uuid, reader: &Identity) -> Result<Opened, Closed> {
        let kept = self.files.take(id, reader)?;
        let opened = Opened::new(self.clone(), id, kept);
        match opened.is_over() {
            true => Err(Closed::NotFound),
            false => Ok(opened),
        }
    }

    /// The description of a file that the reader may read.
    pub fn described_file(&self, id: Uuid, reader: &Identity) -> Option<Description> {
        let kept = self.files.table.lock().get(&id).cloned()?;
        (kept.about.owner.name == reader.name).then(|| kept.about.clone())
    }
}

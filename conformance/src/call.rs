//! What was seen of one call and of one cancel, with times.

use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::watch;
use tokio::time::timeout;

/// How a peer has answered a call.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// With the result of the tool.
    Completed(Value),
    /// As cancelled. `stop` is the grade of caphost, if the peer gives one.
    Cancelled { stop: Option<String> },
    /// With an error.
    Failed { code: String, message: String },
}

impl Answer {
    /// A few words for a report.
    pub fn words(&self) -> String {
        match self {
            Self::Completed(value) => format!("the result {}", shortened(&value.to_string())),
            Self::Cancelled { stop: None } => "that it was cancelled".into(),
            Self::Cancelled { stop: Some(stop) } => format!("that it was cancelled ({stop})"),
            Self::Failed { code, message } => format!("the error {code}: {}", shortened(message)),
        }
    }

    /// The count in the result of the tool `conformance.count`.
    pub fn count(&self) -> Option<u64> {
        let Self::Completed(value) = self else {
            return None;
        };
        value.get("count")?.as_u64()
    }
}

/// One thing that was seen of a call.
#[derive(Clone, Debug)]
pub enum What {
    /// The progress that the peer reported.
    Progress(f64),
    /// An answer. A peer should give one.
    Answer(Answer),
    /// The work of a call that was answered as cancelled has ended later.
    LateEnd,
    /// The connection has ended, or the call's part of it, for this reason.
    Closed(String),
}

/// [`What`] was seen, and when.
#[derive(Clone, Debug)]
pub struct Event {
    pub at: Instant,
    pub what: What,
}

/// A call that was sent to a peer.
#[derive(Debug)]
pub struct Call {
    /// The id by which the dialect cancels the call.
    pub id: Value,
    /// The key under which the tool counts.
    pub key: String,
    events: watch::Sender<Vec<Event>>,
}

impl Call {
    pub fn new(id: Value, key: &str) -> Self {
        Self {
            id,
            key: key.to_owned(),
            events: watch::Sender::new(Vec::new()),
        }
    }

    /// Notes that something was seen.
    pub fn saw(&self, what: What) {
        self.events.send_modify(|events| {
            events.push(Event {
                at: Instant::now(),
                what,
            })
        });
    }

    /// All that was seen so far.
    pub fn events(&self) -> Vec<Event> {
        self.events.borrow().clone()
    }

    /// All answers so far, the first first.
    pub fn answers(&self) -> Vec<Answer> {
        let answer = |event: &Event| match &event.what {
            What::Answer(answer) => Some(answer.clone()),
            _ => None,
        };
        self.events.borrow().iter().filter_map(answer).collect()
    }

    /// The progress so far.
    pub fn progress(&self) -> Vec<f64> {
        let progress = |event: &Event| match event.what {
            What::Progress(value) => Some(value),
            _ => None,
        };
        self.events.borrow().iter().filter_map(progress).collect()
    }

    /// Whether the connection of the call has ended, or the call's part of it.
    pub fn is_closed(&self) -> bool {
        self.events
            .borrow()
            .iter()
            .any(|event| matches!(event.what, What::Closed(_)))
    }

    /// Waits for the first answer. `None` if no answer comes within `within`, or the call's connection ends before.
    pub async fn answer(&self, within: Duration) -> Option<Answer> {
        let has_end = |events: &Vec<Event>| {
            events
                .iter()
                .any(|event| matches!(event.what, What::Answer(_) | What::Closed(_)))
        };
        let _ = timeout(within, self.events.subscribe().wait_for(has_end)).await;
        self.answers().into_iter().next()
    }

    /// Waits for an answer with the result `count`. `false` if none comes within `within`.
    pub async fn counts(&self, count: u64, within: Duration) -> bool {
        let has_result = |events: &Vec<Event>| {
            events.iter().any(|event| matches!(&event.what, What::Answer(answer) if answer.count() == Some(count)))
        };
        matches!(
            timeout(within, self.events.subscribe().wait_for(has_result)).await,
            Ok(Ok(_))
        )
    }

    /// Waits until the peer tells that the work has ended after the answer. `false` if it does not within `within`.
    pub async fn late_end(&self, within: Duration) -> bool {
        let has_end = |events: &Vec<Event>| {
            events
                .iter()
                .any(|event| matches!(event.what, What::LateEnd))
        };
        matches!(
            timeout(within, self.events.subscribe().wait_for(has_end)).await,
            Ok(Ok(_))
        )
    }
}

/// What a peer says of a cancel, in a dialect that confirms cancels.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Confirmation {
    /// Whether the call is cancelled.
    pub cancelled: bool,
    /// Why not, or the peer's own word for the state, such as `queued`.
    pub reason: Option<String>,
    /// The grade of caphost, if the peer gives one.
    pub stop: Option<String>,
    /// The code of an error.
    pub error: Option<String>,
    /// The peer does not say yet what becomes of the call. Then `cancelled` says nothing.
    pub is_open: bool,
}

impl Confirmation {
    /// Whether the peer says that the call is cancelled. `None` if it does not say.
    pub fn said(&self) -> Option<bool> {
        (!self.is_open).then_some(self.cancelled)
    }

    /// A few words for a report.
    pub fn words(&self) -> String {
        let mut words = format!("cancelled: {}", self.cancelled);
        for (name, value) in [
            ("reason", &self.reason),
            ("stop", &self.stop),
            ("error", &self.error),
        ] {
            if let Some(value) = value {
                words += &format!(", {name}: {value}");
            }
        }
        words
    }
}

/// A cancel that was sent to a peer.
#[derive(Debug)]
pub struct Cancel {
    pub sent: Instant,
    /// Whether the transport says when the cancel has arrived, though the dialect confirms nothing.
    is_acknowledged: bool,
    confirmation: watch::Sender<Option<Confirmation>>,
    confirmed: watch::Sender<Option<Instant>>,
}

impl Default for Cancel {
    fn default() -> Self {
        Self {
            sent: Instant::now(),
            is_acknowledged: false,
            confirmation: watch::Sender::new(None),
            confirmed: watch::Sender::new(None),
        }
    }
}

impl Cancel {
    /// A cancel of which the transport says when it has arrived.
    pub fn acknowledged() -> Self {
        Self {
            is_acknowledged: true,
            ..Self::default()
        }
    }

    /// Notes the answer of the peer.
    pub fn saw(&self, confirmation: Confirmation) {
        self.confirmed.send_replace(Some(Instant::now()));
        self.confirmation.send_replace(Some(confirmation));
    }

    /// Waits for the answer of the peer. `None` if there is none within `within`.
    pub async fn confirmation(&self, within: Duration) -> Option<Confirmation> {
        let _ = timeout(
            within,
            self.confirmation.subscribe().wait_for(Option::is_some),
        )
        .await;
        self.confirmation.borrow().clone()
    }

    /// Waits until whatever the peer says to the cancel has had time to come: until the transport has acknowledged it, or
    /// for `silence`.
    pub async fn arrived(&self, silence: Duration) {
        if self.is_acknowledged {
            self.confirmation(silence * 30).await;
        } else {
            tokio::time::sleep(silence).await;
        }
    }

    /// When the answer came.
    pub fn confirmed_at(&self) -> Option<Instant> {
        *self.confirmed.borrow()
    }
}

/// At most 160 characters of `text`.
pub fn shortened(text: &str) -> String {
    match text.char_indices().nth(160) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

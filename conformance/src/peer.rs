//! The seam between the scenarios and the dialects.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use serde_json::Value;
use uuid::Uuid;

use crate::call::{Call, Cancel};

/// The two tools that a peer offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// `conformance.count { key, steps, ms }` counts `steps` steps under `key`, with `ms` milliseconds before each. It
    /// reports each step as progress, and gives `{ key, count }`.
    Count,
    /// `conformance.read { key }` gives `{ key, steps }`: how many steps were counted under `key`.
    Read,
}

impl Tool {
    /// The name of the tool. A peer may use another character for the dot, and put words before the name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Count => "conformance.count",
            Self::Read => "conformance.read",
        }
    }

    /// The names of both tools among the names that a peer lists. `kind` is the dialect's word for a tool.
    pub fn both(kind: &str, names: &[&str]) -> Result<(String, String), String> {
        let find = |tool: Self| {
            tool.find(names.iter().copied()).ok_or_else(|| {
                format!(
                    "no {kind} `{}`; there are: {}",
                    tool.name(),
                    names.join(", ")
                )
            })
        };
        Ok((find(Self::Count)?, find(Self::Read)?))
    }

    /// Finds the tool among the names that a peer lists.
    pub fn find<'a>(self, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
        let plain = |name: &str| {
            name.to_lowercase()
                .replace(|it: char| !it.is_ascii_alphanumeric(), "_")
        };
        let wanted = plain(self.name());
        names
            .into_iter()
            .find(|name| plain(name).ends_with(&wanted))
            .map(str::to_owned)
    }
}

/// A call to send.
#[derive(Clone, Debug)]
pub struct NewCall {
    pub tool: Tool,
    pub arguments: Value,
    /// The id that the call gets, instead of the next one of the connection.
    pub id: Option<Value>,
    /// The time limit that the call carries, in dialects that have one.
    pub timeout: Option<Duration>,
}

impl NewCall {
    /// The id that the call gets, in dialects whose ids are texts that nobody else has.
    pub fn text_id(&self) -> Value {
        self.id
            .clone()
            .unwrap_or_else(|| Uuid::new_v4().to_string().into())
    }

    /// What the steps of the call are counted under.
    pub fn key(&self) -> &str {
        self.arguments["key"].as_str().unwrap_or_default()
    }
}

/// A connection to a peer. Nothing blocks: what is sent and what comes back is seen in the [`Call`].
pub trait Connection: Send + Sync {
    /// Sends a call. A call and a cancel that are sent without an await between them leave in one turn.
    fn call(&self, call: NewCall) -> Arc<Call>;
    /// Sends the cancel of the call `id`.
    fn cancel(&self, id: &Value, reason: Option<&str>) -> Arc<Cancel>;
    /// Sends a cancel with parameters that are no cancel's. `false` if the dialect has no such message.
    fn cancel_with(&self, params: Value) -> bool;
    /// Sends a call under an id that is in flight. What is answered under the id is seen in the first call.
    fn repeat(&self, call: &Call, again: NewCall);
    /// Loses the connection, without a word to the peer.
    fn cut(&self);
    /// Ends the session as the dialect says. `Err` says what went wrong.
    fn end(&self) -> BoxFuture<'_, Result<(), String>>;
    /// Answers that belong to no call, in a few words each. They are told once.
    fn stray(&self) -> Vec<String>;
    /// Asks for the status of a call: the status of HTTP, and the body. `None` if the dialect has no such request.
    fn status(&self, id: &Value) -> Option<BoxFuture<'_, Result<(u16, Value), String>>> {
        let _ = id;
        None
    }
    /// Whether a call can carry a time limit.
    fn has_timeout(&self) -> bool {
        false
    }
    /// Whether the connection has ended.
    fn is_over(&self) -> bool;
}

/// What a dialect says of a call that is cancelled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Afterwards {
    /// Nothing more.
    Silence,
    /// Exactly one answer: that it was cancelled, or its result.
    OneAnswer,
    /// Exactly one answer: that it was cancelled, its result, or an error that says no more.
    AnyAnswer,
}

/// What the scenarios need to know of a dialect and its transport.
#[derive(Clone, Copy, Debug)]
pub struct Traits {
    pub afterwards: Afterwards,
    /// Whether a cancel is answered by itself.
    pub confirms: bool,
    /// Whether several connections reach the same peer, so that one can read what another did.
    pub shared: bool,
    /// Whether messages of one connection arrive in the order in which they were sent.
    pub ordered: bool,
    /// The words of a confirmation that are prescribed.
    pub words: Option<Words>,
}

/// The reasons with which a dialect refuses a cancel.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// No such call.
    pub unknown: &'static str,
    /// The call has ended in another way.
    pub ended: &'static str,
}

/// A peer under test.
pub trait Peer: Send + Sync {
    fn traits(&self) -> Traits;
    /// Opens a connection and looks for both tools. `Err` says what went wrong.
    fn connect(&self) -> BoxFuture<'_, Result<Arc<dyn Connection>, String>>;
    /// Opens a connection on which no session was opened. `None` if the dialect has no such state.
    fn without_session(&self) -> Option<BoxFuture<'_, Result<Arc<dyn Connection>, String>>> {
        None
    }
    /// The name and version that the peer gave of itself, if a connection was opened.
    fn name(&self) -> Option<String>;
}

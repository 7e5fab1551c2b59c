//! What agents ask of a host, and what they are told.

use std::rc::Rc;

use super::scope::Scope;
use crate::call::{CallId, CancelAnswer, Error, Millis};

/// Names one agent's connection to a host. Never reused while the host lives.
pub type ConnectionId = u32;

/// Names one cancel by the app itself. Never reused while the host lives.
pub type CancelKey = u32;

/// Names one question to an agent. Never reused while the host lives.
pub type ElicitationKey = u32;

/// The agent, as it names itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What the agent accepts from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features {
    /// Notifications.
    pub notifications: bool,
    /// Progress.
    pub progress: bool,
    /// Questions, and it answers them.
    pub elicitation: bool,
}

/// A well-formed `initialize`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Initialize {
    /// The agent that asks.
    pub agent: Agent,
    /// What the agent accepts.
    pub features: Features,
    /// Which capabilities and requests the agent wants.
    pub scope: Scope,
}

/// The answer to `initialize`.
#[derive(Clone, Debug, PartialEq)]
pub struct Initialized<P> {
    /// Names the session, for logs.
    pub session: Rc<str>,
    /// What was agreed on.
    pub features: Features,
    /// The `Capability` documents registered.
    pub capabilities: Vec<P>,
}

/// Where an agent's connection comes from. No party takes more of the free sessions than it leaves
/// to others: an origin gets at most half of all sessions, a window half of its origin's. A party
/// without a session gets the last one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Party {
    /// A place that is used by this connection alone, such as the page itself or a port.
    #[default]
    Alone,
    /// A window of an origin.
    Window {
        /// The number of the origin.
        origin: u32,
        /// The number of the window.
        window: u32,
    },
    /// A link, such as to a gateway. Many agents stand behind it, and together they may have nearly
    /// all sessions.
    Link(u32),
}

/// A well-formed call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallRequest<P> {
    /// The agent's callId, or a callId that the shell has just made.
    pub id: CallId,
    /// What is called.
    pub capability: String,
    /// What the handler gets.
    pub params: P,
    /// Milliseconds after which the host cancels the call.
    pub timeout: Option<Millis>,
    /// The token that progress of this call carries.
    pub token: Option<P>,
    /// About the size of the parameters, as far as the shell counts.
    pub bytes: usize,
}

/// A question to an agent.
#[derive(Clone, Debug, PartialEq)]
pub struct Question<P> {
    /// The kind of question, such as `elicitation/input`. Empty where the question does not say.
    pub method: String,
    /// The whole request.
    pub request: P,
    /// Milliseconds after which an answer is no longer wanted.
    pub timeout: Option<Millis>,
}

/// The answer to a cancel. Without a session it is an error.
pub type Cancelled<P> = Result<CancelAnswer, Error<P>>;

/// What has changed in the set of capabilities. Each name stands in one of the lists, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// New names.
    pub added: Vec<Rc<str>>,
    /// Removed names.
    pub removed: Vec<Rc<str>>,
    /// Names that were removed and registered again.
    pub changed: Vec<Rc<str>>,
}

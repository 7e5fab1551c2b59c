//! What an agent wants of a host: which capabilities there are for it, and what it may be asked.

/// The `requestedCapabilities` and `allowedRequests` of an `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The only capabilities that there are for the agent; `None` for all.
    pub capabilities: Option<Names>,
    /// The only requests that it takes; `None` for all.
    pub requests: Option<Names>,
}

/// The type of the message that any question comes in.
const ANY_QUESTION: &str = "elicitation/request";

impl Scope {
    /// Whether there is a capability of that name for the agent, if the host has it.
    pub(super) fn has_capability(&self, name: &str) -> bool {
        self.capabilities.as_ref().is_none_or(|it| it.have(name))
    }

    /// Whether it takes questions of that method.
    pub(super) fn takes(&self, method: &str) -> bool {
        let requests = self.requests.as_ref();
        requests.is_none_or(|it| it.have(method) || it.have(ANY_QUESTION))
    }

    /// Whether it takes none at all.
    pub(super) fn takes_nothing(&self) -> bool {
        self.requests.as_ref().is_some_and(|it| it.0.is_empty())
    }
}

/// Some names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Names {
    fn have(&self, name: &str) -> bool {
        self.0.iter().any(|it| it == name)
    }
}

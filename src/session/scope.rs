//! The scope of an agent: which capabilities it may use, and which requests it takes.

/// The `requestedCapabilities` and `allowedRequests` of an `initialize`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    /// The only capabilities that the agent may use. `None` means all.
    pub capabilities: Option<Names>,
    /// The only requests that the agent takes. `None` means all.
    pub requests: Option<Names>,
}

/// The message type of every question.
const ANY_QUESTION: &str = "elicitation/request";

impl Scope {
    /// Whether the agent may use the capability of that name, if the host has it.
    pub fn has_capability(&self, name: &str) -> bool {
        self.capabilities.as_ref().is_none_or(|it| it.have(name))
    }

    /// Whether the agent takes questions of that method.
    pub(super) fn takes(&self, method: &str) -> bool {
        let requests = self.requests.as_ref();
        requests.is_none_or(|it| it.have(method) || it.have(ANY_QUESTION))
    }

    /// Whether the agent takes no request at all.
    pub(super) fn takes_nothing(&self) -> bool {
        self.requests.as_ref().is_some_and(|it| it.0.is_empty())
    }
}

/// A set of names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names(pub Vec<String>);

impl Names {
    fn have(&self, name: &str) -> bool {
        self.0.iter().any(|it| it == name)
    }
}

//! The head of an HTTP request: what MCP wants it to say.

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::http::header::{ACCEPT, HeaderMap};

use super::header::{METHOD, NAME, SESSION, VERSION, decoded};
use crate::fronts::media_type::{content_type, essence};
use crate::fronts::refusal::Refusal;
use crate::wire::{Failure, clipped};

/// The version spoken in sessions, whichever the client asks for.
pub const WITH_SESSIONS: &str = "2025-11-25";
/// The first version without sessions, and the only one that is spoken.
pub const STATELESS: &str = "2026-07-28";
/// Those spoken.
pub const VERSIONS: [&str; 2] = [WITH_SESSIONS, STATELESS];
/// Earlier ones, which clients may name in a session.
const EARLIER: [&str; 3] = ["2024-11-05", "2025-03-26", "2025-06-18"];

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// The head of an HTTP request, as far as MCP has a say in it.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a>(pub &'a HeaderMap);

impl<'a> Head<'a> {
    /// The session it names.
    pub fn session(self) -> Option<&'a str> {
        self.text(SESSION)
    }

    /// The method it names.
    pub fn method(self) -> Option<&'a str> {
        self.text(METHOD)
    }

    /// The name it gives of what is called or read.
    pub fn name(self) -> Option<Cow<'a, str>> {
        self.text(NAME).and_then(decoded)
    }

    /// The version it names.
    pub fn version(self) -> Option<&'a str> {
        self.text(VERSION)
    }

    /// Whether it names a version without sessions.
    pub fn is_stateless(self) -> bool {
        self.version().is_some_and(|it| it >= STATELESS)
    }

    /// Checks the version named.
    pub fn check_version(self) -> Result<(), Refusal> {
        match self.version() {
            Some(version) if !VERSIONS.contains(&version) && !EARLIER.contains(&version) => {
                let version = clipped(version, 64);
                let what = format!("Unsupported MCP-Protocol-Version: {version}");
                Err(Refusal::invalid(what))
            }
            _ => Ok(()),
        }
    }

    /// Checks the type of a body, and that its answer may be of both types there are.
    pub fn check_types(self) -> Result<(), Refusal> {
        if content_type(self.0) != JSON {
            let what = format!("Content-Type must be {JSON}");
            return Err(status(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
        }
        self.check_accept(&[JSON, EVENTS])
    }

    /// Checks that it may be answered with a stream of events.
    pub fn check_events(self) -> Result<(), Refusal> {
        self.check_accept(&[EVENTS])
    }

    fn check_accept(self, kinds: &[&str]) -> Result<(), Refusal> {
        match kinds.iter().all(|kind| self.accepts(kind)) {
            true => Ok(()),
            false => {
                let what = format!("Accept must have {}", kinds.join(" and "));
                Err(status(StatusCode::NOT_ACCEPTABLE, what))
            }
        }
    }

    fn accepts(self, kind: &str) -> bool {
        let accepted = self.0.get_all(ACCEPT).iter();
        let accepted = accepted.filter_map(|value| value.to_str().ok());
        accepted
            .flat_map(|value| value.split(','))
            .filter(|range| !is_ruled_out(range))
            .any(|range| {
                let range = essence(range);
                range == kind || range == "*/*"
            })
    }

    /// A header's value. One that is no text is the empty text, which is never right.
    fn text(self, name: &str) -> Option<&'a str> {
        let value = self.0.get(name)?;
        Some(value.to_str().unwrap_or_default())
    }
}

/// Whether a media range has the weight 0.
fn is_ruled_out(range: &str) -> bool {
    let mut parameters = range.split(';').skip(1).map(str::trim);
    parameters.any(|it| {
        let weight = it.strip_prefix("q=").or_else(|| it.strip_prefix("Q="));
        weight.is_some_and(|weight| weight.trim().parse() == Ok(0.0))
    })
}

fn status(status: StatusCode, what: impl Into<String>) -> Refusal {
    Refusal::new(status, Failure::invalid_params(what.into()))
}

#[cfg(test)]
pub(super) mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::{CONTENT_TYPE, HeaderName};

    use super::*;

    const BOTH: (HeaderName, &str) = (ACCEPT, "application/json, text/event-stream");

    /// A head with those headers.
    pub fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn types_are_checked_as_the_protocol_has_them() {
        let json = (CONTENT_TYPE, "application/json; charset=utf-8");
        for good in [
            headers(&[json.clone(), BOTH]),
            headers(&[json.clone(), (ACCEPT, "*/*")]),
        ] {
            assert!(Head(&good).check_types().is_ok(), "{good:?}");
        }
        for bad in [
            headers(&[BOTH]),
            headers(&[(CONTENT_TYPE, "text/plain"), BOTH]),
            headers(std::slice::from_ref(&json)),
            headers(&[json.clone(), (ACCEPT, "application/json")]),
            headers(&[
                json.clone(),
                (ACCEPT, "application/json;q=0, text/event-stream"),
            ]),
            headers(&[json, (ACCEPT, "text/html")]),
        ] {
            assert!(Head(&bad).check_types().is_err(), "{bad:?}");
        }
    }
}

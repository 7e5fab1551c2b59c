//! The head of an HTTP request, by the rules of MCP.

use std::borrow::Cow;

use axum::http::StatusCode;
use axum::http::header::{ACCEPT, HeaderMap, USER_AGENT};

use super::header::{METHOD, NAME, SESSION, VERSION, decoded};
use crate::fronts::media_type::{content_type, essence};
use crate::fronts::refusal::Refusal;
use crate::wire::{Failure, clipped};
use caphost::dialect::mcp::{STATELESS, Version};

pub const JSON: &str = "application/json";
pub const EVENTS: &str = "text/event-stream";

/// How the `User-Agent` of httpx2 begins, and the bytes of one event that httpx2 reads. A larger event ends the
/// stream for it. The SDK for Python, from 2.3 on, uses httpx2.
const BOUNDED_READER: (&str, usize) = ("python-httpx2/", 1 << 20);

/// The answers that a client accepts: one of the two types at least.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepted {
    /// One message.
    pub json: bool,
    /// A stream of messages.
    pub events: bool,
    /// The bytes of one event that the client reads, if its reader is known to have a bound.
    pub event_bytes: Option<usize>,
}

impl Accepted {
    /// The same, for one of several answers: a stream, if the client accepts streams.
    pub fn as_stream(self) -> Self {
        Accepted {
            json: !self.events,
            ..self
        }
    }

    /// Checks that the client accepts a stream of events.
    pub fn check_events(self) -> Result<(), Refusal> {
        match self.events {
            true => Ok(()),
            false => {
                let what = format!("Accept must have {EVENTS}");
                Err(status(StatusCode::NOT_ACCEPTABLE, what))
            }
        }
    }
}

/// How much a type is wanted.
#[derive(Clone, Copy, Debug)]
struct Preference {
    weight: f32,
    /// The place of its range in `Accept`.
    place: usize,
}

impl Preference {
    const NOT: Self = Preference {
        weight: 0.0,
        place: usize::MAX,
    };
}

/// The parts of an HTTP head that MCP uses.
#[derive(Clone, Copy, Debug)]
pub struct Head<'a>(pub &'a HeaderMap);

impl<'a> Head<'a> {
    /// The session that the request names.
    pub fn session(self) -> Option<&'a str> {
        self.text(SESSION)
    }

    /// The method that the request names.
    pub fn method(self) -> Option<&'a str> {
        self.text(METHOD)
    }

    /// The tool or other subject that the request names.
    pub fn name(self) -> Option<Cow<'a, str>> {
        self.text(NAME).and_then(decoded)
    }

    /// The version that the request names.
    pub fn version(self) -> Option<&'a str> {
        self.text(VERSION)
    }

    /// Whether the request names a version without sessions.
    pub fn is_stateless(self) -> bool {
        self.version().is_some_and(|it| it >= STATELESS.name)
    }

    /// Checks the version that the request names.
    pub fn check_version(self) -> Result<(), Refusal> {
        match self.version() {
            Some(version) if Version::named(version).is_none() => {
                let version = clipped(version, 64);
                let what = format!("Unsupported MCP-Protocol-Version: {version}");
                Err(Refusal::invalid(what))
            }
            _ => Ok(()),
        }
    }

    /// Checks the type of a body.
    pub fn check_type(self) -> Result<(), Refusal> {
        if content_type(self.0) != JSON {
            let what = format!("Content-Type must be {JSON}");
            return Err(status(StatusCode::UNSUPPORTED_MEDIA_TYPE, what));
        }
        Ok(())
    }

    /// The types of the answer that the client accepts: both, if there is no `Accept` (RFC 9110, 12.5.1). A
    /// client that prefers streams gets streams. Of two types with equal weights, the first one counts as
    /// preferred. Clients with equal weights read one head after another, and cannot cancel before a head has
    /// come.
    pub fn accepted(self) -> Result<Accepted, Refusal> {
        let (json, events) = (self.wanted(JSON), self.wanted(EVENTS));
        let prefers_events = events.weight > json.weight
            || (events.weight == json.weight && events.place < json.place);
        let accepted = Accepted {
            json: json.weight > 0.0 && !prefers_events,
            events: events.weight > 0.0,
            event_bytes: self.event_bytes(),
        };
        match accepted.json || accepted.events {
            true => Ok(accepted),
            false => {
                let what = format!("Accept must have {JSON} or {EVENTS}");
                Err(status(StatusCode::NOT_ACCEPTABLE, what))
            }
        }
    }

    /// The bytes of one event that the client reads, as far as its `User-Agent` says.
    fn event_bytes(self) -> Option<usize> {
        let (reader, bytes) = BOUNDED_READER;
        let agent = self.0.get(USER_AGENT)?;
        agent
            .as_bytes()
            .starts_with(reader.as_bytes())
            .then_some(bytes)
    }

    /// The weight of a type: the most specific range of `Accept` that includes the type decides.
    fn wanted(self, kind: &str) -> Preference {
        let ranges = self.0.get_all(ACCEPT).iter();
        // A range that is no text is one that includes neither type.
        let ranges: Vec<_> = ranges
            .map(|value| String::from_utf8_lossy(value.as_bytes()))
            .collect();
        let mut ranges = ranges
            .iter()
            .flat_map(|value| value.split(','))
            .filter(|range| !range.trim().is_empty())
            .peekable();
        if ranges.peek().is_none() {
            return Preference {
                weight: 1.0,
                place: 0,
            };
        }
        let (family, _) = kind.split_once('/').unwrap_or((kind, ""));
        let decisive = ranges.enumerate().filter_map(|(place, range)| {
            let specific = match essence(range) {
                it if it == kind => 2,
                it if it.strip_suffix("/*") == Some(family) => 1,
                it if it == "*/*" => 0,
                _ => return None,
            };
            let weight = weight_of(range);
            Some((specific, Preference { weight, place }))
        });
        decisive
            .max_by(|(one, a), (other, b)| {
                let by_weight = one.cmp(other).then(a.weight.total_cmp(&b.weight));
                by_weight.then(b.place.cmp(&a.place))
            })
            .map_or(Preference::NOT, |(_, wanted)| wanted)
    }

    /// The value of a header. A value that is no text is the empty text, which is never right.
    fn text(self, name: &str) -> Option<&'a str> {
        let value = self.0.get(name)?;
        Some(value.to_str().unwrap_or_default())
    }
}

/// The weight of a media range. An unreadable weight is 1.
fn weight_of(range: &str) -> f32 {
    let mut parameters = range.split(';').skip(1).map(str::trim);
    let weight = parameters.find_map(|it| it.strip_prefix("q=").or_else(|| it.strip_prefix("Q=")));
    weight.and_then(|it| it.trim().parse().ok()).unwrap_or(1.0)
}

fn status(status: StatusCode, what: impl Into<String>) -> Refusal {
    Refusal::new(status, Failure::invalid_params(what.into()))
}

#[cfg(test)]
pub(super) mod tests {
    use axum::http::HeaderValue;
    use axum::http::header::{CONTENT_TYPE, HeaderName};

    use super::*;

    /// A head with those headers.
    pub fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| (name.clone(), HeaderValue::from_static(value)))
            .collect()
    }

    #[test]
    fn a_body_is_json() {
        let json = (CONTENT_TYPE, "application/json; charset=utf-8");
        assert!(Head(&headers(&[json])).check_type().is_ok());
        for bad in [headers(&[]), headers(&[(CONTENT_TYPE, "text/plain")])] {
            assert!(Head(&bad).check_type().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn an_answer_comes_in_what_the_client_accepts() {
        let accepted = |value: &'static str| {
            let accepted = Head(&headers(&[(ACCEPT, value)])).accepted();
            accepted.ok().map(|it| (it.json, it.events))
        };
        let none = Head(&headers(&[])).accepted().unwrap();
        assert!(none.json && none.events);
        for (value, expected) in [
            ("application/json, text/event-stream", Some((true, true))),
            ("text/event-stream, application/json", Some((false, true))),
            ("text/*, application/json", Some((false, true))),
            (
                "text/event-stream, application/json, */*",
                Some((false, true)),
            ),
            ("*/*, text/event-stream", Some((true, true))),
            ("*/*", Some((true, true))),
            ("", Some((true, true))),
            ("application/*, text/*", Some((true, true))),
            ("Application/JSON;charset=utf-8", Some((true, false))),
            ("text/event-stream", Some((false, true))),
            ("application/json;q=0, */*", Some((false, true))),
            ("*/*;q=0, application/json", Some((true, false))),
            ("text/*;q=0, text/event-stream", Some((false, true))),
            (
                "text/event-stream, application/json;q=0.9",
                Some((false, true)),
            ),
            (
                "text/event-stream;q=0.5, application/json",
                Some((true, true)),
            ),
            ("text/html", None),
            ("*/*;q=0", None),
        ] {
            assert_eq!(accepted(value), expected, "{value}");
        }
    }
}

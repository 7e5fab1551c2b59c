//! Requests to the tool server: the requested app, and the body.

use std::fmt::Display;

use axum::body::Body;
use axum::extract::{FromRequestParts, Path};
use axum::http::header::HeaderMap;
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use serde::de::DeserializeOwned;
use url::{Url, form_urlencoded};

use crate::fronts::body::{self, ReadBody};
use crate::fronts::media_type::content_type;
use crate::fronts::refusal::Refusal;
use crate::http_url::root;
use crate::wire::{check_readable, mended};
use caphost::call::{Code, Error};

/// How many characters of an error in a body are shown.
const MESSAGE_CHARS: usize = 300;

/// The target of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The requested app. `None` means all apps.
    pub app: Option<String>,
    /// Whether the path names the app.
    in_path: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Target {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let in_path = Option::<Path<String>>::from_request_parts(parts, state).await;
        let in_path = in_path.map_err(|error| Refusal::invalid(error.body_text()))?;
        if let Some(Path(app)) = in_path {
            return Ok(Target {
                app: Some(app),
                in_path: true,
            });
        }
        Ok(Target::in_query(&parts.uri))
    }
}

impl Target {
    /// The app that the query names, if any.
    fn in_query(uri: &Uri) -> Self {
        let query = uri.query().unwrap_or_default().as_bytes();
        let app = form_urlencoded::parse(query).find(|(name, _)| name == "app");
        // An empty `?app=` names no app.
        let app = app.map(|(_, app)| app.into_owned());
        Target {
            app: app.filter(|app| !app.is_empty()),
            in_path: false,
        }
    }

    /// The URL of the endpoint, as the sender of a request with these headers reaches it.
    pub(super) fn endpoint(&self, headers: &HeaderMap, secure: bool) -> Option<Url> {
        let mut url = root(headers, secure)?;
        match &self.app {
            Some(app) if self.in_path => {
                url.path_segments_mut()
                    .ok()?
                    .clear()
                    .extend(["rap", app, "invoke"]);
            }
            app => {
                url.set_path("/invoke");
                if let Some(app) = app {
                    url.query_pairs_mut().append_pair("app", app);
                }
            }
        }
        Some(url)
    }
}

/// Reads a body of at most `limit` bytes whose `Content-Type` is JSON.
pub(super) async fn read(of: &Parts, body: Body, limit: usize) -> Result<ReadBody, Refusal> {
    if content_type(&of.headers) != "application/json" {
        let message = "The body must be JSON: `Content-Type: application/json`";
        let error = Error::new(Code::INVALID_TYPE, message);
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, error));
    }
    Ok(body::read(&of.extensions, body, limit).await?)
}

/// Reads a JSON object with a nesting depth of at most `depth`.
pub(super) fn parse<T: DeserializeOwned>(bytes: &[u8], depth: usize) -> Result<T, Refusal> {
    let text = std::str::from_utf8(bytes).map_err(|error| bad_body(&error))?;
    let text = mended(text);
    check_readable(&text, depth).map_err(|error| Refusal::new(StatusCode::BAD_REQUEST, error))?;
    // Otherwise Serde would accept an array with the members in order.
    if !text.trim_ascii_start().starts_with('{') {
        return Err(Refusal::invalid("The body must be a JSON object"));
    }
    serde_json::from_str(&text).map_err(|error| bad_body(&error))
}

fn bad_body(error: &dyn Display) -> Refusal {
    // The error may quote the body.
    let what: String = error.to_string().chars().take(MESSAGE_CHARS).collect();
    Refusal::invalid(format!("Bad body: {what}"))
}

#[cfg(test)]
mod tests {
    use axum::http::header::{CONTENT_TYPE, HeaderName};
    use axum::http::{HeaderValue, Request};
    use axum::response::IntoResponse;
    use serde_json::{Map, Value};

    use super::*;

    fn target(uri: &'static str) -> Target {
        Target::in_query(&Uri::from_static(uri))
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[test]
    fn an_app_named_in_the_query_stays_there() {
        let host = headers(&[("host", "127.0.0.1:8787")]);
        let url = |target: Target| target.endpoint(&host, false).unwrap().to_string();
        assert_eq!(url(target("/x")), "http://127.0.0.1:8787/invoke");
        assert_eq!(url(target("/x?app=")), "http://127.0.0.1:8787/invoke");
        assert_eq!(
            url(target("/x?token=secret&app=a%20%2Fb")),
            "http://127.0.0.1:8787/invoke?app=a+%2Fb"
        );
    }

    #[test]
    fn an_app_named_in_the_path_stays_there() {
        let named = |app: &str| Target {
            app: Some(app.into()),
            in_path: true,
        };
        let host = headers(&[("host", "a.example")]);
        let url = named("a/b ü").endpoint(&host, true).unwrap();
        assert_eq!(url.as_str(), "https://a.example/rap/a%2Fb%20%C3%BC/invoke");
    }

    #[test]
    fn the_scheme_is_how_the_client_reached_the_first_of_us() {
        let any = target("/x");
        let scheme = |proto: &'static str, secure| {
            let headers = headers(&[("host", "a"), ("x-forwarded-proto", proto)]);
            any.endpoint(&headers, secure).unwrap().scheme().to_string()
        };
        assert_eq!(scheme("https, http", false), "https");
        assert_eq!(scheme("http", true), "http");
        assert_eq!(scheme("gopher", true), "https");
        assert!(any.endpoint(&HeaderMap::new(), false).is_none());
    }

    async fn status(kind: Option<&'static str>, body: impl Into<Body>) -> u16 {
        let (mut parts, ()) = Request::new(()).into_parts();
        if let Some(kind) = kind {
            let kind = HeaderValue::from_static(kind);
            parts.headers.insert(CONTENT_TYPE, kind);
        }
        let read = read(&parts, body.into(), 10).await;
        match read.and_then(|body| parse::<Map<String, Value>>(&body, 2)) {
            Ok(_) => 200,
            Err(refusal) => refusal.into_response().status().as_u16(),
        }
    }

    #[tokio::test]
    async fn only_json_objects_of_bounded_size_are_read() {
        let json = Some("application/json");
        assert_eq!(status(json, "{\"a\":1}").await, 200);
        assert_eq!(
            status(Some("Application/JSON; charset=utf-8"), " {}").await,
            200
        );
        for bad in ["", "{", "[]", "null", "\"{}\"", "{}{}", "{\"a\":\u{1}}"] {
            assert_eq!(status(json, bad).await, 400, "{bad}");
        }
        assert_eq!(
            status(json, vec![b'{', b'"', 0xff, b'"', b':', b'1', b'}']).await,
            400
        );
        assert_eq!(status(json, "{\"a\":[[]]}").await, 400, "too deep");
        assert_eq!(status(json, "{\"a\":12345}").await, 413);
        for bad in [
            None,
            Some("text/plain"),
            Some("application/jsonp"),
            Some(""),
        ] {
            assert_eq!(status(bad, "{}").await, 415, "{bad:?}");
        }
    }
}

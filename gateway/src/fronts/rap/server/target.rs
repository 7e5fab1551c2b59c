//! Which app a request is for: `/rap/<app id>/…`, or `?app=` at the root.

use axum::extract::rejection::RawPathParamsRejection;
use axum::extract::{FromRequestParts, RawPathParams};
use axum::http::header::{HOST, HeaderMap, HeaderName};
use axum::http::request::Parts;
use url::{Url, form_urlencoded};

use crate::fronts::refusal::Refusal;

/// The scheme by which the client reached a proxy in front of us.
const FORWARDED_PROTO: HeaderName = HeaderName::from_static("x-forwarded-proto");

/// Where a request went to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The app wanted. Without one the only app is meant.
    pub app: Option<String>,
    /// Whether the app is named in the path.
    in_path: bool,
}

impl<S: Send + Sync> FromRequestParts<S> for Target {
    type Rejection = Refusal;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Refusal> {
        let in_path = match RawPathParams::from_request_parts(parts, state).await {
            Ok(params) => {
                let app = params.iter().find(|(name, _)| *name == "app");
                app.map(|(_, app)| app.to_string())
            }
            Err(RawPathParamsRejection::MissingPathParams(_)) => None,
            Err(error) => return Err(Refusal::invalid(error.body_text())),
        };
        if in_path.is_some() {
            return Ok(Target {
                app: in_path,
                in_path: true,
            });
        }
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        let app = form_urlencoded::parse(query).find(|(name, _)| name == "app");
        // `?app=` alone asks for none in particular.
        let app = app
            .map(|(_, app)| app.into_owned())
            .filter(|app| !app.is_empty());
        Ok(Target {
            app,
            in_path: false,
        })
    }
}

impl Target {
    /// The URL of the endpoint, as the sender of a request with these headers reaches it.
    pub(super) fn endpoint(&self, headers: &HeaderMap, secure: bool) -> Option<Url> {
        let text = |name: HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
        let forwarded =
            text(FORWARDED_PROTO).map(|value| value.split(',').next().unwrap_or_default().trim());
        let scheme = match forwarded {
            Some(proto) if proto.eq_ignore_ascii_case("https") => "https",
            Some(proto) if proto.eq_ignore_ascii_case("http") => "http",
            _ if secure => "https",
            _ => "http",
        };
        let mut url = Url::parse(&format!("{scheme}://{}/", text(HOST)?)).ok()?;
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

#[cfg(test)]
mod tests {
    use axum::http::Request;

    use super::*;

    async fn target(uri: &str) -> Target {
        let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
        Target::from_request_parts(&mut parts, &()).await.unwrap()
    }

    fn headers(pairs: &[(&'static str, &'static str)]) -> HeaderMap {
        let pair = |(name, value): &(&'static str, &'static str)| {
            (HeaderName::from_static(name), value.parse().unwrap())
        };
        pairs.iter().map(pair).collect()
    }

    #[tokio::test]
    async fn an_app_named_in_the_query_stays_there() {
        let host = headers(&[("host", "127.0.0.1:8787")]);
        let url = |target: Target| target.endpoint(&host, false).unwrap().to_string();
        assert_eq!(url(target("/x").await), "http://127.0.0.1:8787/invoke");
        assert_eq!(url(target("/x?app=").await), "http://127.0.0.1:8787/invoke");
        assert_eq!(
            url(target("/x?token=secret&app=a%20%2Fb").await),
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

    #[tokio::test]
    async fn the_scheme_is_how_the_client_reached_the_first_of_us() {
        let any = target("/x").await;
        let scheme = |proto: &'static str, secure| {
            let headers = headers(&[("host", "a"), ("x-forwarded-proto", proto)]);
            any.endpoint(&headers, secure).unwrap().scheme().to_string()
        };
        assert_eq!(scheme("https, http", false), "https");
        assert_eq!(scheme("http", true), "http");
        assert_eq!(scheme("gopher", true), "https");
        assert!(any.endpoint(&HeaderMap::new(), false).is_none());
    }
}

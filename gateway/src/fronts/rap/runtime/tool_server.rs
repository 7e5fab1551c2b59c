//! A tool server, as the operator names it.

use std::fmt;
use std::str::FromStr;

use axum::http::HeaderValue;
use url::{Position, Url};

/// One tool server: `[TOKEN@]URL`.
#[derive(Clone, PartialEq, Eq)]
pub struct ToolServer {
    base: Url,
    authorization: Option<HeaderValue>,
}

impl ToolServer {
    /// The URL of `path`, which starts with `/`, under the server's base.
    pub fn at(&self, path: &str) -> String {
        format!("{}{path}", self.base.as_str().trim_end_matches('/'))
    }

    /// The `Authorization` for a request to `url`: the token goes to its own server only, whatever
    /// that server's toolset says.
    pub fn authorization(&self, url: &Url) -> Option<&HeaderValue> {
        let own = url.origin() == self.base.origin();
        self.authorization.as_ref().filter(|_| own)
    }

    /// The base URL.
    pub fn base(&self) -> &Url {
        &self.base
    }
}

impl FromStr for ToolServer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let at = ["@http://", "@https://"]
            .into_iter()
            .filter_map(|mark| text.find(mark));
        let named = ["http://", "https://"]
            .iter()
            .any(|scheme| text.starts_with(scheme));
        let (token, url) = match at.min().filter(|_| !named) {
            Some(at) => (Some(&text[..at]), &text[at + 1..]),
            None => (None, text),
        };
        let authorization = token.map(|token| {
            let printable = !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_graphic());
            let value = HeaderValue::from_str(&format!("Bearer {token}")).ok();
            let mut value = value
                .filter(|_| printable)
                .ok_or("a token has at least one character, all of them printable ASCII")?;
            value.set_sensitive(true);
            Ok::<_, String>(value)
        });
        Ok(ToolServer {
            base: parse_base(url)?,
            authorization: authorization.transpose()?,
        })
    }
}

impl fmt::Debug for ToolServer {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.base.as_str(), f)
    }
}

/// Reads an `http:` or `https:` URL to which paths can be added.
pub fn parse_base(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| error.to_string())?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err("expected an http or https URL".into());
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("a URL must have no user name: a token stands before it, TOKEN@URL".into());
    }
    if !url[Position::AfterPath..].is_empty() {
        return Err("a base URL has no query and no fragment".into());
    }
    Ok(url)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(text: &str) -> ToolServer {
        text.parse().unwrap()
    }

    #[test]
    fn slashes_at_the_end_are_trimmed() {
        for base in ["http://a:1/rap", "http://a:1/rap/", "http://a:1/rap//"] {
            assert_eq!(server(base).at("/x"), "http://a:1/rap/x");
        }
        assert_eq!(server("https://a").at("/x"), "https://a/x");
    }

    #[test]
    fn a_token_goes_to_its_own_server_only() {
        let server = server("s:e@c@http://a:1/rap");
        let to = |url: &str| {
            let url = Url::parse(url).unwrap();
            server.authorization(&url).cloned()
        };
        assert_eq!(to("http://a:1/invoke").unwrap(), "Bearer s:e@c");
        for other in ["http://a:2/invoke", "https://a:1/rap", "http://b:1/rap"] {
            assert_eq!(to(other), None, "{other}");
        }
        assert_eq!(format!("{server:?}"), r#""http://a:1/rap""#);
    }

    #[test]
    fn a_url_may_hold_an_at_sign() {
        let server = server("http://a/@http://b");
        assert_eq!(server.authorization(server.base()), None);
        assert_eq!(server.at("/x"), "http://a/@http://b/x");
    }

    #[test]
    fn what_is_no_tool_server() {
        for bad in [
            "",
            "a.example",
            "ftp://a",
            "@http://a",
            "http://user@a",
            "http://u:p@a",
            "http://a?x=1",
            "http://a#x",
            "a b@http://a",
            "é@http://a",
        ] {
            assert!(bad.parse::<ToolServer>().is_err(), "{bad}");
        }
    }
}

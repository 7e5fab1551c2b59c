//! MCP's own headers, and the encoding of values that a header cannot carry. The gateway and `caphost mcp`
//! read each other's headers.

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

/// The header that names a session.
pub const SESSION: &str = "mcp-session-id";
/// The headers that repeat parts of the body.
pub const VERSION: &str = "mcp-protocol-version";
pub const METHOD: &str = "mcp-method";
pub const NAME: &str = "mcp-name";

/// The marks around base64.
const BASE64: [&str; 2] = ["=?base64?", "?="];

/// The value of [`METHOD`] or [`NAME`]: the plain text if a header can carry it, else base64.
pub fn encoded(text: &str) -> Cow<'_, str> {
    let [begin, end] = BASE64;
    let plain = !text.starts_with([' ', '\t'])
        && !text.ends_with([' ', '\t'])
        && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && !(text.starts_with(begin) && text.ends_with(end));
    match plain {
        true => text.into(),
        false => format!("{begin}{}{end}", STANDARD.encode(text)).into(),
    }
}

/// The text in a value that [`encoded`] or another client has made.
pub fn decoded(value: &str) -> Option<Cow<'_, str>> {
    let [begin, end] = BASE64;
    let base64 = value.strip_prefix(begin);
    match base64.and_then(|it| it.strip_suffix(end)) {
        None => Some(value.into()),
        Some(base64) => String::from_utf8(STANDARD.decode(base64).ok()?)
            .ok()
            .map(Cow::Owned),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_no_header_is_in_base64() {
        let twice = format!("=?base64?{}?=", STANDARD.encode("=?base64?x?="));
        for (text, value) in [
            ("export.pdf", "export.pdf"),
            ("", ""),
            ("é", "=?base64?w6k=?="),
            ("a\r\nb", "=?base64?YQ0KYg==?="),
            (" a", "=?base64?IGE=?="),
            ("=?base64?x?=", &*twice),
        ] {
            assert_eq!(encoded(text), value);
            assert_eq!(decoded(value).as_deref(), Some(text));
        }
        for wrong in ["=?base64?é?=", "=?base64?/w==?="] {
            assert_eq!(decoded(wrong), None, "{wrong}");
        }
    }
}

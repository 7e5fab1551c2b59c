//! Values of headers: text that a header cannot carry as it is.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use url::form_urlencoded;

/// A header's value that is encoded as in a query.
pub fn decoded(value: &str) -> Option<String> {
    let pair = format!("app={value}");
    let (_, app) = form_urlencoded::parse(pair.as_bytes()).next()?;
    (!app.is_empty()).then(|| app.into_owned())
}

/// A header's value: as it is where a header can carry that, else in base64, as the protocol has it.
pub fn header_value(text: &str) -> String {
    let plain = !text.starts_with([' ', '\t'])
        && !text.ends_with([' ', '\t'])
        && text.bytes().all(|byte| (0x20..=0x7e).contains(&byte))
        && !(text.starts_with("=?base64?") && text.ends_with("?="));
    if plain {
        text.to_string()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_a_header() {
        assert_eq!(header_value("export.pdf"), "export.pdf");
        assert_eq!(header_value("é"), "=?base64?w6k=?=");
        assert_eq!(header_value("a\r\nb"), "=?base64?YQ0KYg==?=");
        assert_eq!(header_value(" a"), "=?base64?IGE=?=");
        assert_eq!(
            header_value("=?base64?x?="),
            format!("=?base64?{}?=", STANDARD.encode("=?base64?x?="))
        );
    }

    #[test]
    fn what_the_gateway_says_of_an_app_is_read() {
        assert_eq!(decoded("other+%2F+%C3%BC").as_deref(), Some("other / ü"));
        assert_eq!(decoded("a%26b%3Dc").as_deref(), Some("a&b=c"));
        assert_eq!(decoded(""), None);
    }
}

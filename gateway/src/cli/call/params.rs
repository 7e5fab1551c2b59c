//! The parameters of a call: inline, from a file, or from standard input.

use std::fs;
use std::io::{IsTerminal, read_to_string, stdin};
use std::path::PathBuf;

use serde_json::Value;

use crate::wire::read_value;

use crate::cli::terminal::say;

/// `JSON`, `@FILE`, or `-` for standard input.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Params {
    Inline(Value),
    File(PathBuf),
    StandardInput,
}

impl Params {
    /// Parses the value of the command line. Inline JSON is checked at once.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.strip_prefix('@') {
            _ if text == "-" => Ok(Params::StandardInput),
            Some("") => Err("expected a file after the @".into()),
            Some(path) => Ok(Params::File(path.into())),
            None => object(text).map(Params::Inline),
        }
    }

    /// Reads the parameters to the end. Blocks.
    pub fn read(self) -> Result<Value, String> {
        let (place, text) = match self {
            Params::Inline(params) => return Ok(params),
            Params::File(path) => (format!(" in {}", path.display()), fs::read_to_string(&path)),
            Params::StandardInput => {
                if stdin().is_terminal() {
                    say("Reading the parameters as JSON; Ctrl-D ends them.");
                }
                (" on standard input".into(), read_to_string(stdin()))
            }
        };
        let text = text.map_err(|error| format!("cannot read the parameters{place}: {error}"))?;
        object(&text).map_err(|error| format!("the parameters{place}: {error}"))
    }
}

/// The parameters must be an object: no app accepts anything else.
fn object(text: &str) -> Result<Value, String> {
    // Some editors begin a file with a byte order mark.
    let text = text.trim_start_matches('\u{feff}');
    let found = match read_value(text) {
        Ok(object @ Value::Object(_)) => return Ok(object),
        Ok(Value::Array(_)) => "an array",
        Ok(Value::String(_)) => "a string",
        Ok(_) => "a plain value",
        Err(_) if text.trim().is_empty() => "nothing",
        Err(error) => return Err(format!("not JSON: {error}")),
    };
    Err(format!("expected a JSON object, found {found}"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_first_character_says_where_they_are() {
        let inline = Params::parse(r#" {"a": 1} "#).unwrap();
        assert_eq!(inline, Params::Inline(json!({ "a": 1 })));
        assert_eq!(Params::parse("-"), Ok(Params::StandardInput));
        assert_eq!(Params::parse("@a b"), Ok(Params::File("a b".into())));
        assert!(Params::parse("@").is_err());
    }

    #[test]
    fn they_are_an_object() {
        for (text, said) in [
            ("", "found nothing"),
            ("[1]", "found an array"),
            ("\"{}\"", "found a string"),
            ("null", "found a plain value"),
            (
                "{a: 1}",
                "not JSON: key must be a string at line 1 column 2",
            ),
            ("{}{}", "not JSON: trailing characters"),
        ] {
            let error = Params::parse(text).unwrap_err();
            assert!(error.contains(said), "{error}");
        }
        assert_eq!(object("\u{feff}{}\n"), Ok(json!({})));
    }

    #[test]
    fn a_file_that_cannot_be_read_is_named() {
        let error = Params::File("no/such.json".into()).read().unwrap_err();
        assert!(
            error.starts_with("cannot read the parameters in no/such.json: "),
            "{error}"
        );
    }
}

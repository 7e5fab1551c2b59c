//! The tools that a client wants of an app: `?tools=export_*,open`, for a client that takes few.

use std::sync::Arc;

use serde::Serialize;
use url::form_urlencoded;

use crate::fronts::refusal::Refusal;

/// The most bytes of the names.
const BYTES: usize = 4_096;

/// Names with commas between them. In a name, `*` stands for any characters.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Wanted(Arc<str>);

impl Wanted {
    /// The tools that the query of a request names. `None` means all tools.
    pub fn of(query: Option<&str>) -> Result<Option<Self>, Refusal> {
        let mut given = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        let Some((_, names)) = given.find(|(name, _)| name == "tools") else {
            return Ok(None);
        };
        match names.len() <= BYTES {
            true => Ok(Some(Wanted(names.into()))),
            false => Err(Refusal::invalid(format!(
                "`tools` has more than {BYTES} bytes"
            ))),
        }
    }

    /// Whether that tool is named.
    pub fn has(&self, tool: &str) -> bool {
        let mut names = self.0.split(',').map(str::trim);
        names.any(|pattern| matches(pattern, tool))
    }
}

fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else {
        return pattern == name;
    };
    let Some(mut name) = name.strip_prefix(first) else {
        return false;
    };
    let Some((middle, last)) = rest.rsplit_once('*') else {
        return name.ends_with(rest);
    };
    for part in middle.split('*') {
        let Some(at) = name.find(part) else {
            return false;
        };
        name = &name[at + part.len()..];
    }
    name.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_characters() {
        let wanted = Wanted::of(Some("app=x&tools=export_*,%20open,*.pdf,a*b*c*d"));
        let wanted = wanted.unwrap().unwrap();
        for name in ["export_", "export_png", "open", "x.pdf", "abcd", "a1b2c3d"] {
            assert!(wanted.has(name), "{name}");
        }
        for name in [
            "",
            "export",
            "opened",
            "x.pdfs",
            "acbd",
            "abc",
            "my_export_",
        ] {
            assert!(!wanted.has(name), "{name}");
        }
        assert_eq!(Wanted::of(Some("app=x")).unwrap(), None);
        assert!(!Wanted::of(Some("tools=")).unwrap().unwrap().has("a"));
        let long = format!("tools={}", "a".repeat(BYTES + 1));
        assert!(Wanted::of(Some(&long)).is_err());
    }
}

//! The capabilities of an app as the tools of MCP.

use std::hash::{DefaultHasher, Hash, Hasher};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use rmcp::model::{ErrorData, Tool};

use super::schema;
use crate::broker::CapabilityInfo;

/// A capability as a tool, under its own name.
pub fn tool(capability: &CapabilityInfo) -> Tool {
    let input = schema::input(capability.input_schema.as_deref());
    let description = capability.description.clone().map(Into::into);
    let mut tool = Tool::new_with_raw(capability.name.clone(), description, input);
    tool.output_schema = output_schema(capability).map(Into::into);
    tool
}

/// The schema of its structured content, if it promises any.
pub fn output_schema(capability: &CapabilityInfo) -> Option<rmcp::model::JsonObject> {
    schema::output(capability.output_schema.as_deref())
}

/// The capability a client means: by its name, or, for clients that know only letters, digits, `_`
/// and `-` in names, by the name with `_` for everything else.
pub fn find<'a>(
    capabilities: &'a [CapabilityInfo],
    wanted: &str,
) -> Result<&'a CapabilityInfo, ErrorData> {
    if let Some(exact) = capabilities.iter().find(|it| it.name == wanted) {
        return Ok(exact);
    }
    let mut alike = capabilities.iter().filter(|it| plain(&it.name) == wanted);
    match (alike.next(), alike.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(ErrorData::invalid_params(
            format!("Unknown tool: {}", shortened(wanted)),
            None,
        )),
        (Some(one), Some(other)) => {
            let message = format!("Ambiguous tool: {wanted} is {} or {}", one.name, other.name);
            Err(ErrorData::invalid_params(message, None))
        }
    }
}

fn plain(name: &str) -> String {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
    name.chars()
        .map(|it| if is_plain(it) { it } else { '_' })
        .collect()
}

fn shortened(name: &str) -> String {
    match name.char_indices().nth(128) {
        Some((end, _)) => format!("{}…", &name[..end]),
        None => name.to_string(),
    }
}

/// One page of a list, and the cursor of the next. A cursor says which tool came last, so that a
/// change in between shifts no page; when that tool is gone the cursor is no longer valid.
pub fn page<'a>(
    capabilities: &'a [CapabilityInfo],
    cursor: Option<&str>,
    size: usize,
) -> Result<(&'a [CapabilityInfo], Option<String>), ErrorData> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let last = URL_SAFE_NO_PAD.decode(cursor).ok();
            let last = last.and_then(|name| String::from_utf8(name).ok());
            let known = capabilities
                .iter()
                .position(|it| Some(&it.name) == last.as_ref());
            let Some(known) = known else {
                return Err(ErrorData::invalid_params("Invalid cursor", None));
            };
            known + 1
        }
    };
    let rest = &capabilities[start..];
    let page = &rest[..size.max(1).min(rest.len())];
    let more = page.len() < rest.len();
    let last = page.last().filter(|_| more);
    Ok((page, last.map(|it| URL_SAFE_NO_PAD.encode(&it.name))))
}

/// Changes when the list of tools does.
pub fn fingerprint(capabilities: &[CapabilityInfo]) -> u64 {
    let mut hasher = DefaultHasher::new();
    for it in capabilities {
        let text = |schema: &Option<Box<serde_json::value::RawValue>>| {
            schema.as_deref().map(|it| it.get().to_string())
        };
        (&it.name, &it.description).hash(&mut hasher);
        (text(&it.input_schema), text(&it.output_schema)).hash(&mut hasher);
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn capabilities(names: &[&str]) -> Vec<CapabilityInfo> {
        let one = |name: &&str| serde_json::from_value(json!({ "name": name })).unwrap();
        names.iter().map(one).collect()
    }

    #[test]
    fn a_capability_is_a_tool_of_its_own_name() {
        let capability = serde_json::from_str(
            r#"{ "name": "export.pdf", "description": "d",
                 "inputSchema": { "type": "object", "required": ["html"] },
                 "outputSchema": { "type": "object" } }"#,
        );
        assert_eq!(
            json!(tool(&capability.unwrap())),
            json!({ "name": "export.pdf", "description": "d",
                    "inputSchema": { "type": "object", "required": ["html"] },
                    "outputSchema": { "type": "object" } })
        );
        assert_eq!(
            json!(tool(&capabilities(&["a"])[0])),
            json!({ "name": "a", "inputSchema": { "type": "object" } })
        );
    }

    #[test]
    fn a_tool_is_found_by_its_name_or_by_a_plain_one() {
        let offered = capabilities(&["export.pdf", "a.b", "a_b", "x.y", "x/y"]);
        let found = |name| find(&offered, name).map(|it| it.name.as_str());
        assert_eq!(found("export.pdf"), Ok("export.pdf"));
        assert_eq!(found("export_pdf"), Ok("export.pdf"));
        assert_eq!(found("a_b"), Ok("a_b"), "an exact name wins");
        let ambiguous = found("x_y").unwrap_err();
        assert_eq!(
            (ambiguous.code.0, &*ambiguous.message),
            (-32602, "Ambiguous tool: x_y is x.y or x/y")
        );
        let unknown = found("nope").unwrap_err();
        assert_eq!(
            (unknown.code.0, &*unknown.message),
            (-32602, "Unknown tool: nope")
        );
        assert!(found("").is_err());
        let long = found(&"é".repeat(100_000)).unwrap_err();
        assert!(long.message.len() < 300);
    }

    #[test]
    fn pages_follow_one_another_and_survive_a_change() {
        let offered = capabilities(&["a", "b", "c", "d", "e"]);
        let names =
            |page: &[CapabilityInfo]| page.iter().map(|it| it.name.clone()).collect::<String>();
        let (first, cursor) = page(&offered, None, 2).unwrap();
        assert_eq!(names(first), "ab");
        let changed = capabilities(&["0", "a", "b", "d", "e"]);
        let (second, cursor) = page(&changed, cursor.as_deref(), 2).unwrap();
        assert_eq!((names(second), cursor), ("de".to_string(), None));
        let gone = URL_SAFE_NO_PAD.encode("c");
        for bad in [gone.as_str(), "", "%%%", "🙂"] {
            assert_eq!(
                page(&changed, Some(bad), 2).unwrap_err().code.0,
                -32602,
                "{bad}"
            );
        }
        assert_eq!(page(&[], None, 2).unwrap().1, None);
    }

    #[test]
    fn the_fingerprint_changes_with_the_list() {
        let one = fingerprint(&capabilities(&["a", "b"]));
        assert_eq!(one, fingerprint(&capabilities(&["a", "b"])));
        assert_ne!(one, fingerprint(&capabilities(&["a"])));
        let described = serde_json::from_str(r#"{ "name": "a", "description": "new" }"#).unwrap();
        assert_ne!(
            fingerprint(&capabilities(&["a"])),
            fingerprint(&[described])
        );
    }
}

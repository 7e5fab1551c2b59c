//! The TypeScript map of an app's capabilities.

use std::collections::BTreeMap;

use serde_json::Value;

use super::schema::{Names, Schema};
use super::text::{comment, literal};
use crate::cli::terminal::one_line;

/// The type with that name, sorted by capability names, and the types that it needs.
pub(super) fn written(name: &str, app: &Value, capabilities: &[Value]) -> String {
    let by_name: BTreeMap<&str, &Value> = capabilities
        .iter()
        .filter_map(|it| Some((it["name"].as_str()?, it)))
        .collect();
    let mut names = Names::with(name);
    let mut entries = String::new();
    let mut others = String::new();
    for (capability, document) in by_name {
        let mut written = |field: &str, role: &str| {
            let mut schema = Schema::new(&document[field], capability, role, &mut names);
            let text = schema.written(1);
            others.push_str(&schema.others());
            text
        };
        // Parameters are always an object: no app accepts anything else.
        let params = match &*written("inputSchema", "Params") {
            "unknown" => "params: Record<string, unknown>".into(),
            "Record<string, never>" => String::new(),
            params => format!("params: {params}"),
        };
        let data = written("outputSchema", "Data");
        entries.push_str(&said_of(document));
        let capability = literal(&capability.into());
        entries.push_str(&format!("  {capability}: ({params}) => {data};\n"));
    }
    let who = |field: &str| one_line(app[field].as_str().unwrap_or("?"));
    let (title, version, id) = (who("name"), who("version"), who("id"));
    format!(
        "// Written by `caphost types`: what {title} {version} ({id}) offers. Write it again rather than change it.\n\n\
         export type {name} = {{\n{entries}}};\n{others}"
    )
}

/// The comment that describes a capability.
fn said_of(document: &Value) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some(description) = document["description"].as_str() {
        lines.push(description.into());
    }
    if document["experimental"] == true {
        lines.push("@experimental".into());
    }
    if document["deprecated"] == true {
        let message = document["deprecationMessage"].as_str().unwrap_or_default();
        lines.push(format!("@deprecated {}", one_line(message)));
    }
    comment(&lines.join("\n"), 1)
}

#[cfg(test)]
mod tests;

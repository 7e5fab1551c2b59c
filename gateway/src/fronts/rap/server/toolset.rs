//! An app's capabilities as tools. Their names are changed to fit into a toolset. Capabilities whose names
//! would become equal are not offered.

use serde::Serialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::broker::{CapabilityInfo, Offer};
use crate::fronts::rap::names::MAX_TOOL_NAME_CHARS;
use crate::fronts::rap::wire::{Tool, Toolset};
use crate::seldom::Seldom;
use crate::wire::for_log;

/// Capabilities whose tools would have the same name. None of them is offered.
#[derive(Serialize)]
struct Conflict<'a> {
    name: String,
    capabilities: Vec<&'a str>,
}

#[derive(Serialize)]
struct Manifest<'a> {
    #[serde(flatten)]
    toolset: Toolset,
    /// The capabilities that the toolset lacks. RAP has no such member.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    conflicts: Vec<Conflict<'a>>,
}

/// The capability of a tool.
pub(super) fn find<'a>(offer: &'a Offer, tool: &str) -> Option<&'a CapabilityInfo> {
    let mut alike = offer.plainly_named(tool, MAX_TOOL_NAME_CHARS);
    let first = alike.next();
    first.filter(|_| alike.next().is_none())
}

/// The tool names of the first `capabilities` capabilities.
pub(super) fn first_names(offer: &Offer, capabilities: usize) -> Vec<String> {
    let first: Vec<_> = offer.by_plain_name().take(capabilities).collect();
    let tools = alike(&first).filter(|(_, alike)| alike.len() == 1);
    tools.map(|(name, _)| name).collect()
}

/// The manifest as JSON. Invocations go to `endpoint`. `None` if there is no tool.
pub(super) fn manifest(offer: &Offer, endpoint: Url) -> Option<String> {
    let all: Vec<_> = offer.by_plain_name().collect();
    let (mut tools, mut conflicts) = (Vec::new(), Vec::new());
    for (name, alike) in alike(&all) {
        match alike {
            [capability] => tools.push(tool(name, capability)),
            _ => {
                let capabilities = alike.iter().map(|it| &*it.name).collect();
                conflicts.push(Conflict { name, capabilities });
            }
        }
    }
    warn(offer, &conflicts);
    if tools.is_empty() {
        return None;
    }
    let app = &offer.app;
    let mut description = format!("{} {}", app.name, app.version);
    if let Some(more) = &app.description {
        description.push_str(": ");
        description.push_str(more);
    }
    let toolset = Toolset {
        name: app.id.clone(),
        description: Some(description),
        endpoint,
        tools,
    };
    serde_json::to_string(&Manifest { toolset, conflicts }).ok()
}

/// The capabilities by the names of their tools, in the order of these names.
fn alike<'a>(
    all: &'a [&'a CapabilityInfo],
) -> impl Iterator<Item = (String, &'a [&'a CapabilityInfo])> {
    let alike = all.chunk_by(|one, other| tool_name(one).eq(tool_name(other)));
    alike.map(|alike| {
        let name = alike.first().map(|it| tool_name(it).collect());
        (name.unwrap_or_default(), alike)
    })
}

fn tool_name(capability: &CapabilityInfo) -> impl Iterator<Item = char> {
    capability.plain_name().take(MAX_TOOL_NAME_CHARS)
}

/// Logs that there are conflicts, and names the first one. The toolset contains all of them.
fn warn(offer: &Offer, conflicts: &[Conflict<'_>]) {
    // Any app may have as many conflicts as it likes, so the warning is limited.
    static WARNED: Seldom = Seldom::new();
    if let Some(Conflict { name, capabilities }) = conflicts.first()
        && WARNED.is_due()
    {
        tracing::warn!(
            app = for_log(&offer.app.id),
            conflicts = conflicts.len(),
            tool = for_log(name),
            capabilities = for_log(format_args!("{capabilities:?}")),
            "capabilities share a tool name: none is offered"
        );
    }
}

fn tool(name: String, capability: &CapabilityInfo) -> Tool {
    let schema = capability.input_schema.as_deref();
    let schema = schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
    let description = capability.description.as_ref().unwrap_or(&capability.name);
    Tool {
        name,
        description: Some(description.clone()),
        input_schema: object_schema(schema),
    }
}

/// A schema in the form of a toolset: an object that declares the arguments as an object.
fn object_schema(schema: Option<Value>) -> Map<String, Value> {
    let mut schema = match schema {
        Some(Value::Object(schema)) => schema,
        // `false` accepts nothing. `true` and no schema accept anything.
        Some(Value::Bool(false)) => Map::from_iter([("not".into(), json!({}))]),
        _ => Map::new(),
    };
    schema.entry("type").or_insert_with(|| "object".into());
    schema
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::broker::AppInfo;
    use crate::fronts::rap::names::is_tool_name;

    fn offer(names: &[&str]) -> Offer {
        let capability = |name: &&str| CapabilityInfo {
            name: name.to_string(),
            title: None,
            annotations: None,
            description: None,
            input_schema: None,
            output_schema: None,
        };
        let app = AppInfo {
            id: "demo".into(),
            name: "Demo".into(),
            version: "1".into(),
            description: Some("for all".into()),
        };
        Offer::new(app, names.iter().map(capability).collect())
    }

    fn found<'a>(offer: &'a Offer, tool: &str) -> Option<&'a str> {
        find(offer, tool).map(|it| &*it.name)
    }

    fn read(offer: &Offer) -> Value {
        let endpoint = Url::parse("http://127.0.0.1:1/invoke?app=demo").unwrap();
        let manifest = manifest(offer, endpoint).unwrap_or_default();
        serde_json::from_str(&manifest).unwrap_or_default()
    }

    #[test]
    fn names_fit_and_stand_for_their_capability() {
        let long = "x".repeat(300);
        let offer = offer(&["export.pdf", "a b/ü", &long, "ü"]);
        let names = first_names(&offer, 4);
        assert!(names.iter().all(|it| is_tool_name(it)));
        assert_eq!(names[..3], ["_", "a_b__", "export_pdf"]);
        assert_eq!(found(&offer, "export_pdf"), Some("export.pdf"));
        assert_eq!(found(&offer, "export.pdf"), None);
        assert_eq!(found(&offer, "_"), Some("ü"));
        assert_eq!(found(&offer, &"x".repeat(128)), Some(&*long));
        let manifest = read(&offer);
        assert_eq!(manifest["name"], "demo");
        assert_eq!(manifest["description"], "Demo 1: for all");
        assert_eq!(manifest["endpoint"], "http://127.0.0.1:1/invoke?app=demo");
        assert_eq!(manifest["tools"].as_array().map(Vec::len), Some(4));
        assert!(manifest.get("conflicts").is_none());
    }

    #[test]
    fn capabilities_that_would_be_one_tool_are_none() {
        let (one, other) = ("x".repeat(129), "x".repeat(128));
        let offer = offer(&["a.b", "a_b", "a b", "c", &one, &other]);
        assert_eq!(first_names(&offer, 9), ["c"]);
        assert_eq!(found(&offer, "a_b").or(found(&offer, &other)), None);
        assert_eq!(
            read(&offer)["conflicts"],
            json!([
                { "name": "a_b", "capabilities": ["a.b", "a_b", "a b"] },
                { "name": other, "capabilities": [other, one] },
            ])
        );
    }

    #[test]
    fn an_input_schema_is_that_of_an_object() {
        let schema = |schema: Value| Value::Object(object_schema(Some(schema)));
        assert_eq!(json!(object_schema(None)), json!({ "type": "object" }));
        assert_eq!(schema(json!(true)), json!({ "type": "object" }));
        assert_eq!(schema(json!(false)), json!({ "type": "object", "not": {} }));
        assert_eq!(
            schema(json!({ "required": ["a"] })),
            json!({ "type": "object", "required": ["a"] })
        );
        assert_eq!(
            schema(json!({ "type": "object" })),
            json!({ "type": "object" })
        );
    }
}

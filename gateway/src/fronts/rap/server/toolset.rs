//! The capabilities of an app, or of all apps, as tools. Their names are changed to fit into a toolset. Capabilities whose names
//! would become equal are not offered.

use std::collections::HashMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::broker::{AppInfo, Assortment, CapabilityInfo, Lookup, Offer, plain, without_prefix};
use crate::fronts::rap::names::MAX_TOOL_NAME_CHARS;
use crate::fronts::rap::wire::{Tool, Toolset};
use crate::seldom::Seldom;
use crate::wire::for_log;

/// How many apps a description names.
const MAX_NAMED: usize = 10;

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

/// The app and the capability of a tool. With several apps, a name that several have stays with none of them:
/// the app's id stands before it.
pub(super) fn find<'a>(
    all: &'a Assortment,
    tool: &str,
) -> Option<(&'a Arc<Offer>, &'a CapabilityInfo)> {
    let own_name = |offer: &Offer| without_prefix(&offer.app.id, tool);
    match all.find(|offer| find_in(offer, tool)) {
        Lookup::Nowhere => all.find(|offer| find_in(offer, own_name(offer)?)).only(),
        found => found.only(),
    }
}

fn find_in<'a>(offer: &'a Offer, tool: &str) -> Option<&'a CapabilityInfo> {
    let mut alike = offer.plainly_named(tool, MAX_TOOL_NAME_CHARS);
    let first = alike.next();
    first.filter(|_| alike.next().is_none())
}

/// The first tool names, of about as many capabilities.
pub(super) fn first_names(all: &Assortment, capabilities: usize) -> Vec<String> {
    let Some(offer) = all.only() else {
        let (tools, _) = tools(all);
        let names = tools.into_iter().map(|(name, _)| name);
        return names.take(capabilities).collect();
    };
    let first: Vec<_> = offer.by_plain_name().take(capabilities).collect();
    let tools = alike(&first).filter(|(_, alike)| alike.len() == 1);
    tools.map(|(name, _)| name).collect()
}

/// The manifest as JSON. Invocations go to `endpoint`. `None` if there is no tool.
pub(super) fn manifest(all: &Assortment, endpoint: Url) -> Option<String> {
    let (tools, conflicts) = tools(all);
    if tools.is_empty() {
        return None;
    }
    let tools = tools.into_iter().map(|(name, it)| tool(name, it)).collect();
    let (name, description) = match all.only() {
        Some(offer) => (offer.app.id.clone(), described(&offer.app)),
        None => {
            let first = all.offers().iter().take(MAX_NAMED);
            let first: Vec<_> = first.map(|offer| described(&offer.app)).collect();
            ("caphost".into(), first.join("\n"))
        }
    };
    let toolset = Toolset {
        name,
        description: Some(description),
        endpoint,
        tools,
    };
    serde_json::to_string(&Manifest { toolset, conflicts }).ok()
}

/// An app in words for a model.
fn described(app: &AppInfo) -> String {
    let mut description = format!("{} {}", app.name, app.version);
    if let Some(more) = &app.description {
        description.push_str(": ");
        description.push_str(more);
    }
    description
}

/// A tool by its name.
type Named<'a> = (String, &'a CapabilityInfo);

/// The tools of all apps, app by app, and the capabilities that are no tools.
fn tools(all: &Assortment) -> (Vec<Named<'_>>, Vec<Conflict<'_>>) {
    let (mut tools, mut conflicts) = (Vec::new(), Vec::new());
    for offer in all.offers() {
        let before = conflicts.len();
        let capabilities: Vec<_> = offer.by_plain_name().collect();
        for (name, alike) in alike(&capabilities) {
            match alike {
                [capability] => tools.push((offer, name, *capability)),
                _ => {
                    let capabilities = alike.iter().map(|it| &*it.name).collect();
                    conflicts.push(Conflict { name, capabilities });
                }
            }
        }
        warn(offer, &conflicts[before..]);
    }
    let mut own: HashMap<&str, usize> = HashMap::new();
    for (_, name, _) in &tools {
        *own.entry(name).or_default() += 1;
    }
    let prefixed = |offer: &Offer, name: &str| {
        plain(&offer.app.id)
            .chain(['_'])
            .chain(name.chars())
            .collect::<String>()
    };
    let names: Vec<_> = tools
        .iter()
        .map(|(offer, name, _)| match own[&**name] {
            1 => name.clone(),
            _ => prefixed(offer, name),
        })
        .collect();
    let mut given: HashMap<&str, usize> = HashMap::new();
    for name in &names {
        *given.entry(name).or_default() += 1;
    }
    let mut listed = Vec::with_capacity(tools.len());
    for ((_, own_name, capability), name) in tools.iter().zip(&names) {
        let is_own = name == own_name;
        // A name that an app has itself stays with that app.
        let is_free = given[&**name] == 1 && !own.contains_key(&**name);
        match is_own || (is_free && name.len() <= MAX_TOOL_NAME_CHARS) {
            true => listed.push((name.clone(), *capability)),
            false => conflicts.push(Conflict {
                name: name.clone(),
                capabilities: vec![&*capability.name],
            }),
        }
    }
    (listed, conflicts)
}

/// The capabilities by the names of their tools, in the order of these names.
fn alike<'a, 'b>(
    all: &'b [&'a CapabilityInfo],
) -> impl Iterator<Item = (String, &'b [&'a CapabilityInfo])> {
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
    use crate::fronts::rap::names::is_tool_name;

    fn offer(names: &[&str]) -> Assortment {
        let capability = |name: &&str| CapabilityInfo {
            name: name.to_string(),
            title: None,
            annotations: None,
            confirm: None,
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
        let offer = Offer::new(app, names.iter().map(capability).collect());
        Assortment::of([Arc::new(offer)])
    }

    fn found<'a>(offer: &'a Assortment, tool: &str) -> Option<&'a str> {
        find(offer, tool).map(|(_, it)| &*it.name)
    }

    fn read(offer: &Assortment) -> Value {
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
    fn a_name_that_two_apps_have_has_the_app_before_it() {
        let apps: [(&str, &[&str]); 5] = [
            ("a", &["export.pdf", "open", "b_x"]),
            ("b c", &["export_pdf", "close"]),
            ("b", &["x"]),
            ("c", &["x"]),
            ("b_c", &["export_pdf"]),
        ];
        let offers = apps.map(|(id, names)| {
            let all = offer(names);
            let offer = &all.offers()[0];
            let app = AppInfo {
                id: id.into(),
                ..offer.app.clone()
            };
            Arc::new(Offer::new(app, offer.capabilities.clone()))
        });
        let all = Assortment::of(offers);
        let (tools, conflicts) = tools(&all);
        let names: Vec<_> = tools.iter().map(|(name, _)| &**name).collect();
        assert_eq!(names, ["b_x", "a_export_pdf", "open", "close", "c_x"]);
        for (name, capability) in &tools {
            assert_eq!(found(&all, name), Some(&*capability.name), "{name}");
        }
        let conflicts: Vec<_> = conflicts.iter().map(|it| &*it.name).collect();
        assert_eq!(conflicts, ["b_c_export_pdf", "b_x", "b_c_export_pdf"]);
        for none in ["export_pdf", "x", "b_c_export_pdf"] {
            assert_eq!(found(&all, none), None, "{none}");
        }
        assert_eq!(found(&all, "a_open"), Some("open"));
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

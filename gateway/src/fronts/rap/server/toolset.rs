//! What an app offers, as tools.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use serde::Serialize;
use serde_json::{Map, Value, json};
use url::Url;

use crate::broker::{CapabilityInfo, Offer};
use crate::fronts::rap::names::tool_name;
use crate::fronts::rap::wire::Tool;
use crate::gateway::Hub;
use crate::seldom::Seldom;
use crate::wire::{Failure, for_log};

/// Answers kept at once: names of apps come from outside.
const KEPT: usize = 256;

/// What the apps of a hub offer, as tools: made once, until an app offers something else.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    kept: Mutex<HashMap<Option<String>, Kept>>,
    /// Any app may have as many conflicts as it likes.
    warned: Seldom,
}

#[derive(Clone, Debug)]
struct Kept {
    /// What the tools are made of.
    offer: Arc<Offer>,
    /// Made by the first who wants them, while others go on that want those of other apps.
    tools: Arc<OnceLock<Arc<Tools>>>,
}

impl Catalogue {
    /// The tools of the app named, or of the only one.
    pub(super) fn tools(&self, hub: &Hub, app: Option<&str>) -> Result<Arc<Tools>, Failure> {
        let Kept { offer, tools } = self.kept(hub.offer(app)?, app.map(str::to_string));
        let made = tools.get_or_init(|| {
            let tools = Tools::of(offer);
            if !tools.conflicts.is_empty() && self.warned.is_due() {
                tools.warn();
            }
            Arc::new(tools)
        });
        Ok(made.clone())
    }

    fn kept(&self, offer: Arc<Offer>, app: Option<String>) -> Kept {
        let mut kept = self.kept.lock();
        if let Some(known) = kept.get(&app)
            && Arc::ptr_eq(&known.offer, &offer)
        {
            return known.clone();
        }
        if kept.len() >= KEPT {
            kept.clear();
        }
        let tools = Arc::default();
        let new = Kept { offer, tools };
        kept.insert(app, new.clone());
        new
    }
}

/// An app's capabilities under names that may stand in a toolset.
#[derive(Debug)]
pub(super) struct Tools {
    offer: Arc<Offer>,
    /// By name, where in the offer each is.
    tools: BTreeMap<String, usize>,
    conflicts: Vec<Conflict>,
    /// The toolset, but for where invocations go: made once, as there may be many tools.
    text: OnceLock<String>,
}

/// Capabilities that would be one tool, and are none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct Conflict {
    name: String,
    capabilities: Vec<String>,
}

/// The toolset without its endpoint, and what is missing in it: a member of ours.
#[derive(Serialize)]
struct Manifest<'a> {
    name: &'a str,
    description: String,
    tools: Vec<Tool>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    conflicts: &'a [Conflict],
}

impl Tools {
    pub(super) fn of(offer: Arc<Offer>) -> Self {
        // An app that lists one twice means the later.
        let mut seen = HashSet::new();
        let capabilities = offer.capabilities.iter().enumerate().rev();
        let mut kept: Vec<_> = capabilities
            .filter(|(_, it)| seen.insert(&*it.name))
            .collect();
        kept.reverse();
        let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (place, capability) in kept {
            let alike = by_name.entry(tool_name(&capability.name)).or_default();
            alike.push(place);
        }
        let mut tools = BTreeMap::new();
        let mut conflicts = Vec::new();
        for (name, places) in by_name {
            if let [only] = *places {
                tools.insert(name, only);
                continue;
            }
            let all = places.iter().filter_map(|it| offer.capabilities.get(*it));
            let capabilities = all.map(|it| it.name.clone()).collect();
            conflicts.push(Conflict { name, capabilities });
        }
        Tools {
            offer,
            tools,
            conflicts,
            text: OnceLock::new(),
        }
    }

    /// The app's id.
    pub(super) fn app(&self) -> &str {
        &self.offer.app.id
    }

    /// Says that there are conflicts, and names the first: the toolset has them all.
    fn warn(&self) {
        let Some(Conflict { name, capabilities }) = self.conflicts.first() else {
            return;
        };
        tracing::warn!(
            app = for_log(self.app()),
            conflicts = self.conflicts.len(),
            tool = for_log(name),
            capabilities = for_log(format_args!("{capabilities:?}")),
            "capabilities share a tool name: none is offered"
        );
    }

    /// Whether there is nothing to call.
    pub(super) fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The capability a tool stands for.
    pub(super) fn capability(&self, tool: &str) -> Option<&str> {
        let capability = self.offer.capabilities.get(*self.tools.get(tool)?)?;
        Some(&capability.name)
    }

    /// The tools there are.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    /// The manifest as JSON, whose invocations go to `endpoint`.
    pub(super) fn manifest(&self, endpoint: &Url) -> String {
        let rest = self.text.get_or_init(|| self.without_endpoint());
        let endpoint = json!(endpoint.as_str());
        // It is an object, and has a name at least.
        let members = rest.strip_prefix('{').unwrap_or_default();
        format!(r#"{{"endpoint":{endpoint},{members}"#)
    }

    fn without_endpoint(&self) -> String {
        let app = &self.offer.app;
        let mut description = format!("{} {}", app.name, app.version);
        if let Some(more) = &app.description {
            description.push_str(": ");
            description.push_str(more);
        }
        let tools = self.tools.iter().filter_map(|(name, place)| {
            let capability = self.offer.capabilities.get(*place)?;
            Some(tool(name, capability))
        });
        let manifest = Manifest {
            name: &app.id,
            description,
            tools: tools.collect(),
            conflicts: &self.conflicts,
        };
        serde_json::to_string(&manifest).unwrap_or_default()
    }
}

fn tool(name: &str, capability: &CapabilityInfo) -> Tool {
    let schema = capability.input_schema.as_deref();
    let schema = schema.and_then(|schema| serde_json::from_str(schema.get()).ok());
    let description = capability.description.as_ref().unwrap_or(&capability.name);
    Tool {
        name: name.into(),
        description: Some(description.clone()),
        input_schema: object_schema(schema),
    }
}

/// A schema as a toolset has it: an object that says that arguments are one.
fn object_schema(schema: Option<Value>) -> Map<String, Value> {
    let mut schema = match schema {
        Some(Value::Object(schema)) => schema,
        // `false` takes nothing at all; `true` and none take anything.
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

    fn tools(names: &[&str]) -> Tools {
        let capability = |name: &&str| CapabilityInfo {
            name: name.to_string(),
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
        let capabilities = names.iter().map(capability).collect();
        Tools::of(Arc::new(Offer::new(app, capabilities)))
    }

    fn manifest(tools: &Tools) -> Value {
        let endpoint = Url::parse("http://127.0.0.1:1/invoke?app=demo").unwrap();
        serde_json::from_str(&tools.manifest(&endpoint)).unwrap()
    }

    #[test]
    fn names_fit_and_stand_for_their_capability() {
        let long = "x".repeat(300);
        let tools = tools(&["export.pdf", "a b", &long, "ü"]);
        assert!(tools.names().all(is_tool_name));
        assert_eq!(tools.capability("export_pdf"), Some("export.pdf"));
        assert_eq!(tools.capability("export.pdf"), None);
        assert_eq!(tools.capability(&"x".repeat(128)), Some(&*long));
        let manifest = manifest(&tools);
        assert_eq!(manifest["name"], "demo");
        assert_eq!(manifest["description"], "Demo 1: for all");
        assert_eq!(manifest["endpoint"], "http://127.0.0.1:1/invoke?app=demo");
        assert_eq!(manifest["tools"].as_array().map(Vec::len), Some(4));
        assert!(manifest.get("conflicts").is_none());
    }

    #[test]
    fn capabilities_that_would_be_one_tool_are_none() {
        let tools = tools(&["a.b", "a_b", "a b", "c"]);
        assert_eq!(tools.names().collect::<Vec<_>>(), ["c"]);
        assert_eq!(
            manifest(&tools)["conflicts"],
            json!([{ "name": "a_b", "capabilities": ["a.b", "a_b", "a b"] }])
        );
    }

    #[test]
    fn the_tools_of_an_offer_are_made_once_and_nobody_waits_for_those_of_others() {
        let catalogue = Catalogue::default();
        let offer = |id: &str| {
            let app = AppInfo {
                id: id.into(),
                name: id.into(),
                version: "1".into(),
                description: None,
            };
            Arc::new(Offer::new(app, Vec::new()))
        };
        let (one, other) = (offer("one"), offer("other"));
        let first = catalogue.kept(one.clone(), Some("one".into()));
        first.tools.get_or_init(|| {
            // While they are made.
            catalogue.kept(other, Some("other".into()));
            Arc::new(tools(&["a.b"]))
        });
        let again = catalogue.kept(one, Some("one".into()));
        assert!(again.tools.get().is_some());
        let changed = catalogue.kept(offer("one"), Some("one".into()));
        assert!(changed.tools.get().is_none());
    }

    #[test]
    fn a_capability_listed_twice_is_one() {
        assert_eq!(tools(&["a.b", "a.b"]).capability("a_b"), Some("a.b"));
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

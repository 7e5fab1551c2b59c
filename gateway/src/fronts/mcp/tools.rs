//! The capabilities of an app as the tools of MCP.

use std::sync::Arc;

use serde_json::{Value, json};

use super::caller::Caller;
use super::request::Request;
use super::result;
use super::result::Ended;
use super::schema::{self, Input};
use super::wanted::Wanted;
use crate::broker::{CapabilityInfo, Offer, plain};
use crate::gateway::{AbpError, Hub};
use crate::wire::json_rpc::{RpcError, code};
use crate::wire::{Failure, clipped, error_json};
use caphost::call::{Code, Error};
use caphost::dialect::mcp::Version;
use caphost::offers::near;

/// How many apps an error names.
const MAX_NAMED: usize = 10;
/// How a client names its app.
const REMEDY: &str =
    "Name one: with `--app <app id>` of `caphost mcp`, or in the path, /mcp/<app id>";

/// The result of `tools/list`: all tools on one page, because few clients ask for a second.
pub fn list(
    hub: &Hub,
    caller: &Caller,
    app: Option<&str>,
    request: &Request<'_>,
    version: &Version,
) -> Result<Value, RpcError> {
    if request.has_cursor() {
        return Err(invalid("Invalid cursor: all tools are on the first page"));
    }
    let offer = match hub.offer(app) {
        Ok(offer) => Some(offer),
        Err(failure) if failure.code == Code::DISCONNECTED => None,
        Err(_) => return Err(no_choice(hub, caller)),
    };
    let tools = offer.iter().flat_map(|offer| {
        let listed = listed(offer, caller.tools.as_ref());
        listed.map(|(capability, name)| tool(capability, name, version))
    });
    let tools: Vec<_> = tools.collect();
    Ok(json!({ "tools": tools }))
}

/// The capabilities that a client wants, each with its tool name.
fn listed<'a>(
    offer: &'a Offer,
    wanted: Option<&Wanted>,
) -> impl Iterator<Item = (&'a CapabilityInfo, &'a str)> {
    let all = offer.capabilities.iter().zip(offer.tool_names());
    all.filter(move |(it, name)| {
        wanted.is_none_or(|wanted| wanted.has(name) || wanted.has(&it.name))
    })
}

/// The offer of the called app, or the end of the call without it.
pub fn offer(hub: &Hub, caller: &Caller, app: Option<&str>) -> Result<Arc<Offer>, Ended> {
    hub.offer(app).map_err(|failure| {
        if failure.code != Code::DISCONNECTED {
            return Err(no_choice(hub, caller));
        }
        let mut error = AbpError::from(&failure);
        error.message += &instead(&others(hub, caller));
        error.body["message"] = error.message.as_str().into();
        Ok(result::failed(&error, None))
    })
}

/// Why there are no tools while the app is missing, in words for a model.
pub fn missing(hub: &Hub, caller: &Caller, failure: &Failure) -> String {
    let others = others(hub, caller);
    if failure.code != Code::DISCONNECTED {
        return several(&others);
    }
    let instead = instead(&others);
    format!(
        "{}{instead}. Its tools are listed as soon as it connects.",
        failure.message
    )
}

/// The apps that could be meant, as the end of a sentence.
fn instead(others: &[String]) -> String {
    match others {
        [] => String::new(),
        _ => format!(". Connected: {}. {REMEDY}", others.join(", ")),
    }
}

fn several(apps: &[String]) -> String {
    format!("Several apps are connected: {}. {REMEDY}", apps.join(", "))
}

/// The error when several apps are connected and the client names none.
fn no_choice(hub: &Hub, caller: &Caller) -> RpcError {
    let apps = others(hub, caller);
    let message = several(&apps);
    let details = json!({ "apps": apps });
    let error = Error::<Value>::invalid_params(message.clone()).with_details(details);
    RpcError::new(code::INVALID_PARAMS, message).with_data(error_json(&error))
}

/// The first connected apps that the caller may reach.
fn others(hub: &Hub, caller: &Caller) -> Vec<String> {
    hub.app_ids(&caller.identity, MAX_NAMED)
}

/// A number that changes with the tools of an app.
pub fn offered(hub: &Hub, app: Option<&str>) -> u64 {
    let offer = hub.offer(app).ok();
    offer.map_or(0, |offer| offer.fingerprint())
}

/// A capability as a tool. If it has no title, and the tool has another name, its own name is the title.
pub fn tool(capability: &CapabilityInfo, name: &str, version: &Version) -> Value {
    let Input { schema, rule } = schema::input(capability.input_schema.as_deref());
    let mut tool = json!({ "name": name, "inputSchema": schema });
    let own = (name != capability.name).then_some(&*capability.name);
    if version.structure
        && let Some(title) = shown(capability.title.as_deref()).or(own)
    {
        tool["title"] = title.into();
    }
    // Some model interfaces refuse an empty description.
    let said = [shown(capability.description.as_deref()), rule.as_deref()];
    let said: Vec<_> = said.into_iter().flatten().collect();
    if !said.is_empty() {
        tool["description"] = said.join("\n\n").into();
    }
    if version.audio
        && let Some(hints) = capability.annotations
    {
        tool["annotations"] = json!(hints);
    }
    if version.structure
        && let Some(output) = schema::output(capability.output_schema.as_deref())
    {
        tool["outputSchema"] = output.into();
    }
    tool
}

/// The text, unless a reader sees nothing of it.
fn shown(text: Option<&str>) -> Option<&str> {
    text.filter(|it| !result::is_blank(it))
}

/// Whether the tool has an output schema.
pub fn promises(capability: &CapabilityInfo) -> bool {
    schema::output(capability.output_schema.as_deref()).is_some()
}

/// The capability a client means: by its own name, or by the one that its tool is listed under.
/// A tool that is not listed for the client is not there.
pub fn find<'a>(
    offer: &'a Offer,
    listed_for: Option<&Wanted>,
    name: &str,
) -> Result<&'a CapabilityInfo, RpcError> {
    let found = offer.named(name).or_else(|| offer.tool(name));
    let is_listed = |found: &CapabilityInfo| {
        let mut listed = listed(offer, listed_for);
        listed_for.is_none() || listed.any(|(it, _)| it.name == found.name)
    };
    let found = found.filter(|found| is_listed(found));
    found.ok_or_else(|| {
        let mut listed = listed(offer, listed_for).map(|(_, name)| name);
        let name_of_tool: String = plain(name).collect();
        let near = match near(&name_of_tool, &mut listed).join(", ") {
            near if near.is_empty() => near,
            near => format!(". Did you mean: {near}?"),
        };
        invalid(format!("Unknown tool: {}{near}", clipped(name, 128)))
    })
}

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, what)
}

#[cfg(test)]
mod tests {
    use caphost::dialect::mcp::STATELESS;

    use super::*;

    fn capabilities(names: &[&str]) -> Vec<CapabilityInfo> {
        let one = |name: &&str| serde_json::from_value(json!({ "name": name })).unwrap();
        names.iter().map(one).collect()
    }

    fn offer(capabilities: Vec<CapabilityInfo>) -> Offer {
        let app = json!({ "id": "demo", "name": "Demo", "version": "1" });
        Offer::new(serde_json::from_value(app).unwrap(), capabilities)
    }

    fn listed(offer: &Offer, version: &Version) -> Vec<Value> {
        let all = offer.capabilities.iter().zip(offer.tool_names());
        all.map(|(it, name)| tool(it, name, version)).collect()
    }

    #[test]
    fn a_capability_is_a_tool_of_a_plain_name() {
        let capability = serde_json::from_str(
            r#"{ "name": "export.pdf", "description": "d",
                 "inputSchema": { "type": "object", "required": ["html"] },
                 "outputSchema": { "type": "object" } }"#,
        );
        let offered = offer(vec![capability.unwrap()]);
        let input = json!({ "type": "object", "required": ["html"] });
        assert_eq!(
            listed(&offered, &STATELESS),
            [
                json!({ "name": "export_pdf", "title": "export.pdf", "description": "d",
                    "inputSchema": input, "outputSchema": { "type": "object" } })
            ]
        );
        let older = Version::named("2025-03-26").unwrap();
        assert_eq!(
            listed(&offered, older),
            [json!({ "name": "export_pdf", "description": "d", "inputSchema": input })]
        );
        assert_eq!(
            listed(&offer(capabilities(&["a"])), &STATELESS),
            [json!({ "name": "a", "inputSchema": { "type": "object" } })]
        );
    }

    #[test]
    fn the_title_of_a_capability_is_the_title_of_its_tool_where_the_version_has_titles() {
        let title = r#"{ "name": "export.pdf", "title": "Export as PDF" }"#;
        let offered = offer(vec![serde_json::from_str(title).unwrap()]);
        assert_eq!(listed(&offered, &STATELESS)[0]["title"], "Export as PDF");
        let older = Version::named("2025-03-26").unwrap();
        assert_eq!(listed(&offered, older)[0].get("title"), None);
    }

    #[test]
    fn the_hints_of_a_capability_are_annotations_of_its_tool_where_the_version_has_annotations() {
        let hints = json!({ "readOnlyHint": false, "destructiveHint": true });
        let capability = json!({ "name": "a", "annotations": hints });
        let offered = offer(vec![serde_json::from_value(capability).unwrap()]);
        for name in ["2025-03-26", "2026-07-28"] {
            let version = Version::named(name).unwrap();
            assert_eq!(listed(&offered, version)[0]["annotations"], hints);
        }
        let oldest = Version::named("2024-11-05").unwrap();
        assert_eq!(listed(&offered, oldest)[0].get("annotations"), None);
    }

    #[test]
    fn a_rule_that_the_schema_cannot_say_is_in_the_description() {
        let capability = serde_json::from_str(
            r#"{ "name": "a", "description": "d", "inputSchema": { "anyOf": [{ "required": ["b"] }] } }"#,
        );
        let [tool] = &listed(&offer(vec![capability.unwrap()]), &STATELESS)[..] else {
            panic!("there is one");
        };
        let description = tool["description"].as_str().unwrap();
        assert!(description.starts_with("d\n\n") && description.contains("required"));
    }

    #[test]
    fn a_tool_is_found_by_its_own_name_or_by_the_listed_one() {
        let offered = offer(capabilities(&["export.pdf", "a.b", "a_b", "画像"]));
        let found = |name: &str| find(&offered, None, name).map(|it| it.name.clone());
        for (capability, name) in offered.capabilities.iter().zip(offered.tool_names()) {
            assert_eq!(found(name).as_ref(), Ok(&capability.name));
            assert_eq!(found(&capability.name).as_ref(), Ok(&capability.name));
        }
        let unknown = found("nope").unwrap_err();
        assert_eq!(
            (unknown.code, &*unknown.message),
            (-32602, "Unknown tool: nope")
        );
        let near = found("export_pfd").unwrap_err();
        assert_eq!(
            near.message,
            "Unknown tool: export_pfd. Did you mean: export_pdf?"
        );
        assert!(found("").is_err());
        let long = found(&"é".repeat(100_000)).unwrap_err();
        assert!(long.message.len() < 300);
    }

    #[test]
    fn the_fingerprint_changes_with_the_list() {
        let fingerprint = |capabilities| offer(capabilities).fingerprint();
        let one = fingerprint(capabilities(&["a", "b"]));
        assert_eq!(one, fingerprint(capabilities(&["a", "b"])));
        assert_ne!(one, fingerprint(capabilities(&["a"])));
        let described = serde_json::from_str(r#"{ "name": "a", "description": "new" }"#).unwrap();
        assert_ne!(
            fingerprint(capabilities(&["a"])),
            fingerprint(vec![described])
        );
    }
}

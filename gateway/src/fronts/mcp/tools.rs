//! The capabilities of an app as the tools of MCP.

use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};

use super::request::Request;
use super::result::Ended;
use super::session::Caller;
use super::{result, schema};
use crate::broker::{CapabilityInfo, Offer};
use crate::gateway::{AbpError, Hub};
use crate::wire::json_rpc::{RpcError, code};
use crate::wire::{Failure, clipped, error_json};
use caphost::call::{Code, Error};

/// Apps that an error names.
const MAX_NAMED: usize = 10;
/// How a client names its app.
const REMEDY: &str =
    "Name one: with `--app <app id>` of `caphost mcp`, or in the path, /mcp/<app id>";

/// The result of `tools/list`, in pages of that size.
pub fn list(
    hub: &Hub,
    caller: &Caller,
    app: Option<&str>,
    request: &Request<'_>,
    size: usize,
) -> Result<Value, RpcError> {
    let offer = match hub.offer(app) {
        Ok(offer) => Some(offer),
        Err(failure) if failure.code == Code::DISCONNECTED => None,
        Err(_) => return Err(no_choice(hub, caller)),
    };
    let capabilities = offer.as_ref().map_or(&[][..], |offer| &offer.capabilities);
    let cursor = request.cursor().map_err(|()| invalid_cursor())?;
    let (page, next) = page(capabilities, cursor.as_deref(), size)?;
    let tools = offer
        .iter()
        .flat_map(|offer| page.iter().map(|it| tool(offer, it)));
    let tools: Vec<_> = tools.collect();
    let mut list = json!({ "tools": tools });
    if let Some(next) = next {
        list["nextCursor"] = next.into();
    }
    Ok(list)
}

/// The app that is called, or how the call ends without it.
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

/// Why there are no tools, in words for a client's model, while the app is not there.
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

/// Several apps are connected, and the client has not said which it means.
fn no_choice(hub: &Hub, caller: &Caller) -> RpcError {
    let apps = others(hub, caller);
    let message = several(&apps);
    let details = json!({ "apps": apps });
    let error = Error::<Value>::invalid_params(message.clone()).with_details(details);
    RpcError::new(code::INVALID_PARAMS, message).with_data(error_json(&error))
}

/// The first apps connected that the caller may reach.
fn others(hub: &Hub, caller: &Caller) -> Vec<String> {
    hub.app_ids(&caller.identity, MAX_NAMED)
}

/// A number that changes with the tools that an app has.
pub fn offered(hub: &Hub, app: Option<&str>) -> u64 {
    let offer = hub.offer(app).ok();
    offer.map_or(0, |offer| offer.fingerprint())
}

/// The name that a tool is listed under: a plain one, which every client takes, if no other tool could
/// be meant by it.
fn listed(offer: &Offer, capability: &CapabilityInfo) -> String {
    let plain: String = capability.plain_name().collect();
    let is_alone = offer.plainly_named(&plain, usize::MAX).nth(1).is_none();
    match is_alone {
        true => plain,
        false => capability.name.clone(),
    }
}

/// A capability as a tool. Its own name is its title, if it is not listed under that.
fn tool(offer: &Offer, capability: &CapabilityInfo) -> Value {
    let input = schema::input(capability.input_schema.as_deref());
    let name = listed(offer, capability);
    let mut tool = json!({ "name": name, "inputSchema": input });
    if name != capability.name {
        tool["title"] = (&*capability.name).into();
    }
    if let Some(description) = &capability.description {
        tool["description"] = description.as_str().into();
    }
    if let Some(output) = schema::output(capability.output_schema.as_deref()) {
        tool["outputSchema"] = output.into();
    }
    tool
}

/// Whether a tool has an output schema.
pub fn promises(capability: &CapabilityInfo) -> bool {
    schema::output(capability.output_schema.as_deref()).is_some()
}

/// The capability a client means: by its name, or, for clients that know only letters, digits, `_`
/// and `-` in names, by the name with `_` for everything else.
pub fn find<'a>(offer: &'a Offer, wanted: &str) -> Result<&'a CapabilityInfo, RpcError> {
    if let Some(exact) = offer.named(wanted) {
        return Ok(exact);
    }
    let mut alike = offer.plainly_named(wanted, usize::MAX);
    match (alike.next(), alike.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(invalid(format!("Unknown tool: {}", clipped(wanted, 128)))),
        (Some(one), Some(other)) => {
            let message = format!("Ambiguous tool: {wanted} is {} or {}", one.name, other.name);
            Err(invalid(message))
        }
    }
}

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, what)
}

fn invalid_cursor() -> RpcError {
    invalid("Invalid cursor")
}

/// One page of a list, and the cursor of the next. A cursor says which tool came last, so that a
/// change in between shifts no page; when that tool is gone the cursor is no longer valid.
pub fn page<'a>(
    capabilities: &'a [CapabilityInfo],
    cursor: Option<&str>,
    size: usize,
) -> Result<(&'a [CapabilityInfo], Option<String>), RpcError> {
    let start = match cursor {
        None => 0,
        Some(cursor) => {
            let last = URL_SAFE_NO_PAD.decode(cursor).ok();
            let last = last.and_then(|name| String::from_utf8(name).ok());
            let known = capabilities
                .iter()
                .position(|it| Some(&it.name) == last.as_ref());
            let Some(known) = known else {
                return Err(invalid_cursor());
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

#[cfg(test)]
mod tests {
    use super::*;

    fn capabilities(names: &[&str]) -> Vec<CapabilityInfo> {
        let one = |name: &&str| serde_json::from_value(json!({ "name": name })).unwrap();
        names.iter().map(one).collect()
    }

    fn offer(capabilities: Vec<CapabilityInfo>) -> Offer {
        let app = json!({ "id": "demo", "name": "Demo", "version": "1" });
        Offer::new(serde_json::from_value(app).unwrap(), capabilities)
    }

    fn listed(offer: &Offer) -> Vec<Value> {
        offer
            .capabilities
            .iter()
            .map(|it| tool(offer, it))
            .collect()
    }

    #[test]
    fn a_capability_is_a_tool_of_a_plain_name() {
        let capability = serde_json::from_str(
            r#"{ "name": "export.pdf", "description": "d",
                 "inputSchema": { "type": "object", "required": ["html"] },
                 "outputSchema": { "type": "object" } }"#,
        );
        assert_eq!(
            listed(&offer(vec![capability.unwrap()])),
            [
                json!({ "name": "export_pdf", "title": "export.pdf", "description": "d",
                    "inputSchema": { "type": "object", "required": ["html"] },
                    "outputSchema": { "type": "object" } })
            ]
        );
        assert_eq!(
            listed(&offer(capabilities(&["a"]))),
            [json!({ "name": "a", "inputSchema": { "type": "object" } })]
        );
    }

    #[test]
    fn every_listed_name_means_its_own_tool() {
        let offered = offer(capabilities(&["export.pdf", "a.b", "a_b", "x.y", "x/y"]));
        let names: Vec<_> = listed(&offered)
            .iter()
            .map(|tool| tool["name"].as_str().unwrap().to_string())
            .collect();
        assert_eq!(names, ["export_pdf", "a.b", "a_b", "x.y", "x/y"]);
        for (name, capability) in names.iter().zip(&offered.capabilities) {
            assert_eq!(find(&offered, name).unwrap().name, capability.name);
        }
    }

    #[test]
    fn a_tool_is_found_by_its_name_or_by_a_plain_one() {
        let offered = offer(capabilities(&["export.pdf", "a.b", "a_b", "x.y", "x/y"]));
        let found = |name| find(&offered, name).map(|it| it.name.as_str());
        assert_eq!(found("export.pdf"), Ok("export.pdf"));
        assert_eq!(found("export_pdf"), Ok("export.pdf"));
        assert_eq!(found("a_b"), Ok("a_b"), "an exact name wins");
        let ambiguous = found("x_y").unwrap_err();
        assert_eq!(
            (ambiguous.code, &*ambiguous.message),
            (-32602, "Ambiguous tool: x_y is x.y or x/y")
        );
        let unknown = found("nope").unwrap_err();
        assert_eq!(
            (unknown.code, &*unknown.message),
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
                page(&changed, Some(bad), 2).unwrap_err().code,
                -32602,
                "{bad}"
            );
        }
        assert_eq!(page(&[], None, 2).unwrap().1, None);
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

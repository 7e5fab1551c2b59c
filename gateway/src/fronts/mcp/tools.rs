//! The capabilities of one app, or of all apps, as the tools of MCP.

use std::sync::Arc;

use serde_json::{Value, json};

use super::caller::Caller;
use super::request::Request;
use super::result;
use super::result::Ended;
use super::schema::{self, Input};
use super::tasks::terms::has_tasks;
use super::wanted::Wanted;
use crate::broker::{AppTool, Assortment, CapabilityInfo, Offer, plain};
use crate::gateway::{AbpError, Hub};
use crate::wire::json_rpc::{RpcError, code};
use crate::wire::{Failure, clipped};
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
    request: &Request<'_>,
    version: &Version,
) -> Result<Value, RpcError> {
    if request.has_cursor() {
        return Err(invalid("Invalid cursor: all tools are on the first page"));
    }
    // Without an app there are no tools.
    let all = hub.assortment(caller.app.as_deref()).ok();
    let tools = all.iter().flat_map(|all| {
        let names_app = all.only().is_none();
        let tools = listed(all, caller.tools.as_ref()).map(move |it| {
            let mut tool = tool(it.capability, it.name, version);
            if names_app {
                tool["_meta"]["caphost/app"] = it.offer.app.id.clone().into();
            }
            tool
        });
        tools.collect::<Vec<_>>()
    });
    let tools: Vec<_> = tools.collect();
    Ok(json!({ "tools": tools }))
}

/// The tools that a client wants.
fn listed<'a>(all: &'a Assortment, wanted: Option<&Wanted>) -> impl Iterator<Item = AppTool<'a>> {
    all.tools().filter(move |it| {
        wanted.is_none_or(|wanted| {
            let names = [it.name, it.own_name, &it.capability.name];
            names.into_iter().any(|name| wanted.has(name))
        })
    })
}

/// The offers that the client chooses from, or the end of its call without an app.
pub fn offered(hub: &Hub, caller: &Caller) -> Result<Arc<Assortment>, Ended> {
    hub.assortment(caller.app.as_deref())
        .map_err(|mut failure| {
            let message = format!("{}{}", failure.message, instead(&others(hub, caller)));
            failure.message = message.into();
            Ok(result::failed(&AbpError::from(&failure), None))
        })
}

/// Why there are no tools while the app is missing, in words for a model.
pub fn missing(hub: &Hub, caller: &Caller, failure: &Failure) -> String {
    let instead = instead(&others(hub, caller));
    format!(
        "{}{instead}. Its tools are listed as soon as it connects.",
        failure.message
    )
}

/// What the tools of several apps are for, in words for a model.
pub fn several(all: &Assortment) -> String {
    let offers = all.offers();
    let first = offers.iter().take(MAX_NAMED).map(|offer| {
        let app = &offer.app;
        let said = app
            .description
            .as_deref()
            .filter(|it| !result::is_blank(it));
        let said = said.map(|said| format!(": {said}"));
        format!("- {} ({}){}", app.name, app.id, said.unwrap_or_default())
    });
    let mut lines = vec!["The tools of several apps:".to_string()];
    lines.extend(first);
    if offers.len() > MAX_NAMED {
        lines.push(format!("- and {} more", offers.len() - MAX_NAMED));
    }
    lines.join("\n")
}

/// The apps that could be meant, as the end of a sentence.
fn instead(others: &[String]) -> String {
    match others {
        [] => String::new(),
        _ => format!(". Connected: {}. {REMEDY}", others.join(", ")),
    }
}

/// The first connected apps that the caller may reach.
fn others(hub: &Hub, caller: &Caller) -> Vec<String> {
    hub.app_ids(&caller.identity, MAX_NAMED)
}

/// A number that changes with the tools of an app, or of all apps.
pub fn fingerprint(hub: &Hub, app: Option<&str>) -> u64 {
    let all = hub.assortment(app).ok();
    all.map_or(0, |all| all.fingerprint())
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
    if has_tasks(version) {
        tool["execution"] = json!({ "taskSupport": "optional" });
    }
    if version.structure
        && let Some(confirm) = &capability.confirm
    {
        tool["_meta"] = json!({ "caphost/confirm": confirm });
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

/// The app and the capability that a client means. A tool that is not listed for the client is not there.
pub fn find<'a>(
    all: &'a Assortment,
    listed_for: Option<&Wanted>,
    name: &str,
) -> Result<(&'a Arc<Offer>, &'a CapabilityInfo), RpcError> {
    let is_listed = |(offer, found): &(&Arc<Offer>, &CapabilityInfo)| {
        let mut listed = listed(all, listed_for);
        listed_for.is_none()
            || listed.any(|it| Arc::ptr_eq(it.offer, offer) && it.capability.name == found.name)
    };
    let found = all.tool(name).filter(is_listed);
    found.ok_or_else(|| {
        let same: Vec<_> = all.named(name).collect();
        let is_same = |it: &AppTool<'_>| {
            let mut same = same.iter();
            same.any(|(offer, found)| {
                Arc::ptr_eq(offer, it.offer) && found.name == it.capability.name
            })
        };
        let unknown = clipped(name, 128);
        // Most unknown names are no app's, and then nothing is looked through.
        let names = (!same.is_empty()).then(|| listed(all, listed_for).filter(is_same));
        let names = names.into_iter().flatten().take(MAX_NAMED);
        let names: Vec<_> = names.map(|it| it.name).collect();
        if !names.is_empty() {
            let names = names.join(", ");
            return invalid(format!(
                "Several apps have a tool {unknown}: name one of {names}"
            ));
        }
        let name_of_tool: String = plain(name).collect();
        let near = near(
            &name_of_tool,
            &mut listed(all, listed_for).map(|it| it.name),
        );
        let near = match near.join(", ") {
            near if near.is_empty() => near,
            near => format!(". Did you mean: {near}?"),
        };
        invalid(format!("Unknown tool: {unknown}{near}"))
    })
}

/// The end of a call of a tool that no connected app has, if the app that had it is gone.
pub fn departed(hub: &Hub, caller: &Caller, all: &Assortment, name: &str) -> Option<Ended> {
    let is_wanted = caller.tools.as_ref().is_none_or(|it| it.has(name));
    let is_meant = caller.app.is_none() && is_wanted && all.named(name).next().is_none();
    let gone = is_meant.then(|| hub.departed(name, &caller.identity))?;
    Some(Ok(result::failed(&AbpError::from(&gone?), None)))
}

fn invalid(what: impl Into<String>) -> RpcError {
    RpcError::new(code::INVALID_PARAMS, what)
}

#[cfg(test)]
mod tests;

//! `blob:` URLs in the answers of apps. Only the page can read such a URL, so an address of the gateway takes its
//! place.

use std::sync::Arc;

use memchr::memmem;
use serde_json::{Map, Value};

use super::{Content, Description};
use crate::broker::PeerId;
use crate::gateway::hub::Hub;
use crate::gateway::resume::AppSession;
use crate::wire::{Envelope, Request, member};

/// The member of a result that refers to a file.
const REFERENCE: &str = "downloadUrl";

impl Hub {
    /// The payload of an answer of that session's app, with addresses of the gateway in place of `blob:` URLs.
    /// `None` if it has none, or if nobody here waits for the answer.
    pub(crate) fn with_addresses(
        self: &Arc<Self>,
        session: &Arc<AppSession>,
        envelope: &Envelope<'_>,
    ) -> Option<String> {
        // The reader may come to another worker.
        if self.cluster().is_some() {
            return None;
        }
        let base = session.files_base()?;
        let payload = envelope.payload?;
        if envelope.kind != Request::Call.answer()
            || memmem::find(payload.as_bytes(), br#""blob:"#).is_none()
        {
            return None;
        }
        let data: Value = serde_json::from_slice(member(payload.as_bytes(), "data")?).ok()?;
        let mut references = Vec::new();
        find(&data, &mut references);
        let about = self.caller_of(session.peer, envelope.agent.as_deref()?, envelope.id?)?;
        let mut written = payload.to_string();
        for members in references {
            let url = members[REFERENCE].as_str().unwrap_or_default();
            let quoted = Value::from(url).to_string();
            if !payload.contains(&quoted) {
                continue;
            }
            let text = |name: &str| members.get(name)?.as_str().map(String::from);
            let about = Description {
                filename: text("filename"),
                media_type: text("mimeType"),
                size: members.get("size").and_then(Value::as_u64),
                ..about.clone()
            };
            let content = Content::InPage(Arc::downgrade(session), url.into());
            let Some(given) = self.give_file(about, content, None) else {
                continue;
            };
            let address = Value::from(format!("{base}{}", given.path())).to_string();
            written = written.replace(&quoted, &address);
            if !members.contains_key("expiresAt") {
                let member = format!(r#""{REFERENCE}":{address}"#);
                let expiry = format!(r#"{member},"expiresAt":"{}""#, given.expiry());
                written = written.replace(&member, &expiry);
            }
        }
        Some(written)
    }

    /// Who has made the call that this app answers to that agent under that id, if the caller is here.
    fn caller_of(&self, app: PeerId, agent: &str, id: &str) -> Option<Description> {
        let state = self.state();
        let (agent, profile, is_connected) = state.broker.caller_of(app, agent, id)?;
        Some(Description {
            owner: profile.owner.clone(),
            quota_key: profile.quota_key.clone(),
            agent: is_connected.then_some(agent),
            filename: None,
            media_type: None,
            size: None,
        })
    }
}

/// Collects the objects that refer to a file of the page.
fn find<'a>(value: &'a Value, found: &mut Vec<&'a Map<String, Value>>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| find(item, found)),
        Value::Object(members) => {
            let url = members.get(REFERENCE).and_then(Value::as_str);
            if url.is_some_and(|url| url.starts_with("blob:")) {
                found.push(members);
            }
            members.values().for_each(|member| find(member, found));
        }
        _ => {}
    }
}

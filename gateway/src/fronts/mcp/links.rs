//! What is too large for a result of MCP, and what only the page has: links to resources, which the client reads
//! at an address of the gateway or with `resources/read`.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;
use serde_json::{Value, json};
use uuid::Uuid;

use super::session::McpSession;
use crate::gateway::Hub;
use crate::gateway::files::{Description, Given, PATH, id_of};
use crate::tokens::Identity;
use crate::wire::Json;
use crate::wire::binary::{Binary, Encoding};

/// The client that gets links, and the gateway as it reaches it.
#[derive(Clone)]
pub struct Links {
    pub hub: Arc<Hub>,
    pub owner: Identity,
    /// The holder whose share of kept bytes is used.
    pub quota_key: Arc<str>,
    /// The URL of the gateway. `None` if the client can follow no links.
    pub base: Option<String>,
    /// The session that the links end with, if the client has one.
    pub session: Option<Arc<McpSession>>,
}

/// The rest of some data, and its links.
#[derive(Default)]
pub struct Linked {
    pub data: Option<Json>,
    /// Blocks of content.
    pub blocks: Vec<Value>,
    files: Vec<Uuid>,
}

impl Links {
    /// The data with references in place of large files, and a link for each reference to a file of the gateway.
    /// Text that is too large is a link itself, unless the client was `promised` an object.
    pub fn link(&self, data: Option<Json>, promised: bool) -> Linked {
        let (Some(base), Some(data)) = (&self.base, data.as_ref()) else {
            return Linked {
                data,
                ..Linked::default()
            };
        };
        let mut linked = Linked::default();
        let text = data.as_str();
        let is_large = text.len() > self.hub.files.inline();
        let may_refer = memmem::find(text.as_bytes(), PATH.as_bytes()).is_some();
        let mut rest = data.clone();
        if (is_large || may_refer)
            && let Ok(mut value) = data.value()
        {
            if is_large {
                self.replace_files(&mut value, base);
            }
            self.collect(&mut value, base, &mut linked);
            if !linked.files.is_empty() {
                rest = Json::from(&value);
            }
        }
        let is_large = rest.as_str().len() > self.hub.files.inline();
        if is_large
            && !promised
            && let Some((block, id)) = self.link_text(&rest, base)
        {
            linked.blocks.insert(0, block);
            linked.files.push(id);
        } else {
            linked.data = Some(rest);
        }
        if let Some(session) = &self.session {
            session.links_to(&linked.files);
        }
        linked
    }

    /// Puts a reference, in ABP's form, in the place of each large file.
    fn replace_files(&self, data: &mut Value, base: &str) {
        for file in Binary::all(data) {
            let text = file.text(data);
            if !file.is_valid || text.len() <= self.hub.files.inline() {
                continue;
            }
            let Ok(bytes) = file.encoding.decode(text) else {
                continue;
            };
            let plain = Some("text/plain; charset=utf-8".to_string());
            let about = self.about(
                file.filename.clone(),
                match file.encoding {
                    Encoding::Base64 => file.media_type.clone(),
                    Encoding::Utf8 => file.media_type.clone().or(plain),
                },
                bytes.len(),
            );
            if let Some(given) = self.hub.hold_file(about, bytes.into())
                && file.remove(data).is_some()
                && let Some(members) = file.object_mut(data)
            {
                members.remove("encoding");
                members.insert("downloadUrl".into(), address(base, &given).into());
                members.insert("expiresAt".into(), given.expiry().into());
            }
        }
    }

    /// Collects a link for each reference to a file of the client. Its address becomes the one that the client
    /// reaches.
    fn collect(&self, value: &mut Value, base: &str, linked: &mut Linked) {
        match value {
            Value::Array(items) => {
                for item in items {
                    self.collect(item, base, linked);
                }
            }
            Value::Object(members) => {
                let url = members.get("downloadUrl").and_then(Value::as_str);
                let id = url.and_then(id_of);
                if let Some(id) = id
                    && let Some(about) = self.hub.described_file(id, &self.owner)
                {
                    let uri = format!("{base}{PATH}{}", id.simple());
                    linked.blocks.push(block(&uri, &about));
                    linked.files.push(id);
                    members.insert("downloadUrl".into(), uri.into());
                }
                for member in members.values_mut() {
                    self.collect(member, base, linked);
                }
            }
            _ => {}
        }
    }

    /// A link to the data: a string as plain text, anything else as JSON.
    fn link_text(&self, data: &Json, base: &str) -> Option<(Value, Uuid)> {
        let (text, media_type, name): (Bytes, _, _) = match data.as_str().starts_with('"') {
            true => {
                let text: String = serde_json::from_str(data.as_str()).ok()?;
                (text.into(), "text/plain; charset=utf-8", "result.txt")
            }
            false => (data.clone().into(), "application/json", "result.json"),
        };
        let about = self.about(Some(name.into()), Some(media_type.into()), text.len());
        let given = self.hub.hold_file(about.clone(), text)?;
        Some((block(&address(base, &given), &about), given.id))
    }

    fn about(
        &self,
        filename: Option<String>,
        media_type: Option<String>,
        size: usize,
    ) -> Description {
        Description {
            owner: self.owner.clone(),
            quota_key: self.quota_key.clone(),
            agent: None,
            filename,
            media_type,
            size: Some(size as u64),
        }
    }
}

fn address(base: &str, given: &Given) -> String {
    format!("{base}{}", given.path())
}

fn block(uri: &str, about: &Description) -> Value {
    let name = about.filename.as_deref().unwrap_or("file");
    let mut block = json!({
        "type": "resource_link",
        "uri": uri,
        "name": name,
        "description": "Can be read once, and for a few minutes only",
    });
    if let Some(media_type) = &about.media_type {
        block["mimeType"] = media_type.as_str().into();
    }
    if let Some(size) = about.size {
        block["size"] = size.into();
    }
    block
}

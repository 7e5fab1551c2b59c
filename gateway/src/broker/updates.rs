//! Apps that offer something else than before: all of it, or what has changed.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::message::Content;
use super::offers::{CapabilityInfo, Registration, read, read_capabilities, wrong};
use super::registration::check_size;
use super::{Broker, Message, PeerId};
use crate::wire::{Envelope, Failure};
use caphost::call::Error;

/// What `app/registered` says under `updates`: that the gateway takes differences.
pub const DIFFERENCES: &str = "differences";

/// Bytes that a capability takes as JSON beside its texts: the keys, and what is between them.
const AROUND_TEXTS: usize = 64;

/// What an app offers from now on.
#[derive(Debug)]
pub(super) enum Update {
    /// This, made of what it offered before.
    Made {
        before: Arc<Registration>,
        now: Arc<Registration>,
    },
    /// This and nothing else.
    All(Vec<CapabilityInfo>),
    /// This instead of that.
    Difference {
        added: Vec<CapabilityInfo>,
        removed: Vec<String>,
    },
}

impl Update {
    /// Reads the payload of `app/update`.
    pub(super) fn read(payload: &str) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(borrow)]
            capabilities: Option<&'a RawValue>,
            #[serde(borrow)]
            added: Option<&'a RawValue>,
            #[serde(borrow)]
            removed: Option<&'a RawValue>,
        }
        check_size(payload)?;
        let parts: Parts = read(payload, "")?;
        match (parts.capabilities, parts.added, parts.removed) {
            (Some(all), None, None) => Ok(Update::All(read_capabilities(all, "capabilities")?)),
            (None, None, None) => Err(wrong(
                "payload",
                "it has `capabilities`, or `added` or `removed`",
            )),
            (None, added, removed) => {
                let added = added.map(|added| read_capabilities(added, "added"));
                let removed = removed.map(|removed| read(removed.get(), "removed"));
                Ok(Update::Difference {
                    added: added.transpose()?.unwrap_or_default(),
                    removed: removed.transpose()?.unwrap_or_default(),
                })
            }
            (Some(_), ..) => Err(wrong(
                "payload",
                "it has all `capabilities` or a difference, not both",
            )),
        }
    }
}

impl Update {
    /// What comes of it, where the app offers `before` up to now.
    fn made_of(self, before: &Arc<Registration>, max: usize) -> Result<Arc<Registration>, Failure> {
        let capabilities = match self {
            Update::Made { before: known, now } if Arc::ptr_eq(&known, before) => return Ok(now),
            Update::Made { now, .. } => now.capabilities.clone(),
            Update::All(all) => all,
            Update::Difference { added, removed } => {
                apply(&before.capabilities, added, &removed, max)?
            }
        };
        let app = before.app.clone();
        Ok(Arc::new(Registration { app, capabilities }))
    }
}

impl Message<'_> {
    /// Whether it says that its app offers something else.
    pub fn is_update(&self) -> bool {
        matches!(self.content, Content::Update(_))
    }

    /// Works out what its app offers with it, which takes long where that is much. `before` is what
    /// it offers up to now; a message may have `max` bytes.
    pub fn prepare(&mut self, before: &Arc<Registration>, max: usize) {
        if let Content::Update(update) = &mut self.content {
            let read = std::mem::replace(&mut **update, Ok(Update::All(Vec::new())));
            let made = read.and_then(|update| update.made_of(before, max));
            let before = before.clone();
            **update = made.map(|now| Update::Made { before, now });
        }
    }
}

impl Broker {
    pub(super) fn update(
        &mut self,
        peer: PeerId,
        envelope: &Envelope<'_>,
        update: Result<Update, Failure>,
    ) {
        let max = self.limits.message_bytes;
        let Some(app) = self.apps.get_mut(&peer) else {
            return;
        };
        let (Some(id), Some(offer)) = (app.id.clone(), &mut app.registration) else {
            return;
        };
        let seat = app.seat;
        match update.and_then(|update| update.made_of(offer, max)) {
            Ok(now) => {
                *offer = now;
                app.manifest = Arc::default();
                self.app_offers(peer, id, seat);
            }
            Err(error) => self.refuse(peer, &envelope.subject(), &error),
        }
    }
}

/// Takes out what is gone, then puts in what is new, in order of the names. A name in both is
/// replaced.
fn apply(
    offered: &[CapabilityInfo],
    added: Vec<CapabilityInfo>,
    removed: &[String],
    max: usize,
) -> Result<Vec<CapabilityInfo>, Failure> {
    let mut names: HashSet<&str> = offered.iter().map(|it| it.name.as_str()).collect();
    for (index, name) in removed.iter().enumerate() {
        if !names.remove(name.as_str()) {
            let message = format!("{name:?} is not offered");
            return Err(wrong(&format!("removed[{index}]"), &message));
        }
    }
    for (index, capability) in added.iter().enumerate() {
        if !names.insert(&capability.name) {
            let message = format!("{:?} is offered already", capability.name);
            return Err(wrong(&format!("added[{index}].name"), &message));
        }
    }
    let removed: HashSet<&str> = removed.iter().map(String::as_str).collect();
    let kept = offered.iter();
    let kept = kept.filter(|it| !removed.contains(it.name.as_str()));
    // Else an app could go on for ever. All at once, they would not be read either.
    let all = kept.clone().chain(&added);
    let bytes: usize = all.map(size).sum();
    if bytes > max {
        let message = format!("The capabilities have {bytes} bytes; at most {max} are accepted");
        let details = json!({ "limit": "messageBytes", "max": max });
        return Err(Error::invalid_params(message).with_details(Box::new(details)));
    }
    let mut offered: Vec<_> = kept.cloned().collect();
    offered.extend(added);
    offered.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(offered)
}

/// Bytes as JSON, about.
fn size(capability: &CapabilityInfo) -> usize {
    let schemas = [&capability.input_schema, &capability.output_schema];
    let schemas = schemas.into_iter().flatten().map(|it| it.get().len());
    let description = capability.description.as_ref().map_or(0, String::len);
    capability.name.len() + description + schemas.sum::<usize>() + AROUND_TEXTS
}

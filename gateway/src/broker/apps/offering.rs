//! Messages in which apps describe themselves and what they offer: all of it, or the difference.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use super::capability_info::CapabilityInfo;
use super::instance::Instance;
use super::offer::{AppInfo, Offer};
use super::offers::{read, read_capabilities, wrong};
use crate::broker::PeerId;
use crate::wire::Failure;
use caphost::call::Error;

/// The value of `updates` in `app/registered`: the gateway accepts differences.
pub const DIFFERENCES: &str = "differences";

/// Bytes of a capability as JSON beside its texts: keys and punctuation.
const JSON_AROUND_TEXTS: usize = 64;

/// The registration of an app. Its parts are checked in order, and each may be wrong.
#[derive(Debug)]
pub(in crate::broker) struct Register {
    pub app: Result<AppInfo, Failure>,
    pub capabilities: Result<Vec<CapabilityInfo>, Failure>,
    pub token: Option<String>,
    pub resume: bool,
    /// The token of the session that the registration replaces.
    pub replaces: Option<String>,
    /// The connection of that session.
    pub replaced: Option<PeerId>,
    /// The title of its page.
    pub title: Option<String>,
    /// The instance, as another worker says.
    pub instance: Option<Instance>,
}

impl Register {
    /// The registration of an app inside the gateway.
    pub(in crate::broker) fn of(app: AppInfo, capabilities: Vec<CapabilityInfo>) -> Self {
        Register {
            app: Ok(app),
            capabilities: Ok(capabilities),
            token: None,
            resume: false,
            replaces: None,
            replaced: None,
            title: None,
            instance: None,
        }
    }

    /// Reads the payload of `app/register`.
    pub(in crate::broker) fn read(payload: &str, most: usize) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(borrow)]
            app: &'a RawValue,
            #[serde(borrow)]
            capabilities: Option<&'a RawValue>,
            token: Option<String>,
            #[serde(default)]
            resume: bool,
            replaces: Option<String>,
            // A bad value here does not keep an app out.
            #[serde(borrow)]
            title: Option<&'a RawValue>,
            #[serde(borrow)]
            instance: Option<&'a RawValue>,
        }
        check_size(payload, most)?;
        let parts: Parts = read(payload, "")?;
        let capabilities = parts.capabilities;
        Ok(Register {
            app: read(parts.app.get(), "app"),
            capabilities: capabilities.map_or(Ok(Vec::new()), |list| {
                read_capabilities(list, "capabilities")
            }),
            token: parts.token,
            resume: parts.resume,
            replaces: parts.replaces,
            replaced: None,
            title: lenient(parts.title),
            instance: lenient(parts.instance),
        })
    }
}

/// The value, or none if the text has another type.
fn lenient<'a, T: Deserialize<'a>>(text: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(text?.get()).ok()
}

/// Checks that an offer is not larger than the gateway reads.
fn check_size(payload: &str, most: usize) -> Result<(), Failure> {
    if payload.len() <= most {
        return Ok(());
    }
    let message = format!("What an app offers may have at most {most} bytes");
    let details = json!({ "limit": "registrationBytes", "max": most });
    Err(Error::invalid_params(message).with_details(Box::new(details)))
}

/// A change of what an app offers.
#[derive(Debug)]
pub(in crate::broker) enum Update {
    /// The new offer, made of the offer before, and its size in bytes.
    Made {
        before: Arc<Offer>,
        now: Arc<Offer>,
        bytes: usize,
    },
    /// These capabilities and no others.
    All(Vec<CapabilityInfo>),
    /// Capabilities that go, and capabilities that come.
    Difference {
        added: Vec<CapabilityInfo>,
        removed: Vec<String>,
    },
}

impl Update {
    /// Reads the payload of `app/update`.
    pub(in crate::broker) fn read(payload: &str, most: usize) -> Result<Self, Failure> {
        #[derive(Deserialize)]
        struct Parts<'a> {
            #[serde(borrow)]
            capabilities: Option<&'a RawValue>,
            #[serde(borrow)]
            added: Option<&'a RawValue>,
            #[serde(borrow)]
            removed: Option<&'a RawValue>,
        }
        check_size(payload, most)?;
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
    /// The new offer and its size, where the app offers `before` up to now.
    pub(in crate::broker) fn made_of(
        self,
        before: &Arc<Offer>,
        max: usize,
    ) -> Result<(Arc<Offer>, usize), Failure> {
        let capabilities = match self {
            Update::Made {
                before: known,
                now,
                bytes,
            } if Arc::ptr_eq(&known, before) => return Ok((now, bytes)),
            Update::Made { now, .. } => now.capabilities.clone(),
            Update::All(all) => all,
            Update::Difference { added, removed } => {
                apply(&before.capabilities, added, &removed, max)?
            }
        };
        let app = before.app.clone();
        let now = Offer::new(app, capabilities);
        let bytes = now.bytes();
        Ok((Arc::new(now), bytes))
    }
}

/// Removes what is gone, then adds what is new, in order of the names. A name in both lists is replaced.
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
    // Without this check an app could grow without end. In one message so many would not be read either.
    let all = kept.clone().chain(&added);
    let bytes: usize = all.map(|it| it.texts() + JSON_AROUND_TEXTS).sum();
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

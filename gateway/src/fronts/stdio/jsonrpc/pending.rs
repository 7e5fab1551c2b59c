//! Requests that wait for an answer, so that none waits for ever when the gateway is gone.

use std::collections::HashMap;

use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::fronts::jsonrpc::message::{Id, IdKey, failed};
use caphost::call::{Code, Error};

/// Ids of requests passed on, and how often each was used.
#[derive(Debug, Default)]
pub struct Pending(HashMap<IdKey, (Value, usize)>);

/// Of a message what tells its kind; the rest is skipped.
#[derive(Deserialize)]
struct Head {
    #[serde(default, deserialize_with = "present")]
    id: Option<Value>,
    #[serde(default, deserialize_with = "present")]
    method: Option<serde::de::IgnoredAny>,
}

/// `null` is something, too.
fn present<'de, T: Deserialize<'de>, D: Deserializer<'de>>(from: D) -> Result<Option<T>, D::Error> {
    T::deserialize(from).map(Some)
}

impl Pending {
    /// A message goes to the gateway.
    pub fn sent(&mut self, message: &str) {
        if let Some((id, true)) = head(message) {
            let entry = self.0.entry(id.key().clone());
            entry.or_insert_with(|| (id.value().clone(), 0)).1 += 1;
        }
    }

    /// A message has come from the gateway.
    pub fn received(&mut self, message: &str) {
        let Some((id, false)) = head(message) else {
            return;
        };
        if let Some((_, count)) = self.0.get_mut(id.key()) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(id.key());
            }
        }
    }

    /// The answers to all that still wait, which are no longer pending then.
    pub fn settle(&mut self, why: &str) -> Vec<String> {
        let error = Error::<Value>::new(Code::DISCONNECTED, why.to_string());
        let lost = std::mem::take(&mut self.0).into_values();
        lost.flat_map(|(id, count)| std::iter::repeat_n(failed(&id, &error).to_string(), count))
            .collect()
    }
}

/// The id of a message, and whether it is a request.
fn head(message: &str) -> Option<(Id, bool)> {
    let Head { id, method } = serde_json::from_str(message).ok()?;
    let id = Id::read(&id?)?;
    Some((id, method.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn settled(pending: &mut Pending) -> Vec<Value> {
        let mut ids: Vec<_> = pending
            .settle("gone")
            .iter()
            .map(|it| serde_json::from_str::<Value>(it).unwrap())
            .inspect(|it| assert_eq!(it["error"]["data"]["code"], "DISCONNECTED"))
            .map(|it| it["id"].clone())
            .collect();
        ids.sort_by_key(Value::to_string);
        ids
    }

    #[test]
    fn requests_wait_until_they_are_answered() {
        let mut pending = Pending::default();
        for id in ["0", "\"\"", "null", "1", "\"1\"", "1"] {
            pending.sent(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m"}}"#));
        }
        pending.sent(r#"{"jsonrpc":"2.0","method":"m"}"#);
        pending.sent(r#"{"jsonrpc":"2.0","id":9,"result":1}"#);
        pending.sent("nonsense");
        pending.received(r#"{"jsonrpc":"2.0","id":0,"result":null}"#);
        pending.received(r#"{"jsonrpc":"2.0","id":1.0,"error":{}}"#);
        pending.received(r#"{"jsonrpc":"2.0","id":7,"error":{}}"#);
        pending.received(r#"{"jsonrpc":"2.0","method":"m"}"#);
        assert_eq!(
            settled(&mut pending),
            [json!(""), json!("1"), json!(1), json!(null)]
        );
        assert!(settled(&mut pending).is_empty());
    }
}

//! Arguments that a model has written as texts, such as `"2"` for a number (`--coerce`). A text is read as what
//! the schema wants, where that is the only way to read it. Everything else stays as it is, and the app checks
//! the result as ever.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::value::RawValue;
use serde_json::{Map, Value};
use url::form_urlencoded;

use crate::wire::{Failure, check_readable, referred};

/// How deep schemas and arguments are looked into.
const MAX_DEPTH: usize = 32;

/// The arguments, an object as JSON, with the texts read as the schema wants. Both are JSON. What was inside a
/// text may be no deeper than `depth` levels.
pub(crate) fn coerced<'a>(
    arguments: &'a str,
    schema: Option<&RawValue>,
    depth: usize,
) -> Result<Cow<'a, str>, Failure> {
    let schema = schema.and_then(|schema| serde_json::from_str::<Value>(schema.get()).ok());
    let (Some(root), Ok(mut value)) = (schema, serde_json::from_str(arguments)) else {
        return Ok(Cow::Borrowed(arguments));
    };
    let schemas = Schemas { root: &root };
    if !schemas.read(&mut value, &root, 0) {
        return Ok(Cow::Borrowed(arguments));
    }
    let read = value.to_string();
    check_readable(&read, depth)?;
    Ok(Cow::Owned(read))
}

/// Whether the query of a request asks for this.
pub(crate) fn is_asked_for(query: Option<&str>) -> bool {
    let mut given = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
    given.any(|(name, value)| name == "coerce" && matches!(&*value, "" | "1" | "true"))
}

/// The kinds of value that a schema allows, by the names of JSON Schema.
type Kinds<'a> = BTreeSet<&'a str>;

struct Schemas<'a> {
    root: &'a Value,
}

impl<'a> Schemas<'a> {
    /// Reads the texts in a value. Returns whether something has changed.
    fn read(&self, value: &mut Value, schema: &'a Value, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let mut changed = false;
        if let Value::String(text) = value
            && let Some(kinds) = self.kinds(schema, depth)
            && let Some(meant) = only_reading(text, &kinds)
        {
            *value = meant;
            changed = true;
        }
        match value {
            Value::Object(members) => {
                for (name, member) in members {
                    if let Some(schema) = self.member(schema, name, depth) {
                        changed |= self.read(member, schema, depth + 1);
                    }
                }
            }
            Value::Array(items) => {
                for (at, item) in items.iter_mut().enumerate() {
                    if let Some(schema) = self.item(schema, at, depth) {
                        changed |= self.read(item, schema, depth + 1);
                    }
                }
            }
            _ => {}
        }
        changed
    }

    /// The schema that a `$ref` within the same document means, or the schema itself.
    fn resolved(&self, schema: &'a Value, depth: usize) -> Option<&'a Map<String, Value>> {
        let schema = schema.as_object()?;
        let Some(reference) = schema.get("$ref") else {
            return Some(schema);
        };
        if depth > MAX_DEPTH {
            return None;
        }
        let meant = match reference.as_str()? {
            "#" => self.root,
            reference => referred(self.root.as_object()?, reference)?,
        };
        self.resolved(meant, depth + 1)
    }

    /// The kinds of value that a schema allows. `None` if it allows any kind, or if it cannot be told.
    fn kinds(&self, schema: &'a Value, depth: usize) -> Option<Kinds<'a>> {
        let schema = self.resolved(schema, depth)?;
        if depth > MAX_DEPTH {
            return None;
        }
        let own: Option<Kinds> = match schema.get("type") {
            Some(Value::String(kind)) => Some([kind.as_str()].into()),
            Some(Value::Array(kinds)) => kinds.iter().map(Value::as_str).collect(),
            _ => None,
        };
        own.or_else(|| {
            let branches = schema.get("anyOf").or(schema.get("oneOf"))?.as_array()?;
            let mut all = Kinds::new();
            for branch in branches {
                all.extend(self.kinds(branch, depth + 1)?);
            }
            Some(all)
        })
    }

    /// The schemas that count for a value of that kind: the schema itself, and the only branch that allows the
    /// kind.
    fn of_kind(&self, schema: &'a Value, kind: &str, depth: usize) -> Vec<&'a Map<String, Value>> {
        let Some(own) = self.resolved(schema, depth) else {
            return Vec::new();
        };
        let mut found = vec![own];
        let branches = own.get("anyOf").or(own.get("oneOf"));
        let branches = branches.and_then(Value::as_array).into_iter().flatten();
        let mut fitting = branches.filter(|branch| {
            let kinds = self.kinds(branch, depth + 1);
            kinds.is_none_or(|kinds| kinds.contains(kind))
        });
        if let (Some(only), None) = (fitting.next(), fitting.next())
            && depth < MAX_DEPTH
        {
            found.extend(self.of_kind(only, kind, depth + 1));
        }
        let all = own.get("allOf").and_then(Value::as_array);
        for part in all.into_iter().flatten().filter(|_| depth < MAX_DEPTH) {
            found.extend(self.of_kind(part, kind, depth + 1));
        }
        found
    }

    /// The schema of a member of an object.
    fn member(&self, schema: &'a Value, name: &str, depth: usize) -> Option<&'a Value> {
        let schemas = self.of_kind(schema, "object", depth);
        let named = |schema: &&'a Map<String, Value>| schema.get("properties")?.get(name);
        let other = |schema: &&'a Map<String, Value>| schema.get("additionalProperties");
        let found = schemas.iter().find_map(named);
        found.or_else(|| schemas.iter().find_map(other))
    }

    /// The schema of an item of an array.
    fn item(&self, schema: &'a Value, at: usize, depth: usize) -> Option<&'a Value> {
        let schemas = self.of_kind(schema, "array", depth);
        let placed = |schema: &&'a Map<String, Value>| schema.get("prefixItems")?.get(at);
        let other = |schema: &&'a Map<String, Value>| schema.get("items");
        let found = schemas.iter().find_map(placed);
        found.or_else(|| schemas.iter().find_map(other))
    }
}

/// The value that a text means, if it may not be a text and there is only one other way to read it.
fn only_reading(text: &str, kinds: &Kinds<'_>) -> Option<Value> {
    if kinds.contains("string") {
        return None;
    }
    // A text is the JSON of one value at most, so there is never more than one reading.
    let meant: Value = serde_json::from_str(text).ok()?;
    let is_wanted = match &meant {
        Value::Null => kinds.contains("null"),
        Value::Bool(_) => kinds.contains("boolean"),
        Value::Number(number) => {
            let is_whole = number.as_f64().is_some_and(|it| it.fract() == 0.0);
            kinds.contains("number") || is_whole && kinds.contains("integer")
        }
        Value::Array(_) => kinds.contains("array"),
        Value::Object(_) => kinds.contains("object"),
        Value::String(_) => false,
    };
    is_wanted.then_some(meant)
}

#[cfg(test)]
mod tests;

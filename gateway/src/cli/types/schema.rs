//! Turns a JSON Schema (2020-12, and the same keywords of older drafts) into a TypeScript type.
//!
//! Types express less than schemas. The type leaves out what TypeScript cannot express, so every value that
//! the schema allows has the type. Properties that an object does not list are not part of its type unless
//! the schema mentions them. This finds mistyped names.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use super::expression::{Type, both, either};
use super::text::{comment, key, literal, pascal};

/// The names of types that are taken.
pub(super) struct Names(BTreeSet<String>);

impl Names {
    pub fn with(name: &str) -> Self {
        Names(BTreeSet::from([name.into()]))
    }

    fn take(&mut self, wanted: String) -> String {
        let numbered = (2..).map(|n| format!("{wanted}{n}"));
        let free = std::iter::once(wanted.clone())
            .chain(numbered)
            .find(|it| !self.0.contains(it));
        let name = free.unwrap_or(wanted);
        self.0.insert(name.clone());
        name
    }
}

/// A schema. The parts that the schema refers to become types of their own.
pub(super) struct Schema<'a> {
    root: &'a Value,
    names: &'a mut Names,
    prefix: String,
    /// The names of these types, by their pointers.
    named: BTreeMap<String, String>,
    /// The types that are not written yet.
    waiting: Vec<String>,
}

impl<'a> Schema<'a> {
    /// The schema of a capability's parameters or data. Without a schema anything is allowed.
    pub fn new(root: &'a Value, capability: &str, role: &str, names: &'a mut Names) -> Self {
        Schema {
            root,
            names,
            prefix: pascal(capability) + role,
            named: BTreeMap::new(),
            waiting: Vec::new(),
        }
    }

    /// The type itself.
    pub fn written(&mut self, indent: usize) -> String {
        self.write(self.root, indent).text().into()
    }

    /// The other types that the type needs. Must be called after `written`.
    pub fn others(&mut self) -> String {
        let mut written = String::new();
        while let Some(pointer) = self.waiting.pop() {
            let name = self.named[&pointer].clone();
            let target = self.root.pointer(&pointer).unwrap_or(&Value::Null);
            let said = comment(target["description"].as_str().unwrap_or_default(), 0);
            let text = self.write(target, 0);
            written.push_str(&format!("\n{said}export type {name} = {};\n", text.text()));
        }
        written
    }

    fn write(&mut self, schema: &'a Value, indent: usize) -> Type {
        let fields = match schema {
            Value::Bool(false) => return Type::plain("never"),
            Value::Object(fields) => fields,
            _ => return Type::plain("unknown"),
        };
        let mut parts = Vec::new();
        if let Some(pointer) = fields.get("$ref").and_then(Value::as_str) {
            parts.push(self.reference(pointer));
        }
        for one in list(fields, "allOf") {
            parts.push(self.write(one, indent));
        }
        for key in ["anyOf", "oneOf"] {
            let options: Vec<_> = list(fields, key)
                .map(|one| self.write(one, indent))
                .collect();
            if !options.is_empty() {
                parts.push(either(options));
            }
        }
        if let Some(own) = self.own(fields, !parts.is_empty(), indent) {
            parts.insert(0, own);
        }
        let all = both(parts);
        if fields.get("nullable") == Some(&Value::Bool(true)) {
            return either(vec![all, Type::plain("null")]);
        }
        all
    }

    /// The type of a schema's own keywords, without the schemas that it names. With `more`, the named schemas
    /// have types as well, so that the value is an object needs no mention.
    fn own(&mut self, fields: &'a Map<String, Value>, more: bool, indent: usize) -> Option<Type> {
        if let Some(only) = fields.get("const") {
            return Some(Type::plain(literal(only)));
        }
        if let Some(Value::Array(values)) = fields.get("enum") {
            let values = values.iter().map(|it| Type::plain(literal(it)));
            return Some(either(values.collect()));
        }
        let kinds: Vec<&str> = match fields.get("type") {
            Some(Value::String(kind)) => vec![kind],
            Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if speaks_of_object(fields) => vec!["object"],
            _ if fields.contains_key("items") || fields.contains_key("prefixItems") => {
                vec!["array"]
            }
            _ => return None,
        };
        if more && kinds == ["object"] && !speaks_of_object(fields) {
            return None;
        }
        let kinds = kinds.into_iter().map(|kind| match kind {
            "string" | "boolean" | "null" => Type::plain(kind),
            "number" | "integer" => Type::plain("number"),
            "object" => self.object(fields, indent),
            "array" => self.array(fields, indent),
            _ => Type::plain("unknown"),
        });
        Some(either(kinds.collect()))
    }

    fn object(&mut self, fields: &'a Map<String, Value>, indent: usize) -> Type {
        let required: BTreeSet<&str> = list(fields, "required").filter_map(Value::as_str).collect();
        let known = fields.get("properties").and_then(Value::as_object);
        let mut members: BTreeMap<&str, Option<&'a Value>> =
            required.iter().map(|name| (*name, None)).collect();
        members.extend(
            known
                .into_iter()
                .flatten()
                .map(|(name, it)| (&**name, Some(it))),
        );
        let patterns = fields.get("patternProperties").and_then(Value::as_object);
        let patterns = patterns.filter(|it| !it.is_empty());
        let rest = fields.get("additionalProperties");
        if members.is_empty() {
            return match (rest, patterns) {
                (Some(Value::Bool(false)), None) => Type::plain("Record<string, never>"),
                (Some(rest), None) => {
                    let value = self.write(rest, indent);
                    Type::plain(format!("{{ [key: string]: {} }}", value.text()))
                }
                _ => Type::plain("Record<string, unknown>"),
            };
        }
        let inner = "  ".repeat(indent + 1);
        let mut text = String::from("{\n");
        for (name, schema) in members {
            let value = schema.map_or(Type::plain("unknown"), |it| self.write(it, indent + 1));
            let said = schema.map_or(String::new(), said_of);
            let (optional, value) = if required.contains(name) {
                ("", value)
            } else {
                // An undefined property means the same as a missing one, even to compilers that distinguish
                // them.
                ("?", either(vec![value, Type::plain("undefined")]))
            };
            text.push_str(&comment(&said, indent + 1));
            text.push_str(&format!(
                "{inner}{}{optional}: {};\n",
                key(name),
                value.text()
            ));
        }
        // A narrower type would have to fit the properties above as well.
        if patterns.is_some() || rest.is_some_and(|it| *it != Value::Bool(false)) {
            text.push_str(&format!("{inner}[key: string]: unknown;\n"));
        }
        text.push_str(&"  ".repeat(indent));
        text.push('}');
        Type::Plain(text)
    }

    fn array(&mut self, fields: &'a Map<String, Value>, indent: usize) -> Type {
        // In older drafts a list in `items` means the same as `prefixItems` now.
        let old = fields.get("items").is_some_and(Value::is_array);
        let (first, rest) = if old {
            ("items", fields.get("additionalItems"))
        } else {
            ("prefixItems", fields.get("items"))
        };
        let first: Vec<_> = list(fields, first).collect();
        let rest = rest.filter(|it| **it != Value::Bool(false) || first.is_empty());
        let closed = rest.is_none()
            && ["items", "additionalItems"]
                .iter()
                .any(|it| fields.get(*it) == Some(&Value::Bool(false)));
        let rest = rest.map_or(Type::plain("unknown"), |it| self.write(it, indent));
        if first.is_empty() {
            return Type::Plain(format!("{}[]", rest.in_array()));
        }
        let needed = fields.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        let mut items: Vec<_> = (0..)
            .zip(first)
            .map(|(at, one)| {
                let one = self.write(one, indent);
                if at < needed {
                    one.text().into()
                } else {
                    format!("{}?", one.in_array())
                }
            })
            .collect();
        if !closed {
            items.push(format!("...{}[]", rest.in_array()));
        }
        Type::Plain(format!("[{}]", items.join(", ")))
    }

    /// A reference to a part of the same schema. References to other documents become `unknown`.
    fn reference(&mut self, reference: &str) -> Type {
        let Some(pointer) = reference.strip_prefix('#') else {
            return Type::plain("unknown");
        };
        let found = self.root.pointer(pointer);
        if found.is_none_or(|it| self.leads_to(it, pointer, &mut BTreeSet::new())) {
            return Type::plain("unknown");
        }
        let name = match self.named.get(pointer) {
            Some(name) => name.clone(),
            None => {
                let last = pointer.rsplit('/').next().unwrap_or_default();
                let name = self.names.take(format!("{}{}", self.prefix, pascal(last)));
                self.named.insert(pointer.into(), name.clone());
                self.waiting.push(pointer.into());
                name
            }
        };
        Type::Plain(name)
    }

    /// Whether a type would be only itself, or a union or intersection with itself. TypeScript has no such
    /// types.
    fn leads_to(&self, schema: &'a Value, pointer: &str, seen: &mut BTreeSet<&'a str>) -> bool {
        let Value::Object(fields) = schema else {
            return false;
        };
        let direct = fields.get("$ref").and_then(Value::as_str);
        if let Some(next) = direct.and_then(|it| it.strip_prefix('#')) {
            if next == pointer {
                return true;
            }
            let target = self.root.pointer(next);
            if seen.insert(next) && target.is_some_and(|it| self.leads_to(it, pointer, seen)) {
                return true;
            }
        }
        ["allOf", "anyOf", "oneOf"]
            .iter()
            .any(|key| list(fields, key).any(|it| self.leads_to(it, pointer, seen)))
    }
}

fn list<'a>(fields: &'a Map<String, Value>, key: &str) -> impl Iterator<Item = &'a Value> {
    fields
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

fn speaks_of_object(fields: &Map<String, Value>) -> bool {
    [
        "properties",
        "required",
        "additionalProperties",
        "patternProperties",
    ]
    .iter()
    .any(|key| fields.contains_key(*key))
}

/// The description in a member's schema.
fn said_of(schema: &Value) -> String {
    let mut lines = Vec::new();
    if let Some(text) = schema["description"].as_str().or(schema["title"].as_str()) {
        lines.push(text.trim().to_string());
    }
    if let Some(default) = schema.get("default") {
        let default = default.to_string();
        if default.len() <= 80 {
            lines.push(format!("@default {default}"));
        }
    }
    if schema["deprecated"] == true {
        lines.push("@deprecated".into());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests;

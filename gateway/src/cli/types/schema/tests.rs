use serde_json::json;

use super::*;

fn written(schema: Value) -> String {
    let mut names = Names::with("Caps");
    let mut writer = Schema::new(&schema, "a.b", "Data", &mut names);
    let text = writer.written(0);
    text + &writer.others()
}

#[test]
fn every_kind_of_value_has_a_type() {
    for (schema, expected) in [
        (json!(null), "unknown"),
        (json!(true), "unknown"),
        (json!({}), "unknown"),
        (json!({ "description": "any" }), "unknown"),
        (json!(false), "never"),
        (json!({ "type": "string", "pattern": "^a" }), "string"),
        (json!({ "type": "integer" }), "number"),
        (
            json!({ "type": ["number", "integer", "null"] }),
            "number | null",
        ),
        (json!({ "type": "strange" }), "unknown"),
        (json!({ "const": "a\"b" }), r#""a\"b""#),
        (
            json!({ "enum": ["a", 1, null, true, "a"] }),
            r#""a" | 1 | null | true"#,
        ),
        (
            json!({ "const": { "a": [1, {}], "b-c": "d" } }),
            r#"{ a: [1, Record<string, never>]; "b-c": "d" }"#,
        ),
        (
            json!({ "type": "string", "nullable": true }),
            "string | null",
        ),
        (json!({ "type": "object" }), "Record<string, unknown>"),
        (
            json!({ "type": "object", "additionalProperties": false }),
            "Record<string, never>",
        ),
        (
            json!({ "type": "object", "additionalProperties": { "type": ["string", "null"] } }),
            "{ [key: string]: string | null }",
        ),
        (json!({ "type": "array" }), "unknown[]"),
        (
            json!({ "items": { "type": ["string", "null"] } }),
            "(string | null)[]",
        ),
        (json!({ "type": "array", "items": false }), "never[]"),
        (
            json!({ "prefixItems": [{ "type": "string" }, { "enum": [1, 2] }], "minItems": 1, "items": false }),
            "[string, (1 | 2)?]",
        ),
        (
            json!({ "type": "array", "prefixItems": [{ "type": "string" }], "minItems": 1 }),
            "[string, ...unknown[]]",
        ),
        (
            json!({ "type": "array", "items": [{ "type": "string" }], "minItems": 1, "additionalItems": { "type": "number" } }),
            "[string, ...number[]]",
        ),
        (
            json!({ "anyOf": [{ "type": "string" }, { "type": "number" }, { "type": "string" }] }),
            "string | number",
        ),
        (json!({ "oneOf": [{ "type": "string" }, {}] }), "unknown"),
        (
            json!({ "allOf": [{ "enum": ["a", "b"] }, { "type": "string" }] }),
            r#"("a" | "b") & string"#,
        ),
    ] {
        assert_eq!(written(schema.clone()), expected, "{schema}");
    }
}

#[test]
fn an_object_lists_its_members() {
    let schema = json!({
        "type": "object",
        "properties": {
            "plain": { "type": "string", "description": "What it\nis */" },
            "two words": { "type": "boolean", "default": false },
            "nested": { "properties": { "1": {} } },
        },
        "required": ["plain", "unlisted"],
        "additionalProperties": true,
    });
    let expected = r#"{
  nested?: {
    "1"?: unknown;
  } | undefined;
  /**
   * What it
   * is *\/
   */
  plain: string;
  /** @default false */
  "two words"?: boolean | undefined;
  unlisted: unknown;
  [key: string]: unknown;
}"#;
    assert_eq!(written(schema), expected);
}

#[test]
fn what_holds_beside_options_holds_for_each() {
    let schema = json!({
        "type": "object", "properties": { "a": { "type": "string" } },
        "anyOf": [{ "required": ["b"] }, { "required": ["c"] }],
    });
    assert_eq!(
        written(schema),
        "{\n  a?: string | undefined;\n} & ({\n  b: unknown;\n} | {\n  c: unknown;\n})"
    );
    let bare = json!({ "type": "object", "oneOf": [{ "properties": { "a": {} } }] });
    assert_eq!(written(bare), "{\n  a?: unknown;\n}");
}

#[test]
fn references_are_types_of_their_own_and_may_come_back_to_themselves() {
    let schema = json!({
        "properties": { "first": { "$ref": "#/$defs/node" }, "self": { "$ref": "#" }, "same": { "$ref": "#/$defs/node" } },
        "$defs": { "node": { "description": "A node", "properties": { "next": { "$ref": "#/$defs/node" } } } },
    });
    let expected = "{
  first?: ABDataNode | undefined;
  same?: ABDataNode | undefined;
  self?: ABData | undefined;
}
export type ABData = {
  first?: ABDataNode | undefined;
  same?: ABDataNode | undefined;
  self?: ABData | undefined;
};

/** A node */
export type ABDataNode = {
  next?: ABDataNode | undefined;
};
";
    assert_eq!(written(schema), expected);
}

#[test]
fn what_a_reference_cannot_mean_is_unknown() {
    let defs = json!({
        "loop": { "$ref": "#/$defs/loop" },
        "ping": { "anyOf": [{ "$ref": "#/$defs/pong" }, { "type": "string" }] },
        "pong": { "allOf": [{ "$ref": "#/$defs/ping" }] },
    });
    for reference in [
        "#/$defs/loop",
        "#/$defs/ping",
        "#/$defs/lost",
        "#anchor",
        "other.json",
        "https://a.example/b",
    ] {
        let schema = json!({ "items": { "$ref": reference }, "$defs": defs });
        assert_eq!(written(schema), "unknown[]", "{reference}");
    }
}

#[test]
fn a_comment_ends_where_it_ends() {
    assert_eq!(comment("", 0), "");
    assert_eq!(comment(" \n", 0), "");
    assert_eq!(
        comment("a */ b\u{1b}[2J", 1),
        "  /** a *\\/ b\u{fffd}[2J */\n"
    );
    assert_eq!(comment("a\n\nb ", 0), "/**\n * a\n *\n * b\n */\n");
}

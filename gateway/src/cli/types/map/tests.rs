use serde_json::json;

use super::*;

#[test]
fn a_map_has_each_capability_by_its_name_whatever_their_order() {
    let words = json!({
        "name": "text.words", "description": "Counts words.\n\nOf documents.",
        "inputSchema": { "type": "object", "properties": { "urls": { "type": "array", "items": { "type": "string" } } }, "required": ["urls"] },
        "outputSchema": { "type": "object", "properties": { "words": { "type": "integer", "description": "All of them" } }, "required": ["words"] },
    });
    let reset = json!({
        "name": "app.reset", "deprecated": true, "deprecationMessage": "Reload */ instead",
        "inputSchema": { "type": "object", "additionalProperties": false },
    });
    let odd = json!({ "name": "it's \"odd\"\u{202e}", "inputSchema": {} });
    let app = json!({ "id": "my-app", "name": "My\napp", "version": "1.0.0" });
    let text = written("Caps", &app, &[words.clone(), odd.clone(), reset.clone()]);
    assert_eq!(text, written("Caps", &app, &[reset, words, odd]));
    assert_eq!(
        text,
        r#"// Written by `caphost types`: what My app 1.0.0 (my-app) offers. Write it again rather than change it.

export type Caps = {
  /** @deprecated Reload *\/ instead */
  "app.reset": () => unknown;
  "it's \"odd\"\u202e": (params: Record<string, unknown>) => unknown;
  /**
   * Counts words.
   *
   * Of documents.
   */
  "text.words": (params: {
    urls: string[];
  }) => {
    /** All of them */
    words: number;
  };
};
"#
    );
}

#[test]
fn what_schemas_share_within_themselves_is_a_type_of_its_own() {
    let tree = json!({ "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/tree-node" } } } });
    let schema = json!({ "$ref": "#/$defs/tree-node", "$defs": { "tree-node": tree } });
    let capability =
        json!({ "name": "tree.walk", "inputSchema": schema, "outputSchema": { "$ref": "#" } });
    let text = written("TreeWalkParamsTreeNode", &json!({}), &[capability]);
    let expected = r#"export type TreeWalkParamsTreeNode = {
  "tree.walk": (params: TreeWalkParamsTreeNode2) => unknown;
};

export type TreeWalkParamsTreeNode2 = {
  children?: TreeWalkParamsTreeNode2[] | undefined;
};
"#;
    assert!(text.ends_with(expected), "{text}");
}

#[test]
fn what_is_no_capability_is_left_out() {
    let text = written("Caps", &json!(null), &[json!(7), json!({ "name": 1 })]);
    assert!(text.ends_with("export type Caps = {\n};\n"), "{text}");
}

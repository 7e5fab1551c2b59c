use caphost::dialect::mcp::STATELESS;

use super::*;

fn capabilities(names: &[&str]) -> Vec<CapabilityInfo> {
    let one = |name: &&str| serde_json::from_value(json!({ "name": name })).unwrap();
    names.iter().map(one).collect()
}

fn offer(capabilities: Vec<CapabilityInfo>) -> Offer {
    let app = json!({ "id": "demo", "name": "Demo", "version": "1" });
    Offer::new(serde_json::from_value(app).unwrap(), capabilities)
}

fn listed(offer: &Offer, version: &Version) -> Vec<Value> {
    let all = offer.capabilities.iter().zip(offer.tool_names());
    all.map(|(it, name)| tool(it, name, version)).collect()
}

#[test]
fn a_capability_is_a_tool_of_a_plain_name() {
    let capability = serde_json::from_str(
        r#"{ "name": "export.pdf", "description": "d",
                 "inputSchema": { "type": "object", "required": ["html"] },
                 "outputSchema": { "type": "object" } }"#,
    );
    let offered = offer(vec![capability.unwrap()]);
    let input = json!({ "type": "object", "required": ["html"] });
    assert_eq!(
        listed(&offered, &STATELESS),
        [
            json!({ "name": "export_pdf", "title": "export.pdf", "description": "d",
                    "inputSchema": input, "outputSchema": { "type": "object" } })
        ]
    );
    let older = Version::named("2025-03-26").unwrap();
    assert_eq!(
        listed(&offered, older),
        [json!({ "name": "export_pdf", "description": "d", "inputSchema": input })]
    );
    assert_eq!(
        listed(&offer(capabilities(&["a"])), &STATELESS),
        [json!({ "name": "a", "inputSchema": { "type": "object" } })]
    );
}

#[test]
fn the_title_of_a_capability_is_the_title_of_its_tool_where_the_version_has_titles() {
    let title = r#"{ "name": "export.pdf", "title": "Export as PDF" }"#;
    let offered = offer(vec![serde_json::from_str(title).unwrap()]);
    assert_eq!(listed(&offered, &STATELESS)[0]["title"], "Export as PDF");
    let older = Version::named("2025-03-26").unwrap();
    assert_eq!(listed(&offered, older)[0].get("title"), None);
}

#[test]
fn the_hints_of_a_capability_are_annotations_of_its_tool_where_the_version_has_annotations() {
    let hints = json!({ "readOnlyHint": false, "destructiveHint": true });
    let capability = json!({ "name": "a", "annotations": hints, "confirm": "always" });
    let offered = offer(vec![serde_json::from_value(capability).unwrap()]);
    for name in ["2025-03-26", "2026-07-28"] {
        let version = Version::named(name).unwrap();
        assert_eq!(listed(&offered, version)[0]["annotations"], hints);
    }
    let newest = &listed(&offered, &STATELESS)[0];
    assert_eq!(newest["_meta"], json!({ "caphost/confirm": "always" }));
    let oldest = Version::named("2024-11-05").unwrap();
    assert_eq!(listed(&offered, oldest)[0].get("annotations"), None);
}

#[test]
fn a_rule_that_the_schema_cannot_say_is_in_the_description() {
    let capability = serde_json::from_str(
        r#"{ "name": "a", "description": "d", "inputSchema": { "anyOf": [{ "required": ["b"] }] } }"#,
    );
    let [tool] = &listed(&offer(vec![capability.unwrap()]), &STATELESS)[..] else {
        panic!("there is one");
    };
    let description = tool["description"].as_str().unwrap();
    assert!(description.starts_with("d\n\n") && description.contains("required"));
}

#[test]
fn a_tool_is_found_by_its_own_name_or_by_the_listed_one() {
    let offered = offer(capabilities(&["export.pdf", "a.b", "a_b", "画像"]));
    let all = Assortment::of([Arc::new(offered.clone())]);
    let found = |name: &str| find(&all, None, name).map(|(_, it)| it.name.clone());
    for (capability, name) in offered.capabilities.iter().zip(offered.tool_names()) {
        assert_eq!(found(name).as_ref(), Ok(&capability.name));
        assert_eq!(found(&capability.name).as_ref(), Ok(&capability.name));
    }
    let unknown = found("nope").unwrap_err();
    assert_eq!(
        (unknown.code, &*unknown.message),
        (-32602, "Unknown tool: nope")
    );
    let near = found("export_pfd").unwrap_err();
    assert_eq!(
        near.message,
        "Unknown tool: export_pfd. Did you mean: export_pdf?"
    );
    assert!(found("").is_err());
    let long = found(&"é".repeat(100_000)).unwrap_err();
    assert!(long.message.len() < 300);
}

#[test]
fn the_fingerprint_changes_with_the_list() {
    let fingerprint = |capabilities| offer(capabilities).fingerprint();
    let one = fingerprint(capabilities(&["a", "b"]));
    assert_eq!(one, fingerprint(capabilities(&["a", "b"])));
    assert_ne!(one, fingerprint(capabilities(&["a"])));
    let described = serde_json::from_str(r#"{ "name": "a", "description": "new" }"#).unwrap();
    assert_ne!(
        fingerprint(capabilities(&["a"])),
        fingerprint(vec![described])
    );
}

use serde_json::json;

use super::*;

fn toolset(change: impl FnOnce(&mut Value)) -> Result<Toolset, String> {
    let mut value = json!({
        "name": "demo tools", "endpoint": "http://127.0.0.1:1/invoke",
        "tools": [
            { "name": "b", "description": "B", "inputSchema": { "type": "object" } },
            { "name": "a-1_Z", "description": "A", "inputSchema": {} },
        ],
    });
    change(&mut value);
    read(value.to_string().as_bytes(), &egress())
}

fn egress() -> Egress {
    Egress::besides(&"http://127.0.0.1:2/rap".parse().unwrap())
}

#[test]
fn an_endpoint_is_on_the_host_of_the_server_or_at_a_public_address() {
    let at = |endpoint: &str| toolset(|it| it["endpoint"] = endpoint.into());
    for good in ["http://127.0.0.1:9/x", "https://tools.example/invoke"] {
        assert!(at(good).is_ok(), "{good}");
    }
    for internal in [
        "http://127.0.0.2/x",
        "http://[::1]/x",
        "http://169.254.169.254/latest",
        "http://10.0.0.1/",
    ] {
        let error = at(internal).unwrap_err();
        assert!(error.contains("internal address"), "{internal}: {error}");
    }
}

#[test]
fn a_megabyte_from_a_tool_server_is_not_logged() {
    let huge = "x".repeat(1 << 20);
    for bad in [
        toolset(|it| it["tools"] = huge.as_str().into()),
        toolset(|it| it["tools"][0]["name"] = huge.as_str().into()),
        toolset(|it| it["endpoint"] = format!("http://10.0.0.1/{huge}").into()),
    ] {
        let error = bad.unwrap_err();
        assert!(error.len() < 1_000, "{}", error.len());
    }
}

#[test]
fn a_toolset_becomes_capabilities() {
    let toolset = toolset(|_| {}).unwrap();
    let found = capabilities(&toolset);
    assert_eq!(found.keys().collect::<Vec<_>>(), ["a-1_Z", "b"]);
    assert_eq!(found["b"]["inputSchema"], json!({ "type": "object" }));
    assert_eq!(found["b"]["available"], true);
}

#[test]
fn one_bad_part_makes_all_of_it_bad() {
    type Change = fn(&mut Value);
    let changes: [Change; 9] = [
        |it| it["name"] = "".into(),
        |it| it["name"] = "x".repeat(129).into(),
        |it| it["endpoint"] = "/invoke".into(),
        |it| it["endpoint"] = "ftp://a/invoke".into(),
        |it| it["tools"] = json!([]),
        |it| it["tools"][1]["name"] = "b".into(),
        |it| it["tools"][1]["name"] = "a b".into(),
        |it| it["tools"][1]["inputSchema"] = "none".into(),
        |it| *it = json!([]),
    ];
    for (index, change) in changes.into_iter().enumerate() {
        assert!(toolset(change).is_err(), "{index}");
    }
    assert!(read(b"<html>", &egress()).is_err());
}

#[test]
fn an_app_id_is_plain_and_unique() {
    assert_eq!(app_id("demo tools/é", |_| false), "demo-tools--");
    let taken = ["a", "a-2"];
    assert_eq!(app_id("a", |id| taken.contains(&id)), "a-3");
    assert_eq!(app_id(&"x".repeat(128), |_| false).len(), 100);
}

use super::*;

fn found(text: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    members(text.as_bytes(), |key, value| {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        found.push((key.to_string(), text(value)));
    });
    found
}

#[test]
fn depth_counts_brackets_outside_strings() {
    assert!(!too_deep(br#"{"a":["[[[[[[", "\"[[["]}"#, 2));
    assert!(too_deep(br#"{"a":[[]]}"#, 2));
    assert!(too_deep(&[b'['; 10_000], 128));
    assert!(!too_deep(b"]]]][[", 2));
    assert!(!too_deep(br#""unclosed \"#, 1));
}

#[test]
fn members_are_found_around_nested_values() {
    let pairs = found(r#" { "type" : "x\"y", "payload":{"id":[1,"}"]} , "id": 7 }"#);
    let expected = [
        ("type", r#""x\"y""#),
        ("payload", r#"{"id":[1,"}"]}"#),
        ("id", "7"),
    ];
    assert_eq!(
        pairs,
        expected.map(|(key, value)| (key.to_string(), value.to_string()))
    );
}

#[test]
fn a_key_is_the_same_however_it_is_escaped() {
    let pairs = found(r#"{"call\u0049d":1,"a\"b":2}"#);
    let keys: Vec<_> = pairs.iter().map(|(key, _)| &**key).collect();
    assert_eq!(keys, ["callId", "a\"b"]);
}

#[test]
fn a_text_that_is_cut_off_gives_what_came_before() {
    assert_eq!(found(r#"{"id":"1","payload":{"a":[1,2"#).len(), 1);
    assert_eq!(found(r#"{"id":"1"#).len(), 0);
    assert_eq!(found(r#"{"id":12"#).len(), 0);
    assert_eq!(found(r#"{"id":"1\"#).len(), 0);
    for hostile in [
        "",
        "{",
        "[",
        "{\"",
        "{\"a\"",
        "{\"a\":",
        "{,}",
        "{\"a\":}",
        "{\"a\":]}",
        "nul",
    ] {
        assert_eq!(found(hostile).len(), 0, "{hostile}");
    }
}

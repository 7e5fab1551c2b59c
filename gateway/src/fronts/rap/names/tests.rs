use super::*;

#[test]
fn an_identifier_is_short_printable_text() {
    for good in [
        "a",
        "thread_xyz",
        "0",
        " ",
        "a..b",
        "…",
        "漢字",
        "call:1",
        &"x".repeat(256),
        &"漢".repeat(256),
    ] {
        assert_eq!(
            Identifier::new(good).map(|id| id.to_string()),
            Ok(good.to_string())
        );
    }
}

#[test]
fn what_is_no_identifier() {
    let long = format!("at most {MAX_IDENTIFIER_CHARS} characters");
    for (bad, why) in [
        ("", "empty"),
        (&*"x".repeat(257), &*long),
        (&"漢".repeat(257), &long),
        (&"x".repeat(10_000), &long),
        ("a\0", "control characters"),
        ("a\nb", "control characters"),
        ("\u{85}", "control characters"),
        ("a/b", "no `/`"),
        ("../../etc/passwd", "no `/`"),
        ("..\\x", "no `/`"),
        ("..", "no `/`"),
        (".", "no `/`"),
    ] {
        let error = Identifier::new(bad).unwrap_err();
        assert!(error.contains(why), "{bad:?}: {error}");
    }
}

#[test]
fn an_identifier_is_read_from_a_string_only() {
    let read = |text: &str| serde_json::from_str::<Identifier>(text);
    assert_eq!(read(r#""aé""#).unwrap().as_str(), "aé");
    for bad in ["1", "null", "[]", "{}", "true", r#""\u0000""#, r#""a\/b""#] {
        assert!(read(bad).is_err(), "{bad}");
    }
}

#[test]
fn tool_names() {
    assert!(is_tool_name("A-z_9") && is_tool_name(&"x".repeat(128)));
    assert!(!is_tool_name("") && !is_tool_name("a.b") && !is_tool_name(&"x".repeat(129)));
}

use super::*;

fn named(names: &[&str]) -> Vec<String> {
    let given = tool_names(names);
    let given = given.iter().zip(names);
    given
        .map(|(it, own)| it.as_deref().unwrap_or(own).to_string())
        .collect()
}

#[test]
fn names_are_unique_and_every_client_takes_them() {
    let (long, longer) = ("x".repeat(80), format!("{}y", "x".repeat(79)));
    let names = [
        "a.b",
        "a_b",
        "a b",
        "export.pdf",
        "画像",
        "文書",
        "画",
        "...",
        &long,
        &longer,
        "é",
        "already-fine_1",
    ];
    let given = named(&names);
    let unique: HashSet<_> = given.iter().collect();
    assert_eq!(unique.len(), names.len(), "{given:?}");
    for name in &given {
        let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
        assert!(
            (1..=64).contains(&name.len()) && name.chars().all(is_plain),
            "{name}"
        );
    }
    assert_eq!(given[1], "a_b", "what is fine stays");
    assert_eq!(given[3], "export_pdf");
    assert_eq!(given[11], "already-fine_1");
    assert!(given[0].starts_with("a_b_") && given[4].starts_with("tool_"));
}

#[test]
fn the_order_changes_no_name() {
    let names = ["a.b", "a b", "a/b", "文書", "画像"];
    let mut turned = names;
    turned.reverse();
    let mut other = named(&turned);
    other.reverse();
    assert_eq!(named(&names), other);
}

#[test]
fn a_name_that_is_anothers_hash_is_told_apart() {
    let first = named(&["a.b", "a b"]);
    let names = ["a.b", "a b", &*first[0]];
    let given = named(&names);
    assert_eq!(given[2], first[0]);
    assert_ne!(given[0], first[0]);
}

use serde_json::json;

use super::*;

#[test]
fn nothing_an_app_says_reaches_the_terminal_as_a_command() {
    assert_eq!(printable("plain é 漢\nline"), "plain é 漢\nline");
    let nasty = "a\x1b[2Jb\u{9b}31mc\u{202e}d\r\n\te\x07";
    let said = printable(nasty);
    assert_eq!(said, "a\u{fffd}[2Jb\u{fffd}31mc\u{fffd}d\n e\u{fffd}");
    assert_eq!(one_line("  two\n\n lines\t "), "two lines");
}

#[test]
fn json_says_the_same_in_harmless_characters() {
    let value = json!({ "a\u{9b}": "x\x1b[2J\u{202e}é\n", "list": [1, null] });
    let text = json(&value);
    assert!(!text.chars().any(|it| it != '\n' && commands(it)), "{text}");
    assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
}

fn rows() -> Vec<Vec<String>> {
    let row = |cells: [&str; 2]| cells.map(String::from).to_vec();
    vec![
        row(["a.b", "One two three four five six"]),
        row(["long.name", ""]),
        row(["漢字", "wide"]),
    ]
}

#[test]
fn columns_are_aligned() {
    let expected = "a.b        One two three four five six\nlong.name\n漢字       wide";
    assert_eq!(lay_out(&rows(), None), expected);
}

#[test]
fn the_last_column_is_wrapped_where_there_is_room() {
    let wrapped = lay_out(&rows(), Some(32));
    let indent = " ".repeat(11);
    assert!(
        wrapped.starts_with(&format!(
            "a.b        One two three four\n{indent}five six\n"
        )),
        "{wrapped}"
    );
    assert_eq!(lay_out(&rows(), Some(20)), lay_out(&rows(), None));
}

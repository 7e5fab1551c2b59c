//! Checks that the JavaScript, the types and the page on errors agree with the table of codes.

use std::fmt::Write;
use std::fs;

use super::Code;

/// If this variable is set, the test rewrites the files.
const UPDATE: &str = "CAPHOST_UPDATE_DOCS";

type Place = (&'static str, &'static str, &'static str, fn() -> String);

/// Each file, the text before and after its codes, and the function that writes the codes.
const PLACES: [Place; 3] = [
    (
        "src/web/js/codes.js",
        "export const RETRYABLE = [\n",
        "];\n",
        script,
    ),
    (
        "npm/types.d.ts",
        "  // Codes: written by a test.\n",
        "  // End of the codes.\n",
        types,
    ),
    (
        "docs/reference/errors.md",
        "<!-- codes: written by a test -->\n",
        "<!-- end of the codes -->\n",
        page,
    ),
];

fn lines(line: impl Fn(&mut String, &str, bool, &str)) -> String {
    let mut text = String::new();
    for (code, retryable, meaning) in Code::TABLE {
        line(&mut text, code, *retryable, meaning);
    }
    text
}

fn script() -> String {
    lines(|text, code, retryable, _| {
        if retryable {
            writeln!(text, "  '{code}',").unwrap();
        }
    })
}

fn types() -> String {
    lines(|text, code, _, meaning| writeln!(text, "  /** {meaning} */\n  | '{code}'").unwrap())
}

fn page() -> String {
    let head = "| Code | Retryable | Means |\n|---|---|---|\n";
    let rows = lines(|text, code, retryable, meaning| {
        let retryable = if retryable { "yes" } else { "no" };
        writeln!(text, "| `{code}` | {retryable} | {meaning} |").unwrap();
    });
    format!("\n{head}{rows}\n")
}

#[test]
fn codes_are_the_same_wherever_they_are_written() {
    for (file, begin, end, write) in PLACES {
        let path = format!("{}/{file}", env!("CARGO_MANIFEST_DIR"));
        let content = fs::read_to_string(&path).unwrap();
        let (before, rest) = content.split_once(begin).expect("the beginning is marked");
        let (written, after) = rest.split_once(end).expect("the end is marked");
        let expected = write();
        if written == expected {
            continue;
        }
        assert!(
            std::env::var_os(UPDATE).is_some(),
            "{file} is not up to date:\n{UPDATE}=1 cargo test --lib codes_are_the_same\n{written}"
        );
        fs::write(path, format!("{before}{begin}{expected}{end}{after}")).unwrap();
    }
}

#[test]
fn an_error_is_shown_with_its_code() {
    assert_eq!(Code::TIMEOUT.to_string(), "TIMEOUT");
    let error = super::Error::<()>::new(Code::from("TOO_LARGE"), "no");
    assert_eq!(error.to_string(), "TOO_LARGE: no");
    let text: &str = "TIMEOUT";
    assert!(*text == Code::TIMEOUT && *text != Code::CANCELLED);
}

//! The output of the macro for valid functions, and its errors for invalid functions.

use proc_macro2::TokenStream;

use crate::expand::capability;

/// The output for a function, without spaces, and the compiler's messages as they are.
fn expanded(options: &str, function: &str) -> (String, Vec<String>) {
    let tokens = |text: &str| text.parse::<TokenStream>().unwrap();
    let text = capability(tokens(options), tokens(function)).to_string();
    let mut errors = Vec::new();
    for part in text.split("compile_error ! {").skip(1) {
        let message = part.trim().trim_start_matches('"');
        errors.extend(message.split("\" }").next().map(String::from));
    }
    (text.split_whitespace().collect(), errors)
}

fn errors(options: &str, function: &str) -> Vec<String> {
    expanded(options, function).1
}

const GOOD: &str =
    "async fn f(params: Params, context: CallContext) -> Result<u32, Error> { Ok(1) }";

#[test]
fn a_function_becomes_a_capability_with_its_name_and_documentation() {
    let documented = format!("/// Counts\n/// primes.\n///\n/// Slowly.\n{GOOD}");
    let (text, errors) = expanded("", &documented);
    assert!(errors.is_empty());
    assert!(text.contains(r#"Capability::new("f").description("Countsprimes.\nSlowly.")"#));
    assert!(text.contains("Described::<Params>::HERE).input("));
    assert!(text.contains("Described::<<Result<u32,Error>as"));
}

#[test]
fn options_override_the_function() {
    let options = r#"name = "a.b", title = "Alphabet", description = "It", concurrency = 2, confirm = "always", read_only = true, open_world = false"#;
    let (text, errors) = expanded(options, &format!("/// Other.\n{GOOD}"));
    assert!(errors.is_empty());
    assert!(
        text.contains(
            r#"Capability::new("a.b").title("Alphabet").description("It").concurrency(2).confirm(::caphost::Confirm::Always).read_only(true).open_world(false)"#
        )
    );
}

#[test]
fn parameters_and_context_may_be_left_out() {
    for (function, call) in [
        ("async fn f() -> R {}", "f().await"),
        ("async fn f(c: CallContext) -> R {}", "f(context).await"),
        (
            "async fn f(c: caphost::CallContext) -> R {}",
            "f(context).await",
        ),
        ("async fn f(p: P) -> R {}", "f(params).await"),
        (
            "async fn f(P { a }: P, _: CallContext) -> R {}",
            "f(params,context).await",
        ),
        ("async fn r#f(p: P) -> R {}", "r#f(params).await"),
    ] {
        let (text, errors) = expanded("", function);
        assert!(errors.is_empty(), "{function} {errors:?}");
        assert!(text.contains(call), "{function}");
        assert!(text.contains(r#"Capability::new("f")"#), "{function}");
    }
}

#[test]
fn a_function_that_does_not_await_is_for_workers() {
    let (text, errors) = expanded("", "fn f(p: P, c: CallContext) -> R {}");
    assert!(errors.is_empty());
    assert!(text.contains(r#"worker::serve_sync("f",|params:P,context:::caphost::CallContext|"#));
    assert!(text.contains("result(f(params,context))"));
    assert!(text.contains("pubfncapability()"));
    // It would hold the thread of the page.
    assert!(!text.contains("pubfnregister"));
    assert!(expanded("", GOOD).0.contains("pubfnregister"));
}

#[test]
fn errors_are_plain_sentences() {
    for (function, said) in [
        (
            "async fn f() {}",
            "a capability returns a `Result`, such as `Result<(), caphost::Error>`",
        ),
        (
            "async fn f<T>(p: T) -> R {}",
            "a capability has no generic parameters: agents call one function",
        ),
        (
            "async fn f(&self) -> R {}",
            "a capability cannot be a method: it is a function of its own",
        ),
        ("struct F;", "only a function is a capability"),
    ] {
        assert_eq!(errors("", function), [said], "{function}");
    }
    for params in [
        "u32",
        "f64",
        "bool",
        "String",
        "()",
        "(u32, u32)",
        "[u8; 4]",
    ] {
        let said = errors("", &format!("async fn f(p: {params}) -> R {{}}"));
        let object = "parameters are an object: take a struct, whose fields are what callers name";
        assert_eq!(said, [object], "{params}");
    }
    for function in [
        "async fn f(a: P, b: u32) -> R {}",
        "async fn f(c: CallContext, p: P) -> R {}",
        "async fn f(p: P, c: CallContext, more: u32) -> R {}",
    ] {
        let [said] = &errors("", function)[..] else {
            panic!("{function}");
        };
        assert!(said.starts_with("a capability takes its parameters as one struct"));
    }
    assert!(errors("", "async fn f(p: &str) -> R {}")[0].starts_with("a capability owns"));
}

#[test]
fn all_errors_are_reported_at_once() {
    assert_eq!(errors("", "fn f<T>(a: u32, b: T) {}").len(), 4);
}

#[test]
fn a_function_with_errors_stays_in_the_output() {
    assert!(expanded("", "fn f() {}").0.starts_with("fnf(){}"));
}

#[test]
fn the_error_for_a_wrong_option_lists_the_valid_options() {
    let said = errors("names = \"a\"", GOOD);
    assert_eq!(
        said,
        [
            "there is no such option: a capability has `name`, `title`, `description`, `concurrency`, `confirm`, `read_only`, `destructive`, `idempotent` and `open_world`"
        ]
    );
    assert_eq!(errors("name = \"\"", GOOD), ["the name is empty"]);
    assert_eq!(errors("name = 7", GOOD), ["expected string literal"]);
    assert_eq!(
        errors("confirm = \"sometimes\"", GOOD),
        ["`confirm` is `always` or `destructive`"]
    );
    assert_eq!(
        errors("concurrency = \"2\"", GOOD),
        ["expected integer literal"]
    );
}

use clap::{CommandFactory, FromArgMatches};

use super::*;
use crate::cli::Arguments;

/// The options as text, after the file is read.
fn parsed(toml: &str, arguments: &[&str]) -> Result<String, String> {
    let table = toml.parse().unwrap();
    let command = with_defaults(Arguments::command(), &table, Path::new("/etc/caphost"))?;
    let given = ["caphost", "serve"].iter().chain(arguments);
    let matches = command.try_get_matches_from(given).unwrap();
    Ok(format!(
        "{:?}",
        Arguments::from_arg_matches(&matches).unwrap()
    ))
}

#[test]
fn a_key_is_the_long_name_of_an_option() {
    let said = parsed(
        "port = 1\nmax_depth = \"7\"\nping-interval = 1.5\nlog = \"info\"\nlog-format = \"json\"",
        &[],
    );
    let said = said.unwrap();
    for part in ["port: 1,", " depth: 7,", "1.5s", "\"info\"", "Json"] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn the_command_line_wins() {
    let said = parsed(
        "port = 1\nallow-origin = [\"https://a.b\", \"https://c.d\"]",
        &["--port", "2", "--allow-origin", "null"],
    );
    let said = said.unwrap();
    assert!(
        said.contains("port: 2,") && said.contains("[\"null\"]"),
        "{said}"
    );
}

#[test]
fn a_list_may_be_one_string_and_paths_start_at_the_file() {
    let said = parsed(
        "allow-origin = \"https://a.b\"\nwww = \"www\"\npackage = \"/pkg\"",
        &[],
    );
    let said = said.unwrap();
    for part in ["[\"https://a.b\"]", "\"/etc/caphost/www\"", "\"/pkg\""] {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_mistake_names_its_key_and_what_is_expected_and_no_value() {
    for (toml, expected) in [
        (
            "prot = 1",
            "`prot`: there is no such option; expected `port`?",
        ),
        (
            "zzz = 1",
            "`zzz`: there is no such option; expected the long name",
        ),
        ("config = \"x\"", "`config`: there is no such option"),
        (
            "[x]\nhidden = 1",
            "`x`: there are no tables here; expected the long name",
        ),
        (
            "max_depth = 1\nmax-depth = 2",
            "`max-depth`: it is there twice, with `-` and with `_`",
        ),
        ("port = 70000", "`port`: 70000 is not in 0..=65535"),
        (
            "port = \"x\"",
            "`port`: expected a whole number (PORT), found a string",
        ),
        (
            "host = 1",
            "`host`: expected a string (HOST), found a number",
        ),
        (
            "ping-interval = [1]",
            "`ping-interval`: expected a number or a string (TIME), found a list",
        ),
        (
            "ping-interval = \"soon\"",
            "`ping-interval`: expected a time such as",
        ),
        (
            "log-format = \"xml\"",
            "`log-format`: expected one of text, json",
        ),
        ("token = [true]", "`token`: expected a list of strings"),
        ("token = [\"hidden\"]", "`token`: expected "),
        ("token = \"hidden==\"", "`token`: expected "),
        (
            "token = [\"agent=hidden,b\"]",
            "`token`: a value may not contain `,`: write a list",
        ),
        (
            "max-depth.hidden = 3",
            "`max-depth`: expected a number or a string (N), found a table",
        ),
    ] {
        let said = parsed(toml, &[]).unwrap_err();
        assert!(
            said.starts_with(expected) && !said.contains("hidden"),
            "{toml}: {said}"
        );
    }
}

#[test]
fn what_is_not_toml_is_not_quoted() {
    let text = "port = 1\ntoken = [\"agent=hidden";
    let said = not_toml(text, &text.parse::<Table>().unwrap_err());
    assert!(
        said.starts_with("line 2: not TOML: ") && !said.contains("hidden"),
        "{said}"
    );
}

#[test]
fn help_does_not_show_what_the_file_says() {
    let table = "token = \"agent=hidden\"".parse().unwrap();
    let mut command = with_defaults(Arguments::command(), &table, Path::new("")).unwrap();
    command.build();
    let help = command
        .find_subcommand_mut(SUBCOMMAND)
        .unwrap()
        .render_long_help();
    assert!(!help.to_string().contains("hidden"));
}

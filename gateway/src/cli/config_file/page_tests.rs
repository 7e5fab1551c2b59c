//! Checks that `docs/configuration.md` lists the options and limits of the code.

use std::any::TypeId;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::{Arg, CommandFactory};

use super::{is_key, is_list, with_defaults};
use crate::broker::calls::{ID_CHARS, PROGRESS_BYTES, REASON_CHARS};
use crate::broker::{QUESTION_BYTES, QUESTIONS};
use crate::cli::Arguments;
use crate::fronts::body::LONGEST_PAUSE;
use crate::fronts::contextforge;
use crate::fronts::mcp::{ENDED, LIFETIME, LISTENING};
use crate::fronts::rap::runtime::RuntimeLimits;
use crate::fronts::rap::runtime::client::{NOTICES_AT_ONCE, TOOLSET_BYTES, TOOLSET_TIMEOUT};
use crate::fronts::rap::server::send_limits::{IN_ALL, PER_HOST, PER_TOKEN, PER_URL};
use crate::fronts::socket::bounds::{REFUSED_AT_ONCE, REFUSED_PER_SECOND};
use crate::fronts::socket::bursts::AT_ONCE;
use crate::fronts::socket::messages::TINY_PER_SECOND;
use crate::fronts::socket::reader::{ASIDE_PER_SECOND, UPDATES_AT_ONCE, UPDATES_PER_SECOND};
use crate::fronts::socket::stream::{SLOWEST, UNFINISHED_TIME};
use crate::gateway::{LIST_BYTES, NOTICES};
use crate::http::connections::BUFFERED;
use crate::http::places::{SPARE, SPARE_TIME};
use crate::limits::REGISTRATION_BYTES;
use crate::tokens::SECRET_CHARS;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
const OPTIONS: [&str; 2] = [
    "<!-- options: written by a test -->\n",
    "<!-- end of the options -->\n",
];
const BOUNDS: [&str; 2] = [
    "<!-- bounds: written by a test -->\n",
    "<!-- end of the bounds -->\n",
];

/// The options of `serve` as Markdown, with a table for each heading of the help.
fn options() -> String {
    let mut command = Arguments::command();
    command.build();
    let serve = command.find_subcommand("serve").unwrap();
    let mut tables: Vec<(&str, String)> = Vec::new();
    for option in serve.get_arguments().filter(|it| it.get_env().is_some()) {
        let heading = option.get_help_heading().unwrap_or("General");
        let index = tables.iter().position(|(known, _)| *known == heading);
        let index = index.unwrap_or_else(|| {
            tables.push((heading, String::new()));
            tables.len() - 1
        });
        writeln!(tables[index].1, "{}", row(option)).unwrap();
    }
    let mut text = String::new();
    for (heading, rows) in tables {
        write!(
            text,
            "\n### {heading}\n\n| option | environment | default | meaning |\n|---|---|---|---|\n{rows}"
        )
        .unwrap();
    }
    text + "\n"
}

fn row(option: &Arg) -> String {
    let name = option.get_long().unwrap();
    let takes = option.get_action().takes_values();
    let value = option.get_value_names().filter(|_| takes);
    let value = value.map_or(String::new(), |names| format!(" {}", names.join(" ")));
    let environment = option.get_env().unwrap().to_string_lossy();
    let defaults = option.get_default_values().iter();
    let defaults: Vec<_> = defaults
        .map(|it| format!("`{}`", it.to_string_lossy()))
        .collect();
    let mut meaning = option
        .get_long_help()
        .or(option.get_help())
        .unwrap_or_else(|| panic!("--{name} says nothing"))
        .to_string()
        .replace('\n', " ");
    if !meaning.ends_with('.') {
        meaning.push('.');
    }
    let choices: Vec<_> = option.get_possible_values();
    let choices: Vec<_> = choices
        .iter()
        .map(|it| format!("`{}`", it.get_name()))
        .collect();
    let is_switch = option.get_value_parser().type_id() == TypeId::of::<bool>();
    if takes && !is_switch && !choices.is_empty() {
        write!(meaning, " One of {}.", choices.join(", ")).unwrap();
    }
    if is_list(option) {
        meaning.push_str(" A list in the file.");
    }
    let row = format!(
        "| `--{name}{value}` | `{environment}` | {} | {} |",
        defaults.join(", "),
        meaning.replace('|', "\\|")
    );
    row.replace("|  |", "| |")
}

/// All limits as a Markdown table: the options of `serve` that are a number, a size or a time, and the fixed
/// limits.
fn bounds() -> String {
    let mut command = Arguments::command();
    command.build();
    let serve = command.find_subcommand("serve").unwrap();
    let mut text = String::from("\n| bound | default | option |\n|---|---|---|\n");
    for option in serve.get_arguments() {
        let kind = option.get_value_names().and_then(|names| names.first());
        if !kind.is_some_and(|kind| ["N", "SIZE", "TIME"].contains(&&**kind)) {
            continue;
        }
        let help = option.get_help().unwrap().to_string();
        let what = help.split(". ").next().unwrap().trim_end_matches('.');
        let default = option.get_default_values().first().unwrap();
        let (default, name) = (default.to_string_lossy(), option.get_long().unwrap());
        writeln!(text, "| {what} | `{default}` | `--{name}` |").unwrap();
    }
    for (what, value) in fixed() {
        writeln!(text, "| {what} | `{value}` | fixed |").unwrap();
    }
    text + "\n"
}

/// The limits that are not options.
fn fixed() -> Vec<(&'static str, String)> {
    let size = |bytes: usize| match bytes {
        mebibytes if mebibytes % (1 << 20) == 0 => format!("{}MiB", bytes >> 20),
        _ => format!("{}KiB", bytes >> 10),
    };
    vec![
        (
            "The largest `app/register` and `app/update`, and the largest message of an app that has not registered",
            size(REGISTRATION_BYTES),
        ),
        (
            "Frames per second of one WebSocket that are no message: pings, pongs, binary ones, and text that cannot be read. Beyond it the connection waits",
            ASIDE_PER_SECOND.to_string(),
        ),
        (
            "Frames per second of all WebSockets of one token, or of one address without a token, that are no message or a request that is refused at once, and how many may come at once. Beyond it they wait",
            format!("{REFUSED_PER_SECOND}, {REFUSED_AT_ONCE}"),
        ),
        (
            "Fragments of less than 1 KiB per second of one WebSocket, but for the last of each message. Beyond it the connection waits",
            TINY_PER_SECOND.to_string(),
        ),
        (
            "`app/update`s per second of one connection, and how many may come at once. Beyond it the connection waits",
            format!("{UPDATES_PER_SECOND}, {UPDATES_AT_ONCE}"),
        ),
        (
            "How long the rest of a WebSocket message of more than 64 KiB may take to come, and the bytes a second of one that may take longer",
            format!("{UNFINISHED_TIME:?}, {}", size(SLOWEST)),
        ),
        ("The head of an HTTP request", size(BUFFERED)),
        (
            "HTTP connections beyond the others on which only the health routes are answered",
            SPARE.to_string(),
        ),
        ("How long each of those is kept", format!("{SPARE_TIME:?}")),
        (
            "Results sent to callback URLs at once, and of them those of one token, where there are tokens",
            format!("{}, {}", IN_ALL, PER_TOKEN),
        ),
        (
            "The same, to one URL, and to one port of a host",
            format!("{PER_URL}, {PER_HOST}"),
        ),
        ("A list of runs", size(LIST_BYTES)),
        (
            "Streams of one MCP session that listen",
            LISTENING.to_string(),
        ),
        (
            "How long an MCP session lives at most",
            format!("{}h", LIFETIME.as_secs() / 3_600),
        ),
        (
            "MCP sessions that their clients have ended, and that are remembered until then",
            ENDED.to_string(),
        ),
        (
            "Notices of cancels that wait for a session that does not read them",
            NOTICES.to_string(),
        ),
        (
            "Questions of an app that one agent has not answered, unless `--max-in-flight` is less. Beyond that, the oldest is forgotten",
            QUESTIONS.to_string(),
        ),
        (
            "What is kept of the questions of all apps of one owner that are not answered. Beyond that, the agent's oldest are forgotten, or the next is refused",
            size(QUESTION_BYTES),
        ),
        (
            "Characters that are kept of a run's ids, of the name it calls and of its error's code",
            ID_CHARS.to_string(),
        ),
        (
            "Characters that are kept of a run's reason",
            REASON_CHARS.to_string(),
        ),
        (
            "The largest progress of a run that is kept",
            size(PROGRESS_BYTES),
        ),
        (
            "Messages of one WebSocket that are read before others have their turn",
            AT_ONCE.to_string(),
        ),
        (
            "How long nothing of an HTTP body may come",
            format!("{LONGEST_PAUSE:?}"),
        ),
        (
            "The body of a request to the cancellation API",
            size(contextforge::BODY_BYTES),
        ),
        (
            "Characters of a token's secret, at least, unless the gateway listens on loopback only",
            SECRET_CHARS.to_string(),
        ),
        ("The toolset of a RAP tool server", size(TOOLSET_BYTES)),
        (
            "How long a RAP tool server may take to answer with its toolset",
            format!("{TOOLSET_TIMEOUT:?}"),
        ),
        (
            "Invocations sent to one RAP tool server at once",
            RuntimeLimits::default().invocations_at_once.to_string(),
        ),
        (
            "Notifications sent to one RAP tool server at once",
            NOTICES_AT_ONCE.to_string(),
        ),
    ]
}

/// If this variable is set, the test rewrites the page.
const UPDATE: &str = "CAPHOST_UPDATE_DOCS";

#[test]
fn the_page_lists_every_option_and_every_bound() {
    hold_to(OPTIONS, options());
    hold_to(BOUNDS, bounds());
}

fn hold_to([begin, end]: [&str; 2], expected: String) {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(begin).expect("the beginning is marked");
    let (listed, after) = rest.split_once(end).expect("the end is marked");
    if listed == expected {
        return;
    }
    assert!(
        std::env::var_os(UPDATE).is_some(),
        "docs/configuration.md is not up to date:\n\
         {UPDATE}=1 cargo test --package caphost-gateway --lib page_tests\n{}",
        expected
            .lines()
            .filter(|line| !listed.lines().any(|it| it == *line))
            .collect::<Vec<_>>()
            .join("\n")
    );
    let page = format!("{before}{begin}{expected}{end}{after}");
    fs::write(PAGE, page).unwrap();
}

#[test]
fn every_option_of_serve_can_be_set_in_the_environment() {
    let mut command = Arguments::command();
    command.build();
    let serve = command.find_subcommand("serve").unwrap();
    for option in serve.get_arguments().filter(|it| is_key(it)) {
        let name = option.get_long().unwrap();
        assert!(option.get_env().is_some(), "--{name}");
    }
}

#[test]
fn the_file_on_the_page_is_right() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (_, rest) = page.split_once("```toml\n").expect("there is a file");
    let (file, _) = rest.split_once("```").expect("it ends");
    let command = Arguments::command();
    let read = with_defaults(command, &file.parse().unwrap(), Path::new(""));
    let matches = read.unwrap().try_get_matches_from(["caphost", "serve"]);
    assert!(matches.is_ok(), "{:?}", matches.err());
}

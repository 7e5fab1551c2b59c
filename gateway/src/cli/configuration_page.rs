//! Holds `docs/configuration.md` to the options there are.

use std::any::TypeId;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use clap::{Arg, CommandFactory};

use super::{Arguments, config_file};

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/configuration.md");
const BEGIN: &str = "<!-- options: written by a test -->\n";
const END: &str = "<!-- end of the options -->\n";

/// The options of `serve` as Markdown, one table for each heading of its help.
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
    if config_file::is_list(option) {
        meaning.push_str(" A list in the file.");
    }
    let row = format!(
        "| `--{name}{value}` | `{environment}` | {} | {} |",
        defaults.join(", "),
        meaning.replace('|', "\\|")
    );
    row.replace("|  |", "| |")
}

/// Set to have the page rewritten instead.
const UPDATE: &str = "CAPHOST_UPDATE_DOCS";

#[test]
fn the_page_lists_every_option() {
    let page = fs::read_to_string(PAGE).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("the beginning is marked");
    let (listed, after) = rest.split_once(END).expect("the end is marked");
    let expected = options();
    if listed == expected {
        return;
    }
    assert!(
        std::env::var_os(UPDATE).is_some(),
        "docs/configuration.md is not up to date:\n\
         {UPDATE}=1 cargo test --package caphost-gateway --lib configuration_page\n{}",
        expected
            .lines()
            .filter(|line| !listed.lines().any(|it| it == *line))
            .collect::<Vec<_>>()
            .join("\n")
    );
    fs::write(PAGE, format!("{before}{BEGIN}{expected}{END}{after}")).unwrap();
}

#[test]
fn every_option_of_serve_can_be_set_in_the_environment() {
    let mut command = Arguments::command();
    command.build();
    let serve = command.find_subcommand("serve").unwrap();
    for option in serve.get_arguments().filter(|it| config_file::is_key(it)) {
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
    let read = config_file::with_defaults(command, &file.parse().unwrap(), Path::new(""));
    let matches = read.unwrap().try_get_matches_from(["caphost", "serve"]);
    assert!(matches.is_ok(), "{:?}", matches.err());
}

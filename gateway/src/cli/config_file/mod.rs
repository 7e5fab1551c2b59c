//! The options of `caphost serve` in a TOML file. Each key is the long name of an option.
//!
//! A value of the file becomes the default of its option. So the command line and the environment win over
//! the file, and every new option automatically has a key. (An option that needs another option must check
//! this in [`Config::check`](crate::server::Config::check), because clap's own `requires` ignores defaults.)
//! No message quotes a value, because the value may be a secret.

#[cfg(test)]
mod page_tests;
#[cfg(test)]
mod tests;

use std::any::TypeId;
use std::error::Error;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Command};
use toml::{Table, Value};

/// The subcommand that accepts a file.
const SUBCOMMAND: &str = "serve";
/// The option that names the file.
const OPTION: &str = "config";

/// `command` with the file's values as defaults, if `arguments` or the environment name a file.
pub(super) fn apply(command: Command, arguments: &[OsString]) -> Result<Command, String> {
    let Some(path) = wanted(&command, arguments) else {
        return Ok(command);
    };
    let said = |what: String| format!("{}: {what}", path.display());
    let text = fs::read_to_string(&path).map_err(|error| said(format!("cannot read: {error}")))?;
    let table: Table = text
        .parse()
        .map_err(|error| said(not_toml(&text, &error)))?;
    let base = path.parent().unwrap_or(Path::new(""));
    with_defaults(command, &table, base).map_err(said)
}

/// The file to read. Other errors in the arguments are reported when the arguments are parsed for real.
fn wanted(command: &Command, arguments: &[OsString]) -> Option<PathBuf> {
    let lenient = command.clone().ignore_errors(true);
    let matches = lenient.try_get_matches_from(arguments).ok()?;
    let serve = matches.subcommand_matches(SUBCOMMAND)?;
    serve.get_one(OPTION).cloned()
}

/// `command` with the values of `table` as defaults. Relative paths start at `base`.
fn with_defaults(mut command: Command, table: &Table, base: &Path) -> Result<Command, String> {
    let mut bare = command.clone();
    bare.build();
    let serve = bare.find_subcommand(SUBCOMMAND).ok_or("nothing to serve")?;
    let serve = serve.clone().mut_args(|arg| arg.env(Resettable::Reset));
    for (key, value) in table {
        let name = key.replace('_', "-");
        let option = serve
            .get_arguments()
            .find(|arg| arg.get_long() == Some(&name) && is_key(arg))
            .ok_or_else(|| unknown(&serve, key, &name, value))?;
        if table
            .keys()
            .filter(|it| it.replace('_', "-") == name)
            .count()
            > 1
        {
            return Err(format!("`{key}`: it is there twice, with `-` and with `_`"));
        }
        let texts = texts(option, value).map_err(|what| format!("`{key}`: {what}"))?;
        for text in &texts {
            check(&serve, &name, text).map_err(|what| format!("`{key}`: {what}"))?;
        }
        if texts.is_empty() {
            continue;
        }
        let is_path = option.get_value_parser().type_id() == TypeId::of::<PathBuf>();
        let defaults = texts.into_iter().map(|text| match is_path {
            true => base.join(text).into_os_string(),
            false => text.into(),
        });
        let set = |arg: Arg| arg.default_values(defaults).hide_default_value(true);
        let id = option.get_id().clone();
        command = if option.is_global_set() {
            command.mut_arg(id, set)
        } else {
            command.mut_subcommand(SUBCOMMAND, |serve| serve.mut_arg(id, set))
        };
    }
    Ok(command)
}

/// Whether the file may contain an option.
fn is_key(option: &Arg) -> bool {
    let asks = matches!(
        option.get_action(),
        ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
    );
    !asks && option.get_long().is_some_and(|name| name != OPTION)
}

/// Whether an option may have several values.
fn is_list(option: &Arg) -> bool {
    matches!(option.get_action(), ArgAction::Append)
}

/// A value in the form of the command line. A list has several.
fn texts(option: &Arg, value: &Value) -> Result<Vec<String>, String> {
    match value {
        Value::Array(items) if is_list(option) => items
            .iter()
            .map(|item| text(option, item, "a list of strings"))
            .collect(),
        value if is_list(option) => Ok(vec![text(option, value, "a string or a list of strings")?]),
        value => Ok(vec![text(option, value, "a string")?]),
    }
}

fn text(option: &Arg, value: &Value, expected: &str) -> Result<String, String> {
    let parser = option.get_value_parser().type_id();
    let is_text = parser == TypeId::of::<String>() || parser == TypeId::of::<PathBuf>();
    let is_switch = parser == TypeId::of::<bool>();
    let is_number = parser == TypeId::of::<u16>();
    let text = match value {
        Value::Boolean(on) if is_switch => return Ok(on.to_string()),
        Value::String(text) if !is_switch && !is_number => text.clone(),
        Value::Integer(number) if !is_text && !is_switch => number.to_string(),
        Value::Float(number) if !is_text && !is_switch => number.to_string(),
        other => {
            let expected = match value {
                _ if is_switch => "true or false",
                _ if is_number => "a whole number",
                _ if is_text || is_list(option) => expected,
                _ => "a number or a string",
            };
            let named = option.get_value_names().filter(|_| !is_switch);
            let named = named.and_then(|names| names.first());
            let named = named.map_or(String::new(), |name| format!(" ({name})"));
            let found = match other {
                Value::String(_) => "a string",
                Value::Integer(_) | Value::Float(_) => "a number",
                Value::Boolean(_) => "true or false",
                Value::Datetime(_) => "a date",
                Value::Array(_) => "a list",
                Value::Table(_) => "a table",
            };
            return Err(format!("expected {expected}{named}, found {found}"));
        }
    };
    match option.get_value_delimiter() {
        Some(delimiter) if text.contains(delimiter) => Err(format!(
            "a value may not contain `{delimiter}`: write a list"
        )),
        _ => Ok(text),
    }
}

/// Checks a value with the option's own parser.
fn check(serve: &Command, name: &str, text: &str) -> Result<(), String> {
    let option = serve.get_arguments().find(|it| it.get_long() == Some(name));
    if option.is_some_and(|it| !it.get_action().takes_values()) {
        return Ok(());
    }
    let given = format!("--{name}={text}");
    let serve = serve.clone().no_binary_name(true);
    let Err(error) = serve.try_get_matches_from([given]) else {
        return Ok(());
    };
    match error.kind() {
        ErrorKind::ValueValidation => Err(match error.source() {
            Some(source) => source.to_string(),
            None => "not a valid value".into(),
        }),
        ErrorKind::InvalidValue => Err(match error.get(ContextKind::ValidValue) {
            Some(ContextValue::Strings(valid)) => format!("expected one of {}", valid.join(", ")),
            _ => "a value is missing".into(),
        }),
        // Options that belong together may be split between the file and the command line.
        _ => Ok(()),
    }
}

fn unknown(serve: &Command, key: &str, name: &str, value: &Value) -> String {
    const EXPECTED: &str = "expected the long name of an option that `caphost serve --help` lists";
    if value.is_table() {
        return format!("`{key}`: there are no tables here; {EXPECTED}");
    }
    let serve = serve.clone().no_binary_name(true);
    let error = serve.try_get_matches_from([format!("--{name}=")]).err();
    match error
        .as_ref()
        .and_then(|it| it.get(ContextKind::SuggestedArg))
    {
        Some(ContextValue::String(similar)) => {
            let similar = similar.trim_start_matches('-');
            format!("`{key}`: there is no such option; expected `{similar}`?")
        }
        _ => format!("`{key}`: there is no such option; {EXPECTED}"),
    }
}

/// The error in the text and its position, without quoting the text.
fn not_toml(text: &str, error: &toml::de::Error) -> String {
    let before = error.span().and_then(|span| text.get(..span.start));
    let line = before.map_or(1, |before| before.matches('\n').count() + 1);
    format!("line {line}: not TOML: {}", error.message())
}

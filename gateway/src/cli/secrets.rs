//! Options that may contain a secret. `--help` does not show their values from the environment.

use clap::error::{ContextKind, ContextValue};
use clap::{Command, Error};

/// The error without the option's value, if the value may be a secret.
pub(super) fn without_secret(mut error: Error, command: &mut Command) -> Error {
    command.build();
    let Some(ContextValue::String(named)) = error.get(ContextKind::InvalidArg) else {
        return error;
    };
    let mut options = command.get_subcommands().flat_map(Command::get_arguments);
    if options.any(|it| it.is_hide_env_values_set() && it.to_string() == *named) {
        let hidden = ContextValue::String("…".into());
        error.insert(ContextKind::InvalidValue, hidden);
    }
    error
}

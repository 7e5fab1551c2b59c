//! How a subcommand ends: its exit status, and the reason of a failure.

use std::borrow::Cow;
use std::process::ExitCode;

use console::style;
use serde_json::{Value, json};

use super::terminal::{one_line, print_json, printable, say};
use crate::gateway::AbpError;
use crate::wire::error_json;
use caphost::call::{Code, Error};

/// The exit status of a subcommand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exit {
    /// 0: the subcommand has done its task.
    Done,
    /// 1: the subcommand has not done its task, or nobody knows whether it has.
    Failed,
    /// 2: wrong usage that clap does not detect. Clap itself reports the errors that it detects.
    Usage,
    /// 130: the call was cancelled, and the cancel is confirmed.
    Cancelled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => ExitCode::SUCCESS,
            Exit::Failed => ExitCode::FAILURE,
            Exit::Usage => ExitCode::from(2),
            Exit::Cancelled => ExitCode::from(130),
        }
    }
}

/// Why a subcommand has failed. This is an `ABPError` of the app or of the command line, with hints. It is a
/// plain text if the failure has nothing to do with the gateway or its app.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Failure {
    body: Value,
    hints: Vec<String>,
}

impl Failure {
    pub fn new(code: Code, message: impl Into<Cow<'static, str>>) -> Self {
        Failure::from_body(error_json(&Error::<Value>::new(code, message)))
    }

    /// A failure with an error as it was received. A value that is not an `ABPError` still counts as an
    /// error.
    pub fn from_body(body: Value) -> Self {
        let body = if body.is_object() {
            body
        } else {
            json!({ "code": Code::INTERNAL_ERROR.as_str(), "message": "Unknown error", "retryable": false })
        };
        let hints = Vec::new();
        Failure { body, hints }
    }

    /// A failure with an error of an app. Missing fields are filled in.
    pub fn of_app(body: Value) -> Self {
        let error = AbpError::read(&body);
        let mut failure = Failure::from_body(body);
        failure.body["code"] = error.code.into();
        failure.body["message"] = error.message.into();
        failure
    }

    /// The failure of a lost connection to the app.
    pub fn disconnected() -> Self {
        Failure::from_body(AbpError::disconnected().body.value().unwrap_or_default())
    }

    /// A failure that is a plain text.
    pub fn plain(message: impl Into<String>) -> Self {
        Failure {
            body: Value::String(message.into()),
            hints: Vec::new(),
        }
    }

    /// This failure with another message.
    pub fn with_message(mut self, message: &str) -> Self {
        self.body["message"] = message.into();
        self
    }

    /// Adds a line that may help.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// The `ABPError`.
    pub fn body(&self) -> &Value {
        &self.body
    }

    pub fn code(&self) -> &str {
        self.body["code"].as_str().unwrap_or("INTERNAL_ERROR")
    }

    /// The texts that the gateway lists under that name in the error's details.
    pub fn detail_list(&self, name: &str) -> Vec<String> {
        texts(&self.body["details"][name])
    }

    /// The names that the app or the gateway suggests instead.
    pub fn alternatives(&self) -> Vec<String> {
        texts(&self.body["alternatives"])
    }

    /// The lines for standard error: the subcommand that failed, the reason, and hints.
    pub fn explain(&self, subcommand: &str) -> String {
        if let Value::String(message) = &self.body {
            return format!("caphost: {message}");
        }
        let message = self.body["message"].as_str().unwrap_or("no reason given");
        let mut lines = vec![format!(
            "{} {} {}",
            style(format!("caphost {subcommand}:"))
                .for_stderr()
                .red()
                .bold(),
            printable(message.trim_end()),
            style(format!("({})", one_line(self.code())))
                .for_stderr()
                .dim(),
        )];
        let path = self.body["details"]["path"].as_str().unwrap_or_default();
        if !path.is_empty() {
            lines.push(format!("  at: {}", one_line(path)));
        }
        // The other findings of the validator. The first finding is usually the message itself.
        for found in self.detail_list("errors") {
            if !message.contains(&found) {
                lines.push(format!("  {}", one_line(&found)));
            }
        }
        let alternatives = self.alternatives();
        if !alternatives.is_empty() {
            lines.push(format!(
                "  did you mean: {}?",
                one_line(&alternatives.join(", "))
            ));
        }
        if let Some(after) = self.body["retryAfter"].as_f64() {
            lines.push(format!("  try again in {:.1} s", after / 1_000.0));
        }
        lines.extend(
            self.hints
                .iter()
                .map(|hint| format!("  {}", printable(hint))),
        );
        lines.join("\n")
    }

    /// Reports the failure on standard error. With `json`, also prints `{ error }` on standard output.
    pub fn report(&self, subcommand: &str, json: bool) -> Exit {
        say(&self.explain(subcommand));
        if json
            && self.body.is_object()
            && let Err(message) = print_json(&json!({ "error": self.body }))
        {
            say(&format!("caphost: {message}"));
        }
        Exit::Failed
    }
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Failure::plain(message)
    }
}

fn texts(list: &Value) -> Vec<String> {
    let texts = list.as_array().into_iter().flatten();
    texts.filter_map(Value::as_str).map(String::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_explanation_has_what_helps() {
        let failure = Failure::from_body(json!({
            "code": "INVALID_TYPE", "message": "Bad parameter options.page: no string", "retryable": false,
            "details": { "path": "options.page", "errors": ["no string", "too\nlong\u{1b}"] },
            "alternatives": ["export.pdf", 7], "retryAfter": 1500,
        }));
        let said = failure.hint("Ask the app.").explain("export.pfd");
        let said = console::strip_ansi_codes(&said);
        let expected = "caphost export.pfd: Bad parameter options.page: no string (INVALID_TYPE)\n  at: options.page\n  too long\u{fffd}\n  did you mean: export.pdf?\n  try again in 1.5 s\n  Ask the app.";
        assert_eq!(said, expected);
    }

    #[test]
    fn what_is_no_error_is_one_all_the_same() {
        for body in [json!(null), json!("text"), json!({})] {
            let failure = Failure::from_body(body);
            assert_eq!(failure.code(), "INTERNAL_ERROR");
            assert!(failure.explain("x").starts_with("caphost x:"));
        }
    }
}

//! How the process ends.

use std::process::ExitCode;

/// The exit status of a subcommand. Wrong usage is 2, which clap sees to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Exit {
    /// 0: what was asked for has been done.
    Done,
    /// 1: it has not, or nobody knows.
    Failed,
    /// 130: the call was cancelled, and that is confirmed.
    Cancelled,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Done => ExitCode::SUCCESS,
            Exit::Failed => ExitCode::FAILURE,
            Exit::Cancelled => ExitCode::from(130),
        }
    }
}

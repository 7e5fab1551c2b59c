//! What the subcommands that talk to a gateway have in common.

mod api;
mod connection;
mod exit;
mod failure;

pub(super) use api::Api;
pub(super) use connection::{Connection, web_socket};
pub(super) use exit::Exit;
pub(super) use failure::Failure;

/// Past that an answer is no answer of a gateway, whatever it is configured to.
const MAX_ANSWER_BYTES: usize = 1 << 30;

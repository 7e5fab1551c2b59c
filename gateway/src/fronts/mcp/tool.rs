//! The tool that a call means, and the end of its request from the end of the call.

use std::sync::Arc;

use super::caller::Caller;
use super::links::{Linked, Links};
use super::progress::Progress;
use super::result::{self, Ended};
use super::tools;
use crate::broker::Offer;
use crate::broker::calls::RunId;
use crate::gateway::Outcome;
use crate::wire::json_rpc::Id;
use caphost::dialect::mcp::Version;

/// The tool that a call means.
pub struct Tool {
    pub offer: Arc<Offer>,
    pub name: String,
    /// The name by which the client has called it.
    pub called: String,
    /// The progress for the client, if the client wants it.
    pub progress: Option<Progress>,
    /// The client's version.
    pub version: &'static Version,
    /// The links to what is too large for the result.
    pub links: Links,
}

impl Tool {
    /// The app that the call goes to: as the caller names it, which may be one of its tabs, or else the app
    /// that offers the tool.
    pub fn app<'a>(&'a self, caller: &'a Caller) -> &'a str {
        caller.app.as_deref().unwrap_or(&self.offer.app.id)
    }

    /// The end of the request with that id, from the end of the call.
    pub fn ended(&self, id: &Id, run: RunId, outcome: Outcome) -> Ended {
        match outcome {
            Outcome::Done { data, metadata } => {
                let promised = self.promises();
                let Linked { data, blocks, .. } = self.links.link(data, promised);
                let metadata = metadata.and_then(|it| it.value().ok());
                let result = result::done(data, metadata, || promised, self.version, run);
                Ok(result.with(blocks))
            }
            Outcome::Failed(error) => Ok(result::failed(&error, Some(run))),
            Outcome::Cancelled { stop, by, .. } => Err(result::cancelled(&self.name, id, stop, by)),
        }
    }

    /// Whether the client was told an output schema of the tool.
    fn promises(&self) -> bool {
        self.version.structure && self.offer.keeps_promise(&self.name, tools::promises)
    }
}

//! How each dialect is spoken.

pub mod mcp;
pub mod mcp_http;

use crate::options::{Dialect, Options};
use crate::peer::Peer;

/// The peer that the command line names.
pub fn peer(options: &Options) -> Box<dyn Peer> {
    match options.dialect {
        Dialect::Mcp => Box::new(mcp::Mcp::new(options.target())),
    }
}

//! How each dialect is spoken.

pub mod abp;
pub mod contextforge;
pub mod jsonrpc;
pub mod mcp;
pub mod mcp_http;
pub mod rap;

use crate::options::{Dialect, Options};
use crate::peer::Peer;
use crate::wire::Target;

/// The peer that the command line names. `Err` if the dialect has no such peers.
pub fn peer(options: &Options) -> Result<Box<dyn Peer>, String> {
    let by_url = || match options.target() {
        Target::Url { url, token } => Ok((url, token)),
        Target::Command { .. } => Err(format!("{} needs --url", options.dialect.word())),
    };
    Ok(match options.dialect {
        Dialect::Abp => {
            let (url, token) = by_url()?;
            Box::new(abp::Abp::new(url, token))
        }
        Dialect::Mcp => Box::new(mcp::Mcp::new(options.target())),
        Dialect::Jsonrpc => Box::new(jsonrpc::JsonRpc::new(
            options.target(),
            options.style,
            options.frames,
        )),
        Dialect::Rap => {
            let (url, token) = by_url()?;
            Box::new(rap::Rap::new(&url, token))
        }
        Dialect::Contextforge => {
            let (url, token) = by_url()?;
            Box::new(contextforge::ContextForge::new(
                &url,
                options.calls.clone(),
                token,
            ))
        }
    })
}

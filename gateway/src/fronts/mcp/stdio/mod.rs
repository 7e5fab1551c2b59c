//! MCP over standard input and output, for clients that start their servers: a bridge to a gateway
//! that runs.
//!
//! Messages pass as they are, one in a line; each request is an HTTP request of its own, so all that
//! holds over HTTP holds here. Nothing but messages is written.
//!
//! | file | what it knows |
//! |---|---|
//! | `bridge` | what is in flight, and what becomes of each message |
//! | `unasked` | what is no request and no answer, both ways |
//! | `session` | the gateway's session, and beginning another when that is lost |
//! | `link` | HTTP: requests, their headers, what is wrong with an answer |
//! | `message` | which kind a message of the client is |
//! | `events` | server-sent events |
//! | `lines` | lines in, lines out |

mod bridge;
mod events;
mod lines;
mod link;
mod message;
mod session;
mod unasked;

use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::time::timeout;
use url::Url;

use bridge::Bridge;
use lines::{Lines, write};
use link::Link;

/// For the last lines to be written.
const LAST_LINES: Duration = Duration::from_secs(1);

/// Where the gateway is, and how to get in.
#[derive(Clone)]
pub struct Endpoint {
    /// Its `/mcp`, or `/mcp/<app id>`.
    pub url: Url,
    /// The `Authorization` header.
    pub authorization: Option<String>,
}

/// Carries messages until the input ends, the output is closed, or `stop`. What is in flight then is
/// cancelled.
///
/// The error is one of reading or writing.
pub async fn carry(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin + Send + 'static,
    endpoint: Endpoint,
    stop: impl Future<Output = ()>,
) -> std::io::Result<()> {
    let (out, lines) = tokio::sync::mpsc::channel(64);
    let mut writing = tokio::spawn(write(output, lines));
    let bridge = Arc::new(Bridge::new(Link::new(endpoint), out));
    let reading = async {
        let mut lines = Lines::new(input);
        while let Some(line) = lines.next().await? {
            bridge.clone().take(line).await;
        }
        Ok(())
    };
    let ended = tokio::select! {
        read = reading => read,
        () = stop => Ok(()),
        written = &mut writing => written.unwrap_or(Ok(())),
    };
    bridge.end().await;
    drop(bridge);
    // What was said before is still written, if somebody reads it.
    if !writing.is_finished() && timeout(LAST_LINES, &mut writing).await.is_err() {
        writing.abort();
    }
    ended
}

//! Dialects for programs that start a process rather than open a socket: standard input and output
//! on one side, a gateway that runs on the other.
//!
//! A bridge has no rules of its own: what its peer says goes to the gateway as it is, and so do the
//! answers come back. Nothing but messages is written.
//!
//! | module | what it knows |
//! |---|---|
//! | `codec` | where a message ends: lines, or `Content-Length` headers |
//! | [`jsonrpc`] | `caphost stdio`: to the gateway's WebSocket |
//! | [`mcp`] | `caphost mcp`: to the gateway's HTTP |

mod codec;
pub mod jsonrpc;
pub mod mcp;

use std::io;
use std::time::Duration;

use futures_util::SinkExt;
use tokio::io::AsyncWrite;
use tokio::time::timeout;
use tokio_util::codec::FramedWrite;

use codec::Codec;

/// Bytes in one message of the peer, 256 MiB: more than a gateway reads unless it is told to. It has a
/// lower limit of its own for what it accepts.
const MESSAGE_BYTES: usize = 256 << 20;
/// Bytes read at once.
const CHUNK_BYTES: usize = 64 << 10;
/// How long writing the last messages may take.
const LAST_MESSAGES: Duration = Duration::from_secs(1);

/// Where a bridge says something to its peer.
struct Output<W>(tokio::sync::Mutex<FramedWrite<W, Codec>>);

impl<W: AsyncWrite + Unpin> Output<W> {
    fn new(output: W, codec: Codec) -> Self {
        Output(FramedWrite::new(output, codec).into())
    }

    /// Writes a message, at once.
    async fn say(&self, message: &str) -> io::Result<()> {
        self.0.lock().await.send(message).await
    }

    /// Writes what was left over when a writer was dropped, if somebody reads it.
    async fn finish(&self) {
        let rest = async { SinkExt::<&str>::flush(&mut *self.0.lock().await).await };
        let _ = timeout(LAST_MESSAGES, rest).await;
    }
}

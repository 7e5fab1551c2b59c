//! Bridges for programs that start a process instead of opening a socket: standard input and output on one
//! side, a running gateway on the other side.
//!
//! A bridge has no rules of its own. The peer's messages go to the gateway unchanged, and the answers come
//! back unchanged. The bridge writes nothing but messages.
//!
//! | module | contents |
//! |---|---|
//! | `codec` | separating messages: lines, or `Content-Length` headers |
//! | [`jsonrpc`] | `caphost stdio`: the bridge to the gateway's WebSocket |
//! | [`mcp`] | `caphost mcp`: the bridge to the gateway's HTTP |

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

/// How many bytes one message of the peer may have: 256 MiB. This is more than a gateway reads by default.
/// The gateway has its own lower limit.
const MESSAGE_BYTES: usize = 256 << 20;
/// How many bytes are read at once.
const CHUNK_BYTES: usize = 64 << 10;
/// How long writing the last messages may take.
const LAST_MESSAGES: Duration = Duration::from_secs(1);

/// The output of a bridge to its peer.
struct Output<W>(tokio::sync::Mutex<FramedWrite<W, Codec>>);

impl<W: AsyncWrite + Unpin> Output<W> {
    fn new(output: W, codec: Codec) -> Self {
        Output(FramedWrite::new(output, codec).into())
    }

    /// Writes a message at once.
    async fn say(&self, message: &str) -> io::Result<()> {
        self.0.lock().await.send(message).await
    }

    /// Writes the bytes that a dropped writer left behind, if somebody reads them.
    async fn finish(&self) {
        let rest = async { SinkExt::<&str>::flush(&mut *self.0.lock().await).await };
        let _ = timeout(LAST_MESSAGES, rest).await;
    }
}

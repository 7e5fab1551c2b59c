//! `caphost stdio`: JSON-RPC between a stream of bytes and the gateway's WebSocket.

#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::time::Duration;

use futures_util::stream::{SplitSink, SplitStream};
use futures_util::{SinkExt, StreamExt};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{Mutex as AsyncMutex, Notify};
use tokio::time::{Instant, MissedTickBehavior, interval_at, sleep_until, timeout};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::{Error as Ws, Message};
use tokio_util::codec::FramedRead;

use super::codec::{Broken, Codec, Frame};
use super::{CHUNK_BYTES, MESSAGE_BYTES, Output};
use crate::fronts::silence::{Look, Silence};
use crate::limits::MAX_DEPTH;
use crate::wire::json_rpc::{
    Id, Message as Rpc, Unreadable, code, failed, method, notification, read, refused,
};
use crate::wire::mended;
use caphost::call::{Code, Error};

/// How long the gateway may take to close after the input has ended.
const FAREWELL: Duration = Duration::from_secs(5);

/// The limits of a bridge.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// How many bytes one message of the peer may have: 256 MiB.
    pub message_bytes: usize,
    /// The time between two pings to the gateway: 15 s.
    pub ping_interval: Duration,
    /// How long the gateway may be silent before it counts as gone: 40 s. The bridge pings it before.
    pub dead_peer_timeout: Duration,
}

impl Default for Bounds {
    fn default() -> Self {
        Bounds {
            message_bytes: MESSAGE_BYTES,
            ping_interval: Duration::from_secs(15),
            dead_peer_timeout: Duration::from_secs(40),
        }
    }
}

/// Why a bridge ended. `Ok` if the peer wanted it to end.
pub type Ended = Result<(), String>;

struct JsonRpcBridge<W, S> {
    output: Output<W>,
    sink: AsyncMutex<SplitSink<WebSocketStream<S>, Message>>,
    pending: Mutex<Pending>,
    /// Requests a ping at once.
    ask: Notify,
    bounds: Bounds,
}

/// Passes messages on until one side ends. If the peer still waits for an answer then, it gets an error: the
/// gateway has cancelled the call, or cannot be asked.
pub async fn carry<S: AsyncRead + AsyncWrite + Unpin>(
    input: impl AsyncRead + Unpin,
    output: impl AsyncWrite + Unpin,
    socket: WebSocketStream<S>,
    bounds: Bounds,
) -> Ended {
    let (sink, mut stream) = socket.split();
    let codec = Codec::detecting(bounds.message_bytes);
    let bridge = JsonRpcBridge {
        output: Output::new(output, codec.clone()),
        sink: AsyncMutex::new(sink),
        pending: Mutex::default(),
        ask: Notify::new(),
        bounds,
    };
    let ended = {
        let down = bridge.down(&mut stream);
        tokio::pin!(down);
        tokio::select! {
            ended = &mut down => ended,
            ended = bridge.up(FramedRead::with_capacity(input, codec, CHUNK_BYTES)) => {
                bridge.take_leave().await;
                // Answers that the gateway has sent before it reads `exit` must still be passed on.
                let _ = timeout(FAREWELL, &mut down).await;
                ended
            }
            never = bridge.ping() => never,
        }
    };
    bridge.settle(&ended).await;
    bridge.output.finish().await;
    ended
}

impl<W: AsyncWrite + Unpin, S: AsyncRead + AsyncWrite + Unpin> JsonRpcBridge<W, S> {
    /// Passes messages from the peer to the gateway, until the input ends or is no longer understood.
    async fn up(&self, mut input: FramedRead<impl AsyncRead + Unpin, Codec>) -> Ended {
        while let Some(frame) = input.next().await {
            match frame {
                Ok(frame) => self.pass_on(frame).await?,
                Err(Broken::Io(error)) => return Err(format!("cannot read the input: {error}")),
                Err(Broken::Lost(what)) => {
                    self.refuse(code::PARSE_ERROR, what.clone()).await?;
                    return Err(format!("the input cannot be understood: {what}"));
                }
            }
        }
        Ok(())
    }

    async fn pass_on(&self, frame: Frame) -> Ended {
        match frame {
            Frame::Message(text) => {
                self.pending.lock().sent(&text);
                // The reading half notices when the gateway is gone.
                let _ = self.send(Message::text(text)).await;
                Ok(())
            }
            Frame::TooLarge(bytes) => {
                let max = self.bounds.message_bytes;
                let message = format!("The message has {bytes} bytes; at most {max} are accepted");
                self.refuse(code::INVALID_REQUEST, message).await
            }
            Frame::NotText => {
                let message = "The message is not UTF-8".to_string();
                self.refuse(code::PARSE_ERROR, message).await
            }
        }
    }

    /// Passes messages from the gateway to the peer, until the gateway closes or is gone.
    async fn down(&self, stream: &mut SplitStream<WebSocketStream<S>>) -> Ended {
        let dead = self.bounds.dead_peer_timeout;
        let mut silence = Silence::new(self.bounds.ping_interval, dead);
        let mut heard = Instant::now();
        let alarm = sleep_until(heard + silence.unasked);
        tokio::pin!(alarm);
        loop {
            let next = tokio::select! {
                biased;
                next = stream.next() => next,
                () = &mut alarm => {
                    let again = match silence.look(heard, alarm.deadline(), Instant::now()) {
                        Look::Again(at) => at,
                        Look::Ask(at) => {
                            self.ask.notify_one();
                            at
                        }
                        Look::Gone => {
                            return Err(format!("no sign of life from the gateway for {dead:?}"));
                        }
                    };
                    alarm.as_mut().reset(again);
                    continue;
                }
            };
            match next {
                Some(Ok(Message::Text(text))) => {
                    self.pending.lock().received(&text);
                    if self.output.say(&text).await.is_err() {
                        // Nobody reads: the peer has left without a message.
                        return Ok(());
                    }
                }
                Some(Ok(Message::Close(Some(frame)))) if frame.code != CloseCode::Normal => {
                    let code = u16::from(frame.code);
                    return Err(format!("the gateway has closed: {code} {}", frame.reason));
                }
                None | Some(Ok(Message::Close(_)) | Err(Ws::ConnectionClosed)) => return Ok(()),
                Some(Ok(_)) => {}
                Some(Err(error)) => return Err(format!("the gateway is gone: {error}")),
            }
            // The time is read now, because the peer may have been slow to read.
            heard = Instant::now();
        }
    }

    /// Pings the gateway, so that a living gateway answers. Never ends.
    async fn ping(&self) -> Ended {
        let every = self.bounds.ping_interval;
        let mut ping = interval_at(Instant::now() + every, every);
        ping.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                _ = ping.tick() => {}
                () = self.ask.notified() => {}
            }
            let _ = self.send(Message::Ping(Default::default())).await;
        }
    }

    /// Asks the gateway to close after it has handled the messages so far.
    async fn take_leave(&self) {
        let exit = notification(method::EXIT, Value::Object(Default::default()));
        let _ = timeout(FAREWELL, self.send(Message::text(exit.to_string()))).await;
    }

    /// Answers the requests that still wait.
    async fn settle(&self, ended: &Ended) {
        let why = match ended {
            Ok(()) => "The connection to the gateway is closed",
            Err(_) => "The connection to the gateway is lost: the outcome is unknown",
        };
        let lost = self.pending.lock().settle(why);
        for answer in lost {
            if self.output.say(&answer).await.is_err() {
                return;
            }
        }
    }

    async fn refuse(&self, code: i32, message: String) -> Ended {
        let answer = refused(&Value::Null, code, &Error::<Value>::invalid_params(message));
        let said = self.output.say(&answer.to_string()).await;
        said.map_err(|error| format!("cannot write the output: {error}"))
    }

    async fn send(&self, message: Message) -> Result<(), Ws> {
        self.sink.lock().await.send(message).await
    }
}

/// The requests that wait for an answer, so that none waits forever when the gateway is gone: the ids that
/// were passed on, and how many requests use each id.
#[derive(Debug, Default)]
struct Pending(HashMap<Id, usize>);

impl Pending {
    /// A message is on its way to the gateway.
    pub fn sent(&mut self, message: &str) {
        // A malformed message is answered too, if it has an id.
        let id = match read(&mended(message), MAX_DEPTH) {
            Ok(Rpc::Request { id, .. }) => Some(id),
            Ok(Rpc::Invalid { id, .. }) | Err(Unreadable { id, .. }) => id,
            Ok(_) => None,
        };
        if let Some(id) = id {
            *self.0.entry(id).or_default() += 1;
        }
    }

    /// A message has come from the gateway.
    pub fn received(&mut self, message: &str) {
        let Ok(Rpc::Response(Some(id), _)) = read(message, MAX_DEPTH) else {
            return;
        };
        if let Some(count) = self.0.get_mut(&id) {
            *count -= 1;
            if *count == 0 {
                self.0.remove(&id);
            }
        }
    }

    /// The answers to all requests that still wait. The requests no longer count as pending.
    pub fn settle(&mut self, why: &str) -> Vec<String> {
        let error = Error::<Value>::new(Code::DISCONNECTED, why.to_string());
        let lost = std::mem::take(&mut self.0).into_iter();
        let answer = |id: Id| failed(id.value(), &error).to_string();
        lost.flat_map(|(id, count)| std::iter::repeat_n(answer(id), count))
            .collect()
    }
}

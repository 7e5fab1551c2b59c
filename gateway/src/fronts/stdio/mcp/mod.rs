//! `caphost mcp`: MCP for clients that start their servers, between standard input and output and
//! a gateway's HTTP.
//!
//! Each request is an HTTP request of its own, so all that holds over HTTP holds here.
//!
//! | file | what it knows |
//! |---|---|
//! | `mod` | what is in flight, and what becomes of each message |
//! | `link` | the gateway: requests and their headers, its session, what is wrong with an answer |

mod link;

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use futures_util::future::{BoxFuture, try_join};
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use reqwest::StatusCode;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::codec::FramedRead;

use super::codec::{Broken, Codec, Frame};
use super::{CHUNK_BYTES, MESSAGE_BYTES, Output};
use crate::fronts::mcp::result::complete;
use crate::limits::MAX_DEPTH;
use crate::pauses::Pauses;
use crate::wire::json_rpc::{
    Fault, Id, Message, RpcError, Unreadable, code, read, read_cancel, success,
};
use crate::wire::mended;
use caphost::dialect::mcp::MAX_BATCH;
pub use link::Endpoint;
use link::{
    Link, Membership, Request, Session, answers, disconnected, failure, messages, session_of,
};

/// After the end of the input: how long what was asked before may still take. A script gets its answers, and the
/// calls of a client that is gone are cancelled.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// How long what follows `initialize` waits for its answer.
const GREETING: Duration = Duration::from_secs(30);
/// How long telling the gateway that the client is gone may take.
const LEAVE: Duration = Duration::from_secs(2);
/// Time between the progress of a request and its answer. Clients read what comes together at once, and
/// some hear of the answer first: the progress is then that of a request they do not know any more.
const BREATH: Duration = Duration::from_millis(10);
/// Bytes of a message that every client reads from a program: published ones end the session after a longer line.
const MOST_READ: usize = 10_000_000;
/// Answers of the bridge's own that the client has not taken yet.
const UNWRITTEN: usize = 64;
/// Before it is tried again to listen, and the most that grows to.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Carries messages until the input ends, the output is closed, or `stop`. What is in flight then is
/// cancelled.
///
/// The error is one of reading or writing.
pub async fn carry(
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
    endpoint: Endpoint,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let codec = Codec::lines(MESSAGE_BYTES);
    let (posts, posted) = unbounded_channel();
    let bridge = McpBridge {
        link: Link::new(endpoint),
        session: Session::default(),
        output: Output::new(output, codec.clone()),
        in_flight: Mutex::default(),
        posts,
        initialized: Notify::new(),
        greeting: watch::Sender::new(0),
    };
    let ended = tokio::select! {
        ended = bridge.read(FramedRead::with_capacity(input, codec, CHUNK_BYTES)) => ended,
        ended = bridge.listen() => ended,
        () = bridge.post(posted) => Ok(()),
        () = stop => Ok(()),
    };
    let membership = bridge.session.membership();
    if membership.session.is_some() {
        let _ = timeout(LEAVE, bridge.link.leave(&membership)).await;
    }
    bridge.output.finish().await;
    ended
}

/// The bridge between one client and one gateway.
struct McpBridge<W> {
    link: Link,
    session: Session,
    output: Output<W>,
    in_flight: Mutex<HashMap<Id, Exchange>>,
    /// What is no request, to be sent in the order it came.
    posts: UnboundedSender<Post>,
    /// That the client is initialised was sent.
    initialized: Notify,
    /// How many `initialize` are in flight. What follows them waits: it needs the session.
    greeting: watch::Sender<usize>,
}

/// A request in flight.
struct Exchange {
    /// It belongs to no session: it is cancelled by closing its stream.
    alone: bool,
    /// Takes cancels of it, as the client wrote them.
    cancel: UnboundedSender<String>,
}

/// A message that is no request.
struct Post {
    text: String,
    /// Whether it is `notifications/initialized`.
    initializes: bool,
}

/// A request being passed on, and what comes for it.
type Exchanging<'a> = BoxFuture<'a, io::Result<()>>;

impl<W: AsyncWrite + Unpin + Send> McpBridge<W> {
    /// Reads what the client says, and does what it asks for, until the input ends.
    async fn read(&self, mut input: FramedRead<impl AsyncRead + Unpin, Codec>) -> io::Result<()> {
        let (mut requests, mut refusals) = (FuturesUnordered::new(), FuturesUnordered::new());
        loop {
            tokio::select! {
                // A client that does not read its answers is not read from either.
                frame = input.next(), if refusals.len() < UNWRITTEN => match frame {
                    Some(Ok(frame)) => for taken in self.take(frame) {
                        match taken {
                            Ok(request) => requests.extend(request),
                            Err(refusal) => refusals.push(async move { self.output.say(&refusal).await }),
                        }
                    },
                    Some(Err(Broken::Io(error))) => return Err(error),
                    Some(Err(Broken::Lost(what))) => return Err(io::Error::other(what)),
                    None => {
                        let answered = requests.by_ref().try_collect::<()>();
                        let rest = try_join(answered, refusals.try_collect::<()>());
                        // Then requests in flight are given up, and with them their hold on the output.
                        return timeout(LAST_ANSWERS, rest).await.map_or(Ok(()), |ended| ended.map(drop));
                    }
                },
                Some(done) = requests.next() => done?,
                Some(done) = refusals.next() => done?,
            }
        }
    }

    /// Takes what is on a line: a message, or several in the version that has batches. Each is taken by itself.
    fn take(&self, frame: Frame) -> Vec<Result<Option<Exchanging<'_>>, String>> {
        let Frame::Message(text) = frame else {
            let what = "A line too long, or not UTF-8";
            return vec![Err(refusal(None, code::PARSE_ERROR, what))];
        };
        if text.starts_with('[') && self.session.has_batches() {
            let messages: Vec<&RawValue> = serde_json::from_str(&text).unwrap_or_default();
            if !messages.is_empty() && messages.len() <= MAX_BATCH {
                let messages = messages.into_iter().map(|it| it.get().to_string());
                return messages.map(|text| self.take_message(text)).collect();
            }
            let what = format!("A batch has 1 to {MAX_BATCH} messages");
            return vec![Err(refusal(None, code::INVALID_REQUEST, &what))];
        }
        vec![self.take_message(text)]
    }

    /// Takes a message: what is to be done for it, if it is a request. The error is its refusal.
    fn take_message(&self, text: String) -> Result<Option<Exchanging<'_>>, String> {
        let mended = mended(&text);
        let message = read(&mended, MAX_DEPTH).map_err(unreadable)?;
        let invalid = |id: Option<&Id>, what: &str| Err(refusal(id, code::INVALID_REQUEST, what));
        match message {
            Message::Batch
            | Message::Invalid {
                fault: Fault::NoObject,
                ..
            } => {
                let what = "A message is an object; batches are part of MCP 2025-03-26 only";
                invalid(None, what)
            }
            Message::Invalid { id, fault } => invalid(id.as_ref(), fault.as_str()),
            Message::Request { id, .. } if id.value().is_null() => {
                invalid(None, "`id` must be a string or an integer")
            }
            Message::Request { id, method, params } => {
                let request = Request::new(id, &method, params);
                if request.begins() {
                    self.session.begins(params);
                }
                self.request(text, request).map(Some)
            }
            Message::Notification { method, params } => {
                let initializes = method == "notifications/initialized";
                match read_cancel(&method, params) {
                    Some(cancel) => self.cancel(&cancel.id, text),
                    None => drop(self.posts.send(Post { text, initializes })),
                }
                Ok(None)
            }
            Message::Response(_) => {
                let initializes = false;
                drop(self.posts.send(Post { text, initializes }));
                Ok(None)
            }
        }
    }

    fn request(&self, text: String, request: Request) -> Result<Exchanging<'_>, String> {
        let mut in_flight = self.in_flight.lock();
        if in_flight.contains_key(&request.id) {
            let what = "A request with this id is in flight";
            return Err(refusal(Some(&request.id), code::INVALID_REQUEST, what));
        }
        let (cancel, mut cancels) = unbounded_channel();
        let (alone, begins) = (request.is_alone(), request.begins());
        if begins {
            self.greeting.send_modify(|greeting| *greeting += 1);
        }
        in_flight.insert(request.id.clone(), Exchange { alone, cancel });
        let request = async move {
            if !alone && !begins {
                self.greeted().await;
            }
            let said = self.exchange(text, &request, &mut cancels).await;
            if begins {
                self.greeting.send_modify(|greeting| *greeting -= 1);
            }
            said
        };
        Ok(request.boxed())
    }

    /// Sends a request and passes on what comes for it.
    async fn exchange(
        &self,
        text: String,
        request: &Request,
        cancels: &mut UnboundedReceiver<String>,
    ) -> io::Result<()> {
        let (id, alone) = (request.id.value(), request.is_alone());
        let sent = tokio::select! {
            biased;
            // Without a session a request is cancelled by closing its stream.
            Some(_) = cancels.recv(), if alone => return Ok(()),
            sent = self.send(&text, request) => sent,
        };
        let response = match sent {
            Ok(response) if response.status().is_success() => response,
            sent => {
                let said = match sent {
                    Ok(response) => failure(response, id).await,
                    Err(error) => self.link.unreachable(id, &error),
                };
                self.answered(request, cancels);
                return match cancels.is_empty() {
                    true => self.output.say(&said).await,
                    false => Ok(()),
                };
            }
        };
        let session = session_of(&response);
        let mut incoming = messages(response);
        let (mut told, mut cancelled) = (None, false);
        loop {
            let message = tokio::select! {
                biased;
                // A cancel must not overtake its request, which is another connection.
                Some(cancel) = cancels.recv() => {
                    if alone {
                        return Ok(());
                    }
                    cancelled = true;
                    self.deliver(cancel).await;
                    continue;
                }
                message = incoming.next() => message,
            };
            let answered = message.as_ref().is_none_or(|it| answers(it, &request.id));
            if let (true, Some(told)) = (answered, told) {
                sleep_until(told + BREATH).await;
            }
            told = Some(Instant::now());
            if answered {
                // The id may be used again as soon as the client has read this.
                self.answered(request, cancels);
            }
            let message = message.unwrap_or_else(|| {
                disconnected(id, "The gateway closed the stream before it answered")
            });
            let message = match message.len() {
                bytes if bytes > MOST_READ => too_large(request, bytes),
                _ => message,
            };
            if answered && request.begins() {
                let hello = (text.clone(), request.id.clone());
                self.session.begun(hello, session.clone(), &message);
            }
            if !cancelled && cancels.is_empty() {
                self.output.say(&message).await?;
            }
            if answered {
                return Ok(());
            }
        }
    }

    /// Sends a request; once more if the gateway has lost the session, and another is begun.
    async fn send(&self, text: &str, request: &Request) -> reqwest::Result<reqwest::Response> {
        if request.is_alone() {
            return self.link.post_alone(text.into(), request).await;
        }
        let membership = match request.begins() {
            true => Membership::default(),
            false => self.session.membership(),
        };
        let response = self.link.post(text.into(), &membership).await?;
        let lost = response.status() == StatusCode::NOT_FOUND && membership.session.is_some();
        if lost && self.session.renew(&membership, &self.link).await {
            let membership = self.session.membership();
            return self.link.post(text.into(), &membership).await;
        }
        Ok(response)
    }

    fn cancel(&self, id: &Id, text: String) {
        let mut in_flight = self.in_flight.lock();
        let Some(exchange) = in_flight.get(id) else {
            return;
        };
        let _ = exchange.cancel.send(text);
        if exchange.alone {
            in_flight.remove(id);
        }
    }

    /// A request is over, and its id may be used again.
    fn over(&self, id: &Id) {
        self.in_flight.lock().remove(id);
    }

    /// The gateway has answered a request. One without a session was over with its cancel, if there was
    /// one, and its id may be another's by now.
    fn answered(&self, request: &Request, cancels: &UnboundedReceiver<String>) {
        if cancels.is_empty() || !request.is_alone() {
            self.over(&request.id);
        }
    }

    /// No `initialize` is in flight, or its answer is not waited for any longer.
    async fn greeted(&self) {
        let mut greeting = self.greeting.subscribe();
        // The sender is ours: it is never gone.
        let _ = timeout(GREETING, greeting.wait_for(|greeting| *greeting == 0)).await;
    }

    /// Sends what is no request, each after what came before it.
    async fn post(&self, mut posts: UnboundedReceiver<Post>) {
        while let Some(post) = posts.recv().await {
            self.greeted().await;
            self.deliver(post.text).await;
            if post.initializes {
                self.initialized.notify_one();
            }
        }
    }

    async fn deliver(&self, text: String) {
        let membership = self.session.membership();
        match self.link.post(text, &membership).await {
            Ok(response) if response.status().is_success() => {}
            Ok(response) => tracing::warn!(status = %response.status(), "a message was refused"),
            Err(error) => tracing::warn!(%error, "a message was not delivered"),
        }
    }

    /// Passes on what the gateway says on its own, once the client listens. Ends if that cannot be
    /// written.
    async fn listen(&self) -> io::Result<()> {
        self.initialized.notified().await;
        let mut pauses = Pauses::new(FIRST_PAUSE, LONGEST_PAUSE);
        loop {
            let membership = self.session.membership();
            match self.link.listen(&membership).await {
                Ok(response) if response.status().is_success() => {
                    pauses.reset();
                    let mut incoming = messages(response);
                    while let Some(message) = incoming.next().await {
                        self.output.say(&message).await?;
                    }
                }
                Ok(response) if response.status() == StatusCode::NOT_FOUND => {
                    if self.session.renew(&membership, &self.link).await {
                        continue;
                    }
                }
                Ok(response) => {
                    tracing::debug!(status = %response.status(), "no stream to listen to");
                }
                Err(error) => tracing::debug!(%error, "no stream to listen to"),
            }
            sleep(pauses.next()).await;
        }
    }
}

/// The answer to a message that cannot be read, as a gateway would give it.
fn unreadable(Unreadable { code, id, error }: Unreadable) -> String {
    let mut refused = RpcError::new(code, &*error.message);
    refused.data = error.details.as_deref().cloned();
    let id = id.as_ref().map_or(&Value::Null, Id::value);
    refused.answer(id).to_string()
}

/// The answer in place of one that the client could not read. Of a call it is a result, for the model to read.
fn too_large(request: &Request, bytes: usize) -> String {
    let id = &request.id;
    let megabytes = bytes.div_ceil(1_000_000);
    let most = MOST_READ / 1_000_000;
    let what = format!(
        "The answer has {megabytes} MB, and clients of `caphost mcp` read at most {most} MB. \
         The call has run. `caphost call <capability> --output <file>` writes its files, and MCP over HTTP has no such limit."
    );
    if !request.calls() {
        return refusal(Some(id), code::FAILED, &what);
    }
    let error = json!({ "code": "OPERATION_FAILED", "message": what, "retryable": false });
    let text = format!("OPERATION_FAILED: {what}");
    let result = json!({
        "content": [{ "type": "text", "text": text }], "isError": true, "_meta": { "caphost/error": error },
    });
    let result = match request.is_alone() {
        true => complete(result),
        false => result,
    };
    success(id.value(), &result)
}

/// The answer to a message that is not passed on.
fn refusal(id: Option<&Id>, code: i32, what: &str) -> String {
    let id = id.map_or(&Value::Null, Id::value);
    RpcError::new(code, what).answer(id).to_string()
}

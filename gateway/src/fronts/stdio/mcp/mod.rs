//! `caphost mcp`: MCP for clients that start their servers. It connects standard input and output to a
//! gateway's HTTP.
//!
//! Each request becomes its own HTTP request, so everything that is true over HTTP is true here.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the requests in flight, and the handling of each message |
//! | `link` | the gateway: requests and their headers, the session, and errors of answers |
//! | `saving` | the files of results, in a folder |

mod link;
mod saving;

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
use super::{CHUNK_BYTES, LAST_MESSAGES, MESSAGE_BYTES, Output};
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
use saving::Saved;
pub use saving::{Folder, SaveTo};

/// How long the requests before the end of the input may still take. A script gets its answers, and the calls
/// of a client that is gone are cancelled.
const LAST_ANSWERS: Duration = Duration::from_secs(5);
/// The answer to a request in flight when the bridge ends.
const GIVEN_UP: &str = "`caphost mcp` ends and cancels this request: its outcome is unknown. \
     After the end of standard input answers have 5 s. Keep it open until all have come";
/// How long the messages after `initialize` wait for its answer.
const GREETING: Duration = Duration::from_secs(30);
/// How long telling the gateway that the client is gone may take.
const LEAVE: Duration = Duration::from_secs(2);
/// The time between the last progress of a request and its answer. Clients read messages that come together
/// at once, and some clients handle the answer first. They would then not know the request of the progress
/// any more.
const BREATH: Duration = Duration::from_millis(10);
/// The size of a message that every client can read. Some published clients end the session after a longer
/// line.
const MOST_READ: usize = 10_000_000;
/// How many of the bridge's own answers may wait for the client to read them.
const UNWRITTEN: usize = 64;
/// The first and the longest pause before the bridge tries again to listen.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// Passes messages on until the input ends, the output is closed, or `stop` completes. Requests in flight are
/// cancelled then.
///
/// The error comes from reading or writing.
pub async fn carry(
    input: impl AsyncRead + Unpin + Send,
    output: impl AsyncWrite + Unpin + Send,
    endpoint: Endpoint,
    save_to: Option<SaveTo>,
    stop: impl Future<Output = ()>,
) -> io::Result<()> {
    let codec = Codec::lines(MESSAGE_BYTES);
    let (posts, posted) = unbounded_channel();
    let bridge = McpBridge {
        link: Link::new(endpoint),
        save_to,
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
    if ended.is_ok() {
        bridge.give_up().await;
    }
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
    /// Where the files of results are saved, if they are.
    save_to: Option<SaveTo>,
    session: Session,
    output: Output<W>,
    in_flight: Mutex<HashMap<Id, Exchange>>,
    /// The messages that are not requests, sent in their order.
    posts: UnboundedSender<Post>,
    /// Signals that `notifications/initialized` was sent.
    initialized: Notify,
    /// How many `initialize` requests are in flight. Messages after them wait, because they need the session.
    greeting: watch::Sender<usize>,
}

/// A request in flight.
struct Exchange {
    /// Whether the request belongs to no session. Closing its stream cancels it.
    alone: bool,
    /// The cancels of the request, as the client wrote them.
    cancel: UnboundedSender<String>,
    /// Whether the client has cancelled the request, which is then not answered.
    cancelled: bool,
}

/// A message that is not a request.
struct Post {
    text: String,
    /// Whether it is `notifications/initialized`.
    initializes: bool,
}

/// The future that passes a request on, and passes its messages back.
type Exchanging<'a> = BoxFuture<'a, io::Result<()>>;

impl<W: AsyncWrite + Unpin + Send> McpBridge<W> {
    /// Reads and handles the client's messages until the input ends.
    async fn read(&self, mut input: FramedRead<impl AsyncRead + Unpin, Codec>) -> io::Result<()> {
        let (mut requests, mut refusals) = (FuturesUnordered::new(), FuturesUnordered::new());
        loop {
            tokio::select! {
                // If a client does not read its answers, its input is not read either.
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
                        // After this time requests in flight are given up, and release the output.
                        return timeout(LAST_ANSWERS, rest).await.map_or(Ok(()), |ended| ended.map(drop));
                    }
                },
                Some(done) = requests.next() => done?,
                Some(done) = refusals.next() => done?,
            }
        }
    }

    /// Handles a line: one message, or several in the version with batches. Each message is handled
    /// separately.
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

    /// Handles a message. Returns the future of a request. The error is the refusal.
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
            Message::Response(..) => {
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
        in_flight.insert(
            request.id.clone(),
            Exchange {
                alone,
                cancel,
                cancelled: false,
            },
        );
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

    /// Sends a request and passes its messages back.
    async fn exchange(
        &self,
        text: String,
        request: &Request,
        cancels: &mut UnboundedReceiver<String>,
    ) -> io::Result<()> {
        let (id, alone) = (request.id.value(), request.is_alone());
        let sent = tokio::select! {
            biased;
            // Without a session, closing the stream cancels the request.
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
                // A cancel must not overtake its request, because it uses another connection.
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
            let mut message = message.unwrap_or_else(|| {
                disconnected(id, "The gateway closed the stream before it answered")
            });
            let mut saved = None;
            if answered
                && !cancelled
                && request.calls()
                && let Some(save_to) = &self.save_to
            {
                let saving = save_to.save(message, &self.link);
                let Some(mut done) = unless_cancelled(saving, cancels).await else {
                    // Another request may use the id of a cancelled request without a session by now.
                    if !alone {
                        self.over(&request.id);
                    }
                    return Ok(());
                };
                message = std::mem::take(&mut done.message);
                saved = Some(done);
            }
            if answered {
                // The client may use the id again as soon as it has read this message.
                self.answered(request, cancels);
            }
            let message = match message.len() {
                bytes if bytes > MOST_READ => too_large(request, bytes),
                _ => message,
            };
            if answered && request.begins() {
                let hello = (text.clone(), request.id.clone());
                self.session.begun(hello, session.clone(), &message);
            }
            // Of a cancelled request, the client still hears which questions are withdrawn.
            if (!cancelled && cancels.is_empty()) || (!answered && cancels_a_question(&message)) {
                saved.into_iter().for_each(Saved::keep);
                self.output.say(&message).await?;
            }
            if answered {
                return Ok(());
            }
        }
    }

    /// Sends a request. Sends it again if the gateway has lost the session and another session has begun.
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
        let Some(exchange) = in_flight.get_mut(id) else {
            return;
        };
        exchange.cancelled = true;
        let _ = exchange.cancel.send(text);
        if exchange.alone {
            in_flight.remove(id);
        }
    }

    /// A request is over, and its id may be used again.
    fn over(&self, id: &Id) {
        self.in_flight.lock().remove(id);
    }

    /// The gateway has answered a request. A request without a session was already over if it was cancelled,
    /// and another request may use its id by now.
    fn answered(&self, request: &Request, cancels: &UnboundedReceiver<String>) {
        if cancels.is_empty() || !request.is_alone() {
            self.over(&request.id);
        }
    }

    /// Answers the requests that are still in flight at the end, except those that the client has cancelled.
    async fn give_up(&self) {
        let in_flight = std::mem::take(&mut *self.in_flight.lock());
        let unanswered = in_flight.iter().filter(|(_, it)| !it.cancelled);
        let answers = unanswered.map(|(id, _)| disconnected(id.value(), GIVEN_UP));
        let answers: Vec<_> = answers.collect();
        let said = async {
            for answer in &answers {
                self.output.say(answer).await?;
            }
            io::Result::Ok(())
        };
        let _ = timeout(LAST_MESSAGES, said).await;
    }

    /// Waits until no `initialize` is in flight, but at most [`GREETING`].
    async fn greeted(&self) {
        let mut greeting = self.greeting.subscribe();
        // The bridge owns the sender, so the channel cannot close.
        let _ = timeout(GREETING, greeting.wait_for(|greeting| *greeting == 0)).await;
    }

    /// Sends the messages that are not requests, one after another.
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

    /// Passes on the gateway's own messages, after the client has initialised. Ends if a message cannot be
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

/// Waits until the files of an answer are saved. `None` if the client cancels the request before.
async fn unless_cancelled(
    saving: impl Future<Output = Saved>,
    cancels: &mut UnboundedReceiver<String>,
) -> Option<Saved> {
    tokio::select! {
        biased;
        Some(_) = cancels.recv() => None,
        saved = saving => Some(saved),
    }
}

/// Whether the message cancels a request of the gateway.
fn cancels_a_question(message: &str) -> bool {
    match read(message, MAX_DEPTH) {
        Ok(Message::Notification { method, params }) => read_cancel(&method, params).is_some(),
        _ => false,
    }
}

/// The answer to an unreadable message, in the gateway's form.
fn unreadable(Unreadable { code, id, error }: Unreadable) -> String {
    let mut refused = RpcError::new(code, &*error.message);
    refused.data = error.details.as_deref().cloned();
    let id = id.as_ref().map_or(&Value::Null, Id::value);
    refused.answer(id).to_string()
}

/// The answer that replaces an answer that is too large for the client. For a call it is a result, so that
/// the model can read it.
fn too_large(request: &Request, bytes: usize) -> String {
    let id = &request.id;
    let megabytes = bytes.div_ceil(1_000_000);
    let most = MOST_READ / 1_000_000;
    let what = format!(
        "The answer has {megabytes} MB, and clients of `caphost mcp` read at most {most} MB. \
         The call has run. `caphost mcp --save-to <folder>` and `caphost call <capability> --output <file>` write files, \
         and MCP over HTTP has no such limit."
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

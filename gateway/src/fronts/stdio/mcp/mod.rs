//! `caphost mcp`: MCP for clients that start their servers, between standard input and output and
//! a gateway's HTTP.
//!
//! Each request is an HTTP request of its own, so all that holds over HTTP holds here.
//!
//! | file | what it knows |
//! |---|---|
//! | `mod` | what is in flight, and what becomes of each message |
//! | `header` | values of headers |
//! | `link` | the gateway: requests and their headers, its session, what is wrong with an answer |

mod header;
mod link;

use std::collections::HashMap;
use std::io;
use std::time::Duration;

use futures_util::future::BoxFuture;
use futures_util::stream::FuturesUnordered;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use parking_lot::Mutex;
use reqwest::StatusCode;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio::sync::{Notify, watch};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tokio_util::codec::FramedRead;

use super::codec::{Broken, Codec, Frame};
use super::{CHUNK_BYTES, LAST_MESSAGES, MESSAGE_BYTES, Output};
use crate::pauses::Pauses;
use crate::wire::json_rpc::{Fault, Id, Message, RpcError, code, read, read_cancel};
use crate::wire::mended;
pub use link::Endpoint;
use link::{Link, Membership, Request, Session, answers, disconnected, failure, messages};

/// How long what follows `initialize` waits for its answer.
const GREETING: Duration = Duration::from_secs(30);
/// How long telling the gateway that the client is gone may take.
const LEAVE: Duration = Duration::from_secs(2);
/// Time between the progress of a request and its answer. Clients read what comes together at once, and
/// some hear of the answer first: the progress is then that of a request they do not know any more.
const BREATH: Duration = Duration::from_millis(10);
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
    let bridge = Bridge {
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
struct Bridge<W> {
    link: Link,
    session: Session,
    output: Output<W>,
    in_flight: Mutex<HashMap<Id, Exchange>>,
    /// What is no request, to be sent in the order it came.
    posts: UnboundedSender<String>,
    /// The client has said `notifications/initialized`.
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

/// What a message of the client leaves to do.
enum Task<'a> {
    /// To pass it on, and what comes for it.
    Request(BoxFuture<'a, io::Result<()>>),
    /// To answer it here.
    Answer(BoxFuture<'a, io::Result<()>>),
}

impl<W: AsyncWrite + Unpin + Send> Bridge<W> {
    /// Reads what the client says, and does what it asks for, until the input ends.
    async fn read(&self, mut input: FramedRead<impl AsyncRead + Unpin, Codec>) -> io::Result<()> {
        let (mut requests, mut answers) = (FuturesUnordered::new(), FuturesUnordered::new());
        loop {
            tokio::select! {
                // A client that does not read its answers is not read from either.
                frame = input.next(), if answers.len() < UNWRITTEN => match frame {
                    Some(Ok(frame)) => match self.take(frame) {
                        Some(Task::Request(request)) => requests.push(request),
                        Some(Task::Answer(answer)) => answers.push(answer),
                        None => {}
                    },
                    Some(Err(Broken::Io(error))) => return Err(error),
                    Some(Err(Broken::Lost(what))) => return Err(io::Error::other(what)),
                    None => {
                        // Requests in flight are given up, and with them their hold on the output.
                        drop(requests);
                        let rest = answers.try_collect::<()>();
                        return timeout(LAST_MESSAGES, rest).await.unwrap_or(Ok(()));
                    }
                },
                Some(done) = requests.next() => done?,
                Some(done) = answers.next() => done?,
            }
        }
    }

    fn take(&self, frame: Frame) -> Option<Task<'_>> {
        let refuse = |id: Option<Id>, code: i32, what: &str| {
            let id = id.as_ref().map_or(&Value::Null, Id::value);
            Some(self.answer(RpcError::new(code, what).answer(id).to_string()))
        };
        let Frame::Message(text) = frame else {
            return refuse(None, code::PARSE_ERROR, "A line too long, or not UTF-8");
        };
        match read(&mended(&text)) {
            Err(_) => return refuse(None, code::PARSE_ERROR, "Not JSON"),
            Ok(
                Message::Invalid {
                    fault: Fault::NoObject,
                    ..
                }
                | Message::Batch,
            ) => {
                let what = "A message is an object; batches are not part of this protocol";
                return refuse(None, code::INVALID_REQUEST, what);
            }
            Ok(Message::Invalid { id, fault }) => {
                return refuse(id, code::INVALID_REQUEST, fault.as_str());
            }
            Ok(Message::Request { id, .. }) if id.value().is_null() => {
                let what = "`id` must be a string or an integer";
                return refuse(None, code::INVALID_REQUEST, what);
            }
            Ok(Message::Request { id, method, params }) => {
                let request = Request::new(id, &method, params);
                return Some(self.request(text, request));
            }
            Ok(Message::Notification { method, params }) => match read_cancel(&method, params) {
                Some(cancel) => self.cancel(&cancel.id, text),
                None => drop(self.posts.send(text)),
            },
            Ok(Message::Response(_)) => drop(self.posts.send(text)),
        }
        None
    }

    fn answer(&self, answer: String) -> Task<'_> {
        Task::Answer(async move { self.output.say(&answer).await }.boxed())
    }

    fn request(&self, text: String, request: Request) -> Task<'_> {
        let mut in_flight = self.in_flight.lock();
        if in_flight.contains_key(&request.id) {
            let what = "A request with this id is in flight";
            let refusal = RpcError::new(code::INVALID_REQUEST, what);
            return self.answer(refusal.answer(request.id.value()).to_string());
        }
        let (cancel, mut cancels) = unbounded_channel();
        let alone = request.version.is_some();
        let begins = !alone && request.method == "initialize";
        if begins {
            self.greeting.send_modify(|greeting| *greeting += 1);
        }
        in_flight.insert(request.id.clone(), Exchange { alone, cancel });
        let request = async move {
            if begins {
                let said = self.exchange(text, &request, &mut cancels).await;
                self.greeting.send_modify(|greeting| *greeting -= 1);
                return said;
            }
            if !alone {
                self.greeted().await;
                return self.exchange(text, &request, &mut cancels).await;
            }
            let (_never, mut none) = unbounded_channel();
            tokio::select! {
                biased;
                Some(_) = cancels.recv() => Ok(()),
                said = self.exchange(text, &request, &mut none) => said,
            }
        };
        Task::Request(request.boxed())
    }

    /// Sends a request and passes on what comes for it.
    async fn exchange(
        &self,
        text: String,
        request: &Request,
        cancels: &mut UnboundedReceiver<String>,
    ) -> io::Result<()> {
        let id = request.id.value();
        let begins = request.method == "initialize";
        let response = match self.send(&text, request).await {
            Ok(response) if response.status().is_success() => response,
            sent => {
                let said = match sent {
                    Ok(response) => failure(response, id).await,
                    Err(error) => self.link.unreachable(id, &error),
                };
                self.over(&request.id);
                return match cancels.is_empty() {
                    true => self.output.say(&said).await,
                    false => Ok(()),
                };
            }
        };
        if begins {
            self.session.begun(text, request.id.clone(), &response);
        }
        let mut incoming = messages(response);
        let (mut told, mut cancelled) = (None, false);
        loop {
            let message = tokio::select! {
                biased;
                // A cancel must not overtake its request, which is another connection.
                Some(cancel) = cancels.recv() => {
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
                self.over(&request.id);
            }
            let message = message.unwrap_or_else(|| {
                disconnected(id, "The gateway closed the stream before it answered")
            });
            if answered && begins {
                self.session.answered(&message);
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
        if request.version.is_some() {
            return self.link.post_alone(text.into(), request).await;
        }
        let membership = match &*request.method {
            "initialize" => Membership::default(),
            _ => self.session.membership(),
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

    /// No `initialize` is in flight, or its answer is not waited for any longer.
    async fn greeted(&self) {
        let mut greeting = self.greeting.subscribe();
        // The sender is ours: it is never gone.
        let _ = timeout(GREETING, greeting.wait_for(|greeting| *greeting == 0)).await;
    }

    /// Sends what is no request, each after what came before it.
    async fn post(&self, mut posts: UnboundedReceiver<String>) {
        while let Some(text) = posts.recv().await {
            let begins = matches!(
                read(&text),
                Ok(Message::Notification { method, .. }) if method == "notifications/initialized"
            );
            self.greeted().await;
            self.deliver(text).await;
            if begins {
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

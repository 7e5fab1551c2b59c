//! A call that is not answered yet: its response, and its caller.

use std::sync::Arc;
use std::time::Duration;

use axum::response::Response;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt, Stream, StreamExt, stream};
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::head::Accepted;
use super::parked::{Asks, Parkable};
use super::progress::Progress;
use super::questions;
use super::reply::{awaited, event_bytes, events, whole};
use super::result::{self, Ended, ToolResult, answer};
use super::session::McpSession;
use super::tasks::{Becoming, Work};
use super::tool::Tool;
use crate::bounds::Permit;
use crate::fronts::kept::keep;
use crate::fronts::rpc::Request;
use crate::fronts::shared_sessions::InUse;
use crate::gateway::calls::Call;
use crate::gateway::{AbpError, Outcome, Step};
use crate::wire::abp::CALL_ENDED;
use crate::wire::json_rpc::{Id, RpcError, code, notification};
use crate::wire::stops;
use caphost::call::Code;

/// A call that ends within this time, and has no progress before, is answered in one piece. After this time
/// the gateway sends the head of a stream. A client may give up on a server that sends nothing, because it
/// cannot tell a busy server from a dead one. Clients wait for a head for at least 30 s.
const IN_ONE_PIECE: Duration = Duration::from_secs(10);
/// The same time, for an answer that is part of a stream in any case.
const PROMPT: Duration = Duration::from_millis(10);

/// How many messages of one call its client may leave unread: progress, and the answer.
const UNREAD: usize = 16;

/// A call whose answer its client waits for. `None` once the call is answered. Dropping it before cancels the
/// call.
pub struct Underway(Option<Awaited>);

struct Awaited {
    id: Id,
    tool: Tool,
    call: Call,
    within: Within,
    /// The bytes of an event that the client reads, if the answer is an event and the client has a bound.
    event_bytes: Option<usize>,
    /// Whether the response is a stream, or can become one. Otherwise questions go to a stream that listens.
    streams: bool,
    /// The numbers of the questions that the client was asked, and that are not withdrawn.
    asked: Vec<u64>,
    /// Those of them that are left to be withdrawn, once the client has given up the call.
    to_withdraw: Option<Vec<u64>>,
}

/// A message to the client.
enum Said {
    /// A notification that may be dropped.
    Progress(String),
    /// The question with that number.
    Question(u64, String),
    /// The notification that a question needs no answer any more.
    Withdrawn(String),
    Answer(String),
}

impl Said {
    fn into_text(self) -> String {
        match self {
            Said::Progress(text)
            | Said::Question(_, text)
            | Said::Withdrawn(text)
            | Said::Answer(text) => text,
        }
    }
}

/// The session in which a call is made.
pub enum Within {
    /// A session of MCP.
    Session {
        session: Arc<McpSession>,
        /// The request, which the client may cancel. Then it is not answered.
        request: Request,
    },
    /// A session of the app that requests without a session share.
    Shared {
        /// The session is kept as long as the call.
        in_use: InUse,
        /// The questions of the call, if the client fills in forms.
        asks: Option<Asks<Underway>>,
        /// Whether and when the call becomes a task.
        becoming: Becoming,
    },
}

impl Within {
    /// The questions that the client answers with another request.
    fn asks(&mut self) -> Option<&mut Asks<Underway>> {
        match self {
            Within::Shared { asks, .. } => asks.as_mut(),
            Within::Session { .. } => None,
        }
    }
}

impl Underway {
    /// The answer to the request with that id, which is the end of `call`.
    pub fn new(id: Id, tool: Tool, call: Call, within: Within) -> Self {
        Underway(Some(Awaited {
            id,
            tool,
            call,
            within,
            event_bytes: None,
            streams: false,
            asked: Vec::new(),
            to_withdraw: None,
        }))
    }

    /// The response. The client may read it slowly: the call does not wait.
    pub async fn respond(mut self, share: Permit, accepted: Accepted) -> Response {
        let patience = match accepted {
            Accepted { events: false, .. } => Duration::MAX,
            Accepted { json: true, .. } => IN_ONE_PIECE,
            _ => PROMPT,
        };
        if !accepted.json {
            self.will_be_event(accepted);
        }
        if let Some(awaited) = &mut self.0 {
            awaited.streams = accepted.events;
        }
        let first = loop {
            match timeout(patience, self.next()).await {
                Ok(None) => return whole(None, accepted),
                Ok(Some(Said::Answer(answer))) => {
                    // The response counts as open until it is written.
                    return whole(Some(&answer), accepted).map(|body| keep(body, share));
                }
                Ok(Some(said)) if accepted.events => break Some(said.into_text()),
                // There is no place for it.
                Ok(Some(_)) => {}
                Err(_) if accepted.json && accepted.event_bytes.is_some() => {
                    return awaited(self.in_one_piece(), share);
                }
                Err(_) => break None,
            }
        };
        self.will_be_event(accepted);
        events(first, self.messages(), share)
    }

    /// The answer, without more progress, because the client may not be able to read the answer as an event. JSON
    /// that has begun has to end: a client that has cancelled the call, and no longer waits, is told so.
    fn in_one_piece(mut self) -> BoxFuture<'static, String> {
        let cancelled = RpcError::new(code::CANCELLED, "The client has cancelled the call");
        let cancelled = self.0.as_ref().map(|it| cancelled.answer(it.id.value()));
        let cancelled = cancelled.unwrap_or_default().to_string();
        if let Some(awaited) = &mut self.0 {
            awaited.tool.progress = None;
            awaited.streams = false;
        }
        let mut messages = self.messages();
        async move { messages.next().await.unwrap_or(cancelled) }.boxed()
    }

    /// The answer will be an event.
    fn will_be_event(&mut self, accepted: Accepted) {
        if let Some(awaited) = &mut self.0 {
            awaited.event_bytes = accepted.event_bytes;
        }
    }

    /// The messages that are still to come.
    fn messages(self) -> impl Stream<Item = String> + Send + Unpin + 'static {
        let (sender, mut receiver) = mpsc::channel(UNREAD);
        tokio::spawn(self.see_through(sender));
        stream::poll_fn(move |context| receiver.poll_recv(context))
    }

    /// Goes on until the call is answered, or the response is closed.
    async fn see_through(mut self, sender: mpsc::Sender<String>) {
        loop {
            let message = tokio::select! {
                biased;
                () = sender.closed() => return,
                message = self.next() => message,
            };
            let Some(message) = message else {
                return;
            };
            // One place is kept for the answer. Progress that nobody reads is dropped.
            let has_room = sender.capacity() > 1;
            match message {
                Said::Question(number, _) if !has_room => self.is_unread(number),
                Said::Progress(_) | Said::Withdrawn(_) if !has_room => {}
                message => drop(sender.try_send(message.into_text())),
            }
        }
    }

    /// Parks the call until another request brings the answers to its questions. Returns the answer to the request.
    fn park(&mut self) -> Option<String> {
        let mut awaited = self.0.take()?;
        let (id, run) = (awaited.id.clone(), awaited.call.id);
        let ticket = awaited.within.asks()?.ticket(run);
        let answer = answer(&id, Ok(&ticket.result));
        ticket.keep(Underway(Some(awaited)));
        Some(answer)
    }

    /// Makes a task of the call. Returns the answer to the request, or `None` if there is no place for a task.
    fn become_task(&mut self) -> Option<String> {
        let Within::Shared { becoming, .. } = &mut self.0.as_mut()?.within else {
            return None;
        };
        let (tasks, place) = becoming.place()?;
        let Some(Awaited {
            id,
            tool,
            call,
            within: Within::Shared { in_use, asks, .. },
            ..
        }) = self.0.take()
        else {
            return None;
        };
        let task = tasks.begin(
            place,
            None,
            Work {
                id: id.clone(),
                tool,
                call,
                in_use,
                takes_questions: asks.is_some(),
                session: None,
            },
        );
        Some(answer(&id, Ok(task.created())))
    }

    /// The client does not read its messages: the question with that number is not asked.
    fn is_unread(&mut self, number: u64) {
        if let Some(awaited) = &mut self.0 {
            awaited.asked.retain(|it| *it != number);
            awaited.not_asked(number, "The client does not read its messages");
        }
    }

    /// The next message: progress, a question, or the answer. `None` after the answer, or if there will be none.
    /// Dropping this future loses nothing.
    async fn next(&mut self) -> Option<Said> {
        loop {
            let it = self.0.as_mut()?;
            let step = match &it.within {
                Within::Shared { asks, becoming, .. } => {
                    let is_asking = asks.as_ref().is_some_and(Asks::is_asking);
                    match it.call.next().now_or_never() {
                        Some(step) => step,
                        // Another request brings the answers.
                        None if is_asking => return self.park().map(Said::Answer),
                        None => match becoming.not_yet(it.call.next()).await {
                            Some(step) => step,
                            None => match self.become_task() {
                                Some(answer) => return Some(Said::Answer(answer)),
                                None => continue,
                            },
                        },
                    }
                }
                Within::Session { request, .. } => match request.next(&mut it.call).await {
                    Some(step) => step,
                    // The client has cancelled the call.
                    None => return it.withdraw_next(),
                },
            };
            match step {
                Step::Progress(info) => {
                    let progress = it.tool.progress.as_mut();
                    if let Some(params) = progress.and_then(|it| it.read(&info)) {
                        let progress = notification("notifications/progress", params);
                        return Some(Said::Progress(progress.to_string()));
                    }
                }
                Step::Question(number, request) => {
                    if let Some(question) = it.ask(number, &request) {
                        return Some(Said::Question(number, question));
                    }
                }
                Step::Withdrawn(number) => {
                    if let Some(asks) = it.within.asks() {
                        asks.withdraw(number);
                    }
                    let asked = it.asked.len();
                    it.asked.retain(|it| *it != number);
                    if it.asked.len() < asked
                        && let Some(withdrawn) = it.withdraw(number)
                    {
                        return Some(withdrawn);
                    }
                }
                Step::Ended(outcome) => return self.0.take()?.answer(outcome).map(Said::Answer),
            }
        }
    }
}

impl Parkable for Underway {
    fn is_called(&self, name: &str) -> bool {
        self.0.as_ref().is_some_and(|it| it.tool.called == name)
    }

    fn resume(&mut self, request: &super::request::Request<'_>, answers: &Map<String, Value>) {
        let Some(it) = &mut self.0 else {
            return;
        };
        it.id = request.id.clone();
        let progress = request.progress_token();
        it.tool.progress = progress.map(|token| Progress::new(token, it.tool.version));
        it.event_bytes = None;
        if let Within::Shared { becoming, .. } = &mut it.within {
            becoming.renew(request.takes_tasks());
        }
        if let Some(asks) = it.within.asks() {
            for (number, payload) in asks.answered(answers) {
                it.call.answer(number, &payload);
            }
        }
    }

    fn expire(mut self) {
        if let Some(awaited) = self.0.take() {
            awaited.give_up("The client has not answered the question in time");
        }
    }
}

impl Drop for Underway {
    fn drop(&mut self) {
        if let Some(awaited) = self.0.take() {
            awaited.give_up("The response stream was closed");
        }
    }
}

impl Awaited {
    /// The message that asks the client that question of the app, for the response. If the response is no stream,
    /// a stream that listens gets the message.
    fn ask(&mut self, number: u64, request: &Value) -> Option<String> {
        let Some(form) = questions::form(request) else {
            self.not_asked(number, "The client takes forms only");
            return None;
        };
        let session = match &mut self.within {
            Within::Session { session, .. } => session,
            Within::Shared {
                asks: Some(asks), ..
            } => {
                asks.ask(number, form);
                return None;
            }
            Within::Shared { asks: None, .. } => {
                self.not_asked(number, "The client takes no questions");
                return None;
            }
        };
        let message = questions::asked(self.call.id, number, &form);
        if self.streams {
            self.asked.push(number);
            return Some(message);
        }
        match session.tell(message) {
            true => self.asked.push(number),
            false => self.not_asked(number, "The client has no stream open"),
        }
        None
    }

    /// Tells the app that the client is not asked.
    fn not_asked(&self, number: u64, why: &str) {
        self.call.answer(number, &questions::not_asked(why));
    }

    /// The message that takes the question with that number back, for the response.
    fn withdraw(&self, number: u64) -> Option<Said> {
        let message = questions::withdrawn(self.call.id, number);
        match (&self.within, self.streams) {
            (_, true) => return Some(Said::Withdrawn(message)),
            (Within::Session { session, .. }, false) => drop(session.tell(message)),
            (Within::Shared { .. }, false) => {}
        }
        None
    }

    /// Takes back the next question of a call that the client has given up.
    fn withdraw_next(&mut self) -> Option<Said> {
        let (call, asked) = (&mut self.call, &self.asked);
        self.to_withdraw.get_or_insert_with(|| {
            let mut left = call.open_questions();
            left.retain(|it| asked.contains(it));
            left
        });
        while let Some(number) = self.to_withdraw.as_mut()?.pop() {
            if let Some(withdrawn) = self.withdraw(number) {
                return Some(withdrawn);
            }
        }
        None
    }

    /// The answer, unless the client has given it up.
    fn answer(self, outcome: Outcome) -> Option<String> {
        let ended = self.tool.ended(&self.id, self.call.id, outcome);
        let answer = self.answer_of(ended);
        if let Within::Session { session, request } = self.within {
            // The client may use the id again as soon as it has read this.
            let is_awaited = session.over(&request);
            if self.call.is_abandoned() {
                tokio::spawn(tell_late_end(session, self.id, self.call));
            }
            return is_awaited.then_some(answer);
        }
        Some(answer)
    }

    /// The end of the request as text. In place of an event that would end the client's stream it says how to get
    /// the result.
    fn answer_of(&self, ended: Ended) -> String {
        let write = |ended: Ended| match self.within {
            Within::Shared { .. } => answer(&self.id, ended.map(ToolResult::complete)),
            Within::Session { .. } => answer(&self.id, ended),
        };
        let answer = write(ended);
        match self.event_bytes {
            Some(most) if event_bytes(&answer) > most => write(Ok(result::failed(
                &too_large(&answer, most),
                Some(self.call.id),
            ))),
            _ => answer,
        }
    }

    /// The answer is no longer wanted. The end of the call is for the record only.
    fn give_up(mut self, reason: &str) {
        // What goes to the response reaches nobody any more.
        self.streams = false;
        while self.withdraw_next().is_some() {}
        match self.within {
            Within::Session { session, request } => {
                // The client may have cancelled the call before, with a reason.
                if session.over(&request) {
                    self.call.canceller().cancel(Some(reason.into()));
                }
                tokio::spawn(tell_late_end(session, self.id, self.call));
            }
            Within::Shared { in_use, .. } => {
                self.call.canceller().cancel(Some(reason.into()));
                tokio::spawn(async move {
                    self.call.outcome().await;
                    drop(in_use);
                });
            }
        }
    }
}

/// The error in place of an answer that the client cannot read as an event.
fn too_large(answer: &str, most: usize) -> AbpError {
    let bytes = answer.len();
    let what = format!(
        "The call has ended, but its result has {bytes} bytes, and this client reads at most {most} bytes in one event. \
         A call without a progress callback has no such limit: its result is one JSON body. A new call does the \
         work again"
    );
    AbpError::new(Code::OPERATION_FAILED, what)
}

/// Waits for the late end of a call, if the call ends as abandoned, and tells its client with a log message.
async fn tell_late_end(session: Arc<McpSession>, id: Id, call: Call) {
    let call_id = call.call_id().to_string();
    if let Some(end) = call.late_end().await {
        session.notice(|| {
            let mut data = stops::ended_json(end);
            data["event"] = CALL_ENDED.into();
            data["callId"] = call_id.into();
            data["requestId"] = id.value().clone();
            let params = json!({ "level": "notice", "logger": "caphost", "data": data });
            notification("notifications/message", params).to_string()
        });
    }
}

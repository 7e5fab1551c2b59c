//! One session of MCP, in the versions before 2026-07-28: its calls in flight, and the streams that listen.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use subtle::ConstantTimeEq;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use super::caller::Caller;
use super::overtaken::Overtaken;
use super::request::ClientInfo;
use super::sealing::{Said, is_over};
use crate::bounds::QuotaKey;
use crate::broker::calls::Dialect;
use crate::fronts::rpc::{InFlight, Request};
use crate::gateway::Hub;
use crate::gateway::calls::{self, Call, Client, NewCall};
use crate::gateway::files::MOST_OF_ONE;
use crate::wire::json_rpc::Id;
use caphost::dialect::mcp::Version;

/// How many streams may listen. A client needs one, and may open the next before the gateway knows that the
/// last is closed.
pub(crate) const LISTENING: usize = 8;
/// How many messages may wait in a stream.
const WAITING: usize = 64;

/// The reason of a cancel that gives none.
const CANCELLED: &str = "The client cancelled the request";

/// One session.
pub struct McpSession {
    /// The session's name in lists, in logs and between workers. Its owner uses the session with the
    /// `Mcp-Session-Id`, so no list or log shows that.
    pub number: Uuid,
    /// The `Mcp-Session-Id`.
    pub id: String,
    /// When the session ends, in seconds of Unix time.
    until: u64,
    /// The owner of the session, and the app that the owner names.
    pub caller: Caller,
    /// The holder whose share of the sessions it uses.
    pub quota_key: QuotaKey,
    /// Whether the session was taken up by its id: it has begun on another worker, or was forgotten here.
    pub is_taken_up: bool,
    /// The client's own name and version.
    pub client: ClientInfo,
    /// The version of MCP in this session.
    pub version: &'static Version,
    /// Whether the client fills in forms.
    pub takes_forms: bool,
    /// Cancelled when the session is over.
    pub ended: CancellationToken,
    /// The calls in flight, by the ids that the client has given.
    in_flight: Arc<InFlight>,
    state: Mutex<State>,
}

struct State {
    /// The sessions with apps, by the names of the apps. The first call of an app opens its session.
    apps: HashMap<Box<str>, calls::Session>,
    overtaken: Overtaken,
    /// The streams that listen, the newest last. The newest gets the messages.
    listening: VecDeque<(u64, mpsc::Sender<String>)>,
    /// The number of the newest stream.
    last: u64,
    /// The tools that the client was last told of, if that is known.
    tools: Option<u64>,
    /// Whether the client wants messages of the level `notice`.
    hears_notices: bool,
    used: Instant,
    /// The files that results of the session link to, the newest last.
    files: VecDeque<Uuid>,
}

/// Why a request is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// The session has ended.
    Gone,
    /// The cancel came first, so the request is not answered.
    Cancelled,
    /// The id is in use.
    InFlight,
}

impl McpSession {
    /// The session with that number and id, of which the id says so much.
    pub fn new(
        caller: Caller,
        quota_key: QuotaKey,
        (number, id): (Uuid, String),
        said: Said,
        is_taken_up: bool,
    ) -> Self {
        McpSession {
            number,
            id,
            until: said.until,
            caller,
            quota_key,
            is_taken_up,
            client: said.client,
            takes_forms: said.takes_forms,
            version: Version::for_session(&said.version),
            ended: CancellationToken::new(),
            in_flight: Arc::default(),
            state: Mutex::new(State {
                apps: HashMap::new(),
                overtaken: Overtaken::default(),
                listening: VecDeque::new(),
                last: 0,
                tools: None,
                hears_notices: true,
                used: Instant::now(),
                files: VecDeque::new(),
            }),
        }
    }

    /// The client is about to read these tools.
    pub fn finds(&self, tools: u64) {
        self.state.lock().tools = Some(tools);
    }

    /// The client has said that it is initialised. From now on it is known which tools it has read, unless
    /// the session has begun on another worker.
    pub fn initialized(&self, tools: impl FnOnce() -> u64) {
        if !self.is_taken_up {
            self.state.lock().tools.get_or_insert_with(tools);
        }
    }

    /// Takes a request that needs no call.
    pub fn take(&self, id: &Id) -> Result<(), NotTaken> {
        let mut state = self.state.lock();
        self.let_in(&mut state, id)?;
        state.overtaken.over(id.clone());
        Ok(())
    }

    /// Takes a request and makes its call of that app.
    pub fn begin(
        &self,
        hub: &Arc<Hub>,
        id: &Id,
        app: &str,
        call: NewCall,
    ) -> Result<(Request, Call), NotTaken> {
        let mut state = self.state.lock();
        let request = self.let_in(&mut state, id)?;
        if !state.apps.contains_key(app) {
            // Apps come and go while the session lasts.
            state.apps.retain(|app, _| hub.offer(Some(app)).is_ok());
            state.apps.insert(app.into(), self.open(hub, app));
        }
        let session = &state.apps[app];
        let call = session.call(call);
        request.becomes(&call);
        Ok((request, call))
    }

    /// Ends that request. Returns false if the client has given it up.
    pub fn over(&self, request: &Request) -> bool {
        let mut state = self.state.lock();
        state.used = Instant::now();
        let was_awaited = request.end(|| ());
        if was_awaited {
            state.overtaken.over(request.id.clone());
        }
        was_awaited
    }

    /// The client cancels a request. The request gets no answer, and its stream ends. If the request has not
    /// come yet, it will not start. If it has ended, nothing happens. Returns false if another worker may
    /// have the request.
    pub fn cancel(&self, id: &Id, reason: Option<String>) -> bool {
        let mut state = self.state.lock();
        let now = Instant::now();
        state.used = now;
        let reason = reason.unwrap_or_else(|| CANCELLED.into());
        // The cancel goes to the app at once. Its outcome is for the record only.
        if self.in_flight.cancel(id, Some(reason), false) || self.in_flight.give_up(id) {
            state.overtaken.over(id.clone());
            return true;
        }
        state.overtaken.wait(id, now);
        state.overtaken.is_over(id)
    }

    /// Takes a request that reads a file, and that the client may cancel until it has read the answer.
    pub fn begin_reading(&self, id: &Id) -> Result<Request, NotTaken> {
        let mut state = self.state.lock();
        self.let_in(&mut state, id)
    }

    /// A result of the session links to these files.
    pub fn links_to(&self, files: &[Uuid]) {
        let mut state = self.state.lock();
        state.files.extend(files);
        while state.files.len() > MOST_OF_ONE {
            state.files.pop_front();
        }
    }

    /// The files that results of the session link to, which end with the session.
    pub fn take_files(&self) -> Vec<Uuid> {
        std::mem::take(&mut self.state.lock().files).into()
    }

    /// Sets the cancels that came before the session was here.
    pub fn set_overtaken(&self, overtaken: Overtaken) {
        self.state.lock().overtaken = overtaken;
    }

    /// Another stream that listens: its number and its messages.
    pub fn listen(&self) -> (u64, mpsc::Receiver<String>) {
        let mut state = self.state.lock();
        state.used = Instant::now();
        let (sender, inbox) = mpsc::channel(WAITING);
        state.last += 1;
        let number = state.last;
        if !self.ended.is_cancelled() {
            state.listening.push_back((number, sender));
        }
        if state.listening.len() > LISTENING {
            state.listening.pop_front();
        }
        (number, inbox)
    }

    /// A listening stream is closed.
    pub fn unlisten(&self, number: u64) {
        let mut state = self.state.lock();
        state.used = Instant::now();
        state.listening.retain(|(it, _)| *it != number);
    }

    /// Whether that stream gets the messages.
    pub fn is_newest(&self, number: u64) -> bool {
        let state = self.state.lock();
        state.listening.back().is_some_and(|(it, _)| *it == number)
    }

    /// The tools may have changed to `tools`. Returns true if that stream is to tell the client, who then
    /// counts as told.
    pub fn take_news(&self, number: u64, tools: u64) -> bool {
        let mut state = self.state.lock();
        let is_newest = state.listening.back().is_some_and(|(it, _)| *it == number);
        is_newest && state.tools.replace(tools) != Some(tools)
    }

    /// Sets whether the client wants messages of the level `notice`.
    pub fn hear_notices(&self, hears: bool) {
        self.state.lock().hears_notices = hears;
    }

    /// Sends a message to the client, if it listens. Returns whether it does.
    pub fn tell(&self, message: String) -> bool {
        let state = self.state.lock();
        let newest = state.listening.back();
        newest.is_some_and(|(_, sender)| sender.try_send(message).is_ok())
    }

    /// Sends a log message of the level `notice` to the client, if it listens.
    pub fn notice(&self, message: impl FnOnce() -> String) {
        let state = self.state.lock();
        let newest = state.listening.back().filter(|_| state.hears_notices);
        // A client that leaves so many messages unread does not need another.
        if let Some((_, sender)) = newest {
            let _ = sender.try_send(message());
        }
    }

    /// Ends the session: calls in flight are cancelled, and its streams end.
    pub fn close(&self) {
        self.ended.cancel();
        let mut state = self.state.lock();
        let reason = "The session has ended";
        self.in_flight.cancel_each(|_| true, reason, false);
        state.listening.clear();
        let apps = std::mem::take(&mut state.apps);
        drop(state);
        drop(apps);
    }

    /// When the session was last used. `None` while it is in use.
    pub fn unused_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        let busy = self.in_flight.len() > 0 || !state.listening.is_empty();
        (!busy).then_some(state.used)
    }

    /// Whether the session is past its end.
    pub fn is_over(&self) -> bool {
        is_over(self.until)
    }

    /// Whether the id is that of this session, and the caller its owner.
    pub fn is_of(&self, id: &str, caller: &Caller) -> bool {
        bool::from(self.id.as_bytes().ct_eq(id.as_bytes())) && self.caller == *caller
    }

    /// How long the session was unused.
    pub fn unused_for(&self) -> Duration {
        self.unused_since()
            .map_or(Duration::ZERO, |it| it.elapsed())
    }

    /// A request has used the session.
    pub fn touch(&self) {
        self.state.lock().used = Instant::now();
    }

    /// A session with that app.
    fn open(&self, hub: &Arc<Hub>, app: &str) -> calls::Session {
        let client = Client {
            dialect: Dialect::Mcp,
            owner: self.caller.identity.clone(),
            app: Some(app.into()),
            name: self.client.name.clone(),
            version: self.client.version.clone(),
            takes_questions: self.takes_forms,
        };
        hub.open_of(self.quota_key.name(), client)
    }

    /// Accepts a request if nothing stands against it. A cancel that has waited for the request is used up.
    fn let_in(&self, state: &mut State, id: &Id) -> Result<Request, NotTaken> {
        state.used = Instant::now();
        if self.ended.is_cancelled() {
            return Err(NotTaken::Gone);
        }
        let request = self.in_flight.begin(id).map_err(|_| NotTaken::InFlight)?;
        match state.overtaken.take_cancel(id) {
            true => Err(NotTaken::Cancelled),
            false => Ok(request),
        }
    }
}

#[cfg(test)]
mod tests;

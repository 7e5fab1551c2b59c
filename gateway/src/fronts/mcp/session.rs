//! One session of MCP, as the versions before 2026-07-28 have them: its calls in flight, and the
//! streams that listen.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use tokio::sync::{mpsc, oneshot};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::overtaken::Overtaken;
use super::request::ClientInfo;
use super::wanted::Wanted;
use crate::bounds::shares::Holder;
use crate::broker::runs::{Dialect, RunId};
use crate::gateway::Hub;
use crate::gateway::calls::{self, Call, Canceller, Client, NewCall};
use crate::tokens::Identity;
use crate::wire::clipped;
use crate::wire::json_rpc::Id;
use caphost::dialect::mcp::Version;

/// Characters of a client's name and version that are kept.
const NAME_CHARS: usize = 256;
/// Streams that listen. A client needs one; it may open the next before the last is known to be
/// closed.
pub(crate) const LISTENING: usize = 8;
/// Messages that wait in one of them.
const WAITING: usize = 64;

/// What a cancel without a reason is for.
const CANCELLED: &str = "The client cancelled the request";

/// Who sends a request, and for which app.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Caller {
    /// Who.
    pub identity: Identity,
    /// The app id in the path, or the only one its token is for; the only app connected, if there
    /// is neither.
    pub app: Option<Arc<str>>,
    /// The tools that it wants, if not all.
    #[serde(default)]
    pub tools: Option<Wanted>,
}

/// One session.
pub struct McpSession {
    /// What it is called in lists and logs. Its `Mcp-Session-Id` lets in who knows it.
    pub thread: Arc<str>,
    /// Whose it is, and for which app.
    pub caller: Caller,
    /// Whose share of the sessions it counts towards.
    pub holder: Holder,
    /// The app it stays with, if its caller names none, once it has met one.
    pub met: OnceLock<Arc<str>>,
    /// Whether it has begun on another worker.
    pub is_taken_up: bool,
    /// What its client says it is called.
    pub client: ClientInfo,
    /// The version that is spoken in it.
    pub version: &'static Version,
    /// Cancelled when it is over.
    pub ended: CancellationToken,
    state: Mutex<State>,
}

struct State {
    /// Its way to the app, which is opened with the first call.
    page: Option<calls::Session>,
    /// The calls in flight, by the ids their client gave them.
    calls: HashMap<Id, InFlight>,
    overtaken: Overtaken,
    /// The streams that listen, the newest last: it gets what there is to hear.
    listening: VecDeque<(u64, mpsc::Sender<String>)>,
    /// The number of the last of them.
    last: u64,
    /// The tools as far as the client was told of them; nothing if that is not known.
    tools: Option<u64>,
    /// The client wants to hear messages of level `notice`.
    hears_notices: bool,
    used: Instant,
}

/// A call in flight.
struct InFlight {
    run: RunId,
    canceller: Canceller,
    /// Dropped with the entry: nobody waits for the answer any more.
    _awaited: oneshot::Sender<()>,
}

/// Why a request is not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotTaken {
    /// The session has ended.
    Gone,
    /// Its cancel came first: it is not answered.
    Cancelled,
    /// Its id is in use.
    InFlight,
}

impl McpSession {
    /// A new one.
    pub fn new(
        caller: Caller,
        holder: Holder,
        thread: Arc<str>,
        client: ClientInfo,
        version: &'static Version,
    ) -> Self {
        let clip = |text: String| clipped(&text, NAME_CHARS).to_string();
        McpSession {
            thread,
            caller,
            holder,
            met: OnceLock::new(),
            is_taken_up: false,
            client: ClientInfo {
                name: clip(client.name),
                version: clip(client.version),
            },
            version,
            ended: CancellationToken::new(),
            state: Mutex::new(State {
                page: None,
                calls: HashMap::new(),
                overtaken: Overtaken::default(),
                listening: VecDeque::new(),
                last: 0,
                tools: None,
                hears_notices: true,
                used: Instant::now(),
            }),
        }
    }

    /// The app it is for: the one its caller names, or the first that was the only one connected. It
    /// stays with that, whichever comes later.
    pub fn app(&self, hub: &Hub) -> Option<&str> {
        if let Some(app) = self.caller.app.as_ref().or(self.met.get()) {
            return Some(app);
        }
        let only = hub.offer(None).ok()?;
        Some(self.met.get_or_init(|| only.app.id.as_str().into()))
    }

    /// The client is about to find these tools.
    pub fn finds(&self, tools: u64) {
        self.state.lock().tools = Some(tools);
    }

    /// The client has said that it is initialised. What it finds is known from here on, unless the session
    /// has begun on another worker.
    pub fn initialized(&self, tools: impl FnOnce() -> u64) {
        if !self.is_taken_up {
            self.state.lock().tools.get_or_insert_with(tools);
        }
    }

    /// Takes a request that is answered at once.
    pub fn take(&self, id: &Id) -> Result<(), NotTaken> {
        let mut state = self.state.lock();
        self.let_in(&mut state, id)?;
        state.overtaken.over(id.clone());
        Ok(())
    }

    /// Takes a request for this call, and makes the call. What it returns with the call ends when nobody waits
    /// for the answer any more.
    pub fn begin(
        &self,
        hub: &Arc<Hub>,
        id: &Id,
        call: NewCall,
    ) -> Result<(Call, oneshot::Receiver<()>), NotTaken> {
        let mut state = self.state.lock();
        self.let_in(&mut state, id)?;
        let page = state.page.get_or_insert_with(|| self.open(hub));
        let call = page.call(call);
        let (awaited, given_up) = oneshot::channel();
        let in_flight = InFlight {
            run: call.id,
            canceller: call.canceller(),
            _awaited: awaited,
        };
        state.calls.insert(id.clone(), in_flight);
        Ok((call, given_up))
    }

    /// Nobody needs to know of that call any more. Returns false if it was not in flight.
    pub fn over(&self, id: &Id, run: RunId) -> bool {
        let mut state = self.state.lock();
        state.used = Instant::now();
        let is_known = state.calls.get(id).is_some_and(|it| it.run == run);
        if is_known {
            state.over(id);
        }
        is_known
    }

    /// The client cancels a request. The request gets no answer; its stream ends. If the request has not
    /// come yet, it will not start. If it is over, nothing happens. Returns false if another worker may
    /// have it.
    pub fn cancel(&self, id: &Id, reason: Option<String>) -> bool {
        let mut state = self.state.lock();
        let now = Instant::now();
        state.used = now;
        if let Some(call) = state.over(id) {
            // On its way to the app at once; what comes of it is for the record only.
            let reason = reason.unwrap_or_else(|| CANCELLED.into());
            call.canceller.cancel(Some(reason));
            return true;
        }
        state.overtaken.wait(id, now);
        state.overtaken.is_over(id)
    }

    /// Sets the cancels that came before the session was here.
    pub fn set_overtaken(&self, overtaken: Overtaken) {
        self.state.lock().overtaken = overtaken;
    }

    /// Another stream that listens: its number, and what is sent to it.
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

    /// Whether that stream is the one that gets what there is to hear.
    pub fn is_newest(&self, number: u64) -> bool {
        let state = self.state.lock();
        state.listening.back().is_some_and(|(it, _)| *it == number)
    }

    /// The tools may have changed to `tools`. Returns true if that stream is to tell the client, which counts
    /// as told then.
    pub fn take_news(&self, number: u64, tools: u64) -> bool {
        let mut state = self.state.lock();
        let is_newest = state.listening.back().is_some_and(|(it, _)| *it == number);
        is_newest && state.tools.replace(tools) != Some(tools)
    }

    /// The client wants to hear messages of level `notice`, or not.
    pub fn hear_notices(&self, hears: bool) {
        self.state.lock().hears_notices = hears;
    }

    /// Sends a log message of level `notice` to those that listen.
    pub fn notice(&self, message: impl FnOnce() -> String) {
        let state = self.state.lock();
        let newest = state.listening.back().filter(|_| state.hears_notices);
        // A client that leaves this many unread has no use for another.
        if let Some((_, sender)) = newest {
            let _ = sender.try_send(message());
        }
    }

    /// Ends the session: what is in flight is cancelled, its streams end.
    pub fn close(&self) {
        self.ended.cancel();
        let mut state = self.state.lock();
        for (_, call) in state.calls.drain() {
            let reason = "The session has ended";
            call.canceller.cancel(Some(reason.into()));
        }
        state.listening.clear();
        let page = state.page.take();
        drop(state);
        drop(page);
    }

    /// When it was last used, unless it is in use.
    pub fn unused_since(&self) -> Option<Instant> {
        let state = self.state.lock();
        let busy = !state.calls.is_empty() || !state.listening.is_empty();
        (!busy).then_some(state.used)
    }

    /// For how long it was not used.
    pub fn unused_for(&self) -> Duration {
        self.unused_since()
            .map_or(Duration::ZERO, |it| it.elapsed())
    }

    /// It was asked for.
    pub fn touch(&self) {
        self.state.lock().used = Instant::now();
    }

    /// Its way to the app.
    fn open(&self, hub: &Arc<Hub>) -> calls::Session {
        let client = Client {
            dialect: Dialect::Mcp,
            owner: self.caller.identity.clone(),
            app: self.app(hub).map(str::to_string),
            name: self.client.name.clone(),
            version: self.client.version.clone(),
        };
        hub.open_of(self.holder.name(), client)
    }

    /// Lets a request in, if nothing stands against it. A cancel that has waited for it is used up.
    fn let_in(&self, state: &mut State, id: &Id) -> Result<(), NotTaken> {
        state.used = Instant::now();
        if self.ended.is_cancelled() {
            return Err(NotTaken::Gone);
        }
        if state.calls.contains_key(id) {
            return Err(NotTaken::InFlight);
        }
        match state.overtaken.take_cancel(id) {
            true => Err(NotTaken::Cancelled),
            false => Ok(()),
        }
    }
}

impl State {
    fn over(&mut self, id: &Id) -> Option<InFlight> {
        let (id, call) = self.calls.remove_entry(id)?;
        self.overtaken.over(id);
        Some(call)
    }
}

#[cfg(test)]
mod tests {
    use caphost::dialect::mcp::WITH_SESSIONS;
    use serde_json::json;

    use super::*;

    fn session() -> McpSession {
        let caller = Caller {
            identity: Identity::anyone(),
            app: None,
            tools: None,
        };
        let holder = Holder::Token("a".into());
        let client = ClientInfo {
            name: "é".repeat(1 << 20),
            version: "1".into(),
        };
        McpSession::new(caller, holder, "thread".into(), client, &WITH_SESSIONS)
    }

    #[test]
    fn a_long_name_is_clipped() {
        assert_eq!(session().client.name, "é".repeat(NAME_CHARS));
    }

    #[test]
    fn a_cancel_whose_request_may_be_elsewhere_is_passed_on_however_long_its_id_is() {
        let session = session();
        for id in ["short".into(), "long".repeat(100)] {
            let id = Id::read(&json!(id)).unwrap();
            assert!(!session.cancel(&id, None), "it is not here");
            let other = Id::read(&json!(format!("{}-2", id.value()))).unwrap();
            assert_eq!(session.take(&other), Ok(()));
            assert!(session.cancel(&other, None), "it is over here");
        }
    }

    #[tokio::test]
    async fn the_newest_stream_hears_what_there_is() {
        let session = session();
        let (first, mut of_first) = session.listen();
        let (second, mut of_second) = session.listen();
        assert!(session.is_newest(second) && !session.is_newest(first));
        assert!(!session.take_news(first, 1), "the newest tells");
        assert!(session.take_news(second, 1) && !session.take_news(second, 1));
        session.notice(|| "one".into());
        assert_eq!(of_second.recv().await.as_deref(), Some("one"));
        session.unlisten(second);
        session.notice(|| "two".into());
        assert_eq!(of_first.recv().await.as_deref(), Some("two"));
        session.hear_notices(false);
        session.notice(|| "three".into());
        assert!(of_first.try_recv().is_err());
        session.close();
        assert_eq!(of_first.recv().await, None);
        assert_eq!(
            session.take(&Id::read(&json!(1)).unwrap()),
            Err(NotTaken::Gone)
        );
    }

    #[test]
    fn only_so_many_streams_listen() {
        let session = session();
        let mut all: Vec<_> = (0..2 * LISTENING).map(|_| session.listen()).collect();
        let closed = |inbox: &mut mpsc::Receiver<String>| {
            inbox.try_recv() == Err(mpsc::error::TryRecvError::Disconnected)
        };
        let closed = all
            .iter_mut()
            .filter_map(|(_, inbox)| closed(inbox).then_some(()));
        assert_eq!(closed.count(), LISTENING);
    }
}

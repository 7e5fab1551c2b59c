//! One task, and what clients are told of it.

use std::sync::{Arc, Weak};
use std::time::{Duration, SystemTime};

use futures_util::StreamExt;
use futures_util::stream::{self, BoxStream};
use serde::Serialize;
use serde_json::{Map, Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::super::listening::subscribed;
use super::super::questions::{key_of, payload_of_result};
use super::super::session::McpSession;
use super::super::tool::Tool;
use super::end::{End, Words};
use crate::bounds::Permit;
use crate::broker::calls::{RunId, RunState};
use crate::fronts::shared_sessions::InUse;
use crate::gateway::Hub;
use crate::gateway::calls::Call;
use crate::tokens::Identity;
use crate::wire::Json;
use crate::wire::json_rpc::{Id, notification};
use caphost::dialect::mcp::{STATELESS, Version, WITH_SESSIONS};

/// How often a client may ask for the state, in milliseconds.
const POLL_INTERVAL: u64 = 1_000;
/// The reason of a cancel. A client gives none.
const CANCELLED: &str = "The client cancelled the task";
/// How long the answer to a call may come after the confirmation of its cancel, beyond the time that the broker
/// waits for it.
const ANSWER: Duration = Duration::from_secs(1);

/// A call that becomes a task.
pub struct Work {
    /// The id of the request that made the call.
    pub id: Id,
    pub tool: Tool,
    pub call: Call,
    /// The session of the app is kept as long as the call.
    pub in_use: InUse,
    pub takes_questions: bool,
    /// The session of the client, if it has one.
    pub session: Option<Arc<McpSession>>,
}

/// One task.
pub struct Task {
    /// The run of its call.
    pub id: RunId,
    /// Who may ask for it.
    pub owner: Identity,
    /// When it began.
    pub created: SystemTime,
    ttl: Duration,
    /// When its time to live is over.
    pub until: Instant,
    hub: Arc<Hub>,
    /// The session that is told of changes, as long as it is there.
    session: Weak<McpSession>,
    state: watch::Sender<State>,
    _place: Permit,
}

/// What changes of a task.
pub struct State {
    /// The questions that were asked. Those that the broker does not know any more are answered.
    questions: Vec<(u64, Value)>,
    words: Words,
    updated: SystemTime,
    /// The end of the call.
    pub end: Option<Arc<End>>,
}

/// A task with what clients without sessions get beside its state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Detailed {
    #[serde(flatten)]
    task: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    input_requests: Option<Value>,
}

impl Task {
    pub fn new(
        hub: Arc<Hub>,
        (owner, place): (Identity, Permit),
        ttl: Duration,
        work: &Work,
    ) -> Self {
        let created = SystemTime::now();
        let state = State {
            questions: Vec::new(),
            words: None,
            updated: created,
            end: None,
        };
        Task {
            id: work.call.id,
            owner,
            created,
            ttl,
            until: Instant::now() + ttl,
            hub,
            session: work
                .session
                .as_ref()
                .map(Arc::downgrade)
                .unwrap_or_default(),
            state: watch::Sender::new(state),
            _place: place,
        }
    }

    /// The session that is told of changes.
    pub fn session(&self) -> Option<Arc<McpSession>> {
        self.session.upgrade()
    }

    /// Tells of each change from now on. The current state counts as a change.
    pub fn changes(&self) -> watch::Receiver<State> {
        let mut changes = self.state.subscribe();
        changes.mark_changed();
        changes
    }

    /// The end of the call, if it has ended.
    pub fn end(&self) -> Option<Arc<End>> {
        self.state.borrow().end.clone()
    }

    /// Waits for the end of the call.
    pub async fn ended(&self) {
        let _ = (self.state.subscribe())
            .wait_for(|it| it.end.is_some())
            .await;
    }

    /// The questions that wait for answers.
    pub fn open_questions(&self) -> Vec<(u64, Value)> {
        let mut questions = match &*self.state.borrow() {
            State {
                end: None,
                questions,
                ..
            } if !questions.is_empty() => questions.clone(),
            _ => return Vec::new(),
        };
        let open = self.hub.questions_of(self.id);
        questions.retain(|(number, _)| open.contains(number));
        questions
    }

    /// The app asks a question.
    pub fn ask(&self, number: u64, form: Value) {
        self.change(|state| state.questions.push((number, form)));
    }

    /// A question needs no answer any more.
    pub fn withdraw(&self, number: u64) {
        self.change(|state| state.questions.retain(|(it, _)| *it != number));
    }

    /// The client answers a question. `payload` is that of an `elicitation/response`.
    pub fn answer(&self, number: u64, payload: &str) {
        self.hub.give_answer((self.id, number), payload);
        self.withdraw(number);
    }

    /// The client answers questions by their keys. An answer that cannot be read is none.
    pub fn answer_each(&self, answers: &Map<String, Value>) {
        for (number, _) in self.open_questions() {
            let answer = answers.get(&key_of(number));
            if let Some(payload) = answer.and_then(payload_of_result) {
                self.answer(number, &payload);
            }
        }
    }

    /// The call has ended.
    pub fn finish(&self, (end, words): (End, Words)) {
        self.change(|state| {
            state.end = Some(Arc::new(end));
            state.words = words;
        });
    }

    /// More is known of the end.
    pub fn add(&self, words: String) {
        self.change(|state| state.words = Some(words));
    }

    fn change(&self, change: impl FnOnce(&mut State)) {
        self.state.send_modify(|state| {
            change(state);
            state.updated = SystemTime::now();
        });
        if let Some(session) = self.session() {
            let status = notification("notifications/tasks/status", self.json(&WITH_SESSIONS));
            session.tell(status.to_string());
        }
    }

    /// Asks the app to cancel the call, and waits until the app has confirmed, or the confirm timeout is over. If
    /// the call is over then, so is the task.
    pub async fn cancel(&self) {
        let reason = Some(CANCELLED.to_string());
        self.hub.cancel(self.id, reason, &self.owner).await;
        let run = self.hub.run(self.id, &self.owner);
        if run.is_none_or(|run| run.state.is_over()) {
            let patience = self.hub.limits.confirm_timeout + ANSWER;
            let _ = timeout(patience, self.ended()).await;
        }
    }

    /// The state for a client of that version.
    pub fn json(&self, version: &Version) -> Value {
        self.snapshot(version).0
    }

    /// The state for a client of that version, and the end and the open questions that belong to the state.
    fn snapshot(&self, version: &Version) -> (Value, Option<Arc<End>>, Vec<(u64, Value)>) {
        let (end, words, updated) = {
            let state = self.state.borrow();
            (state.end.clone(), state.words.clone(), state.updated)
        };
        let open = match end {
            Some(_) => Vec::new(),
            None => self.open_questions(),
        };
        let status = match &end {
            Some(end) => end.status(version.sessions),
            None if open.is_empty() => "working",
            None => "input_required",
        };
        let mut task = json!({
            "taskId": self.id.to_string(),
            "status": status,
            "createdAt": date(self.created),
            "lastUpdatedAt": date(updated),
        });
        let words = if end.is_some() { words } else { self.course() };
        if let Some(words) = words {
            task["statusMessage"] = words.into();
        }
        let (ttl, poll_interval) = match version.sessions {
            true => ("ttl", "pollInterval"),
            false => ("ttlMs", "pollIntervalMs"),
        };
        task[ttl] = (self.ttl.as_millis() as u64).into();
        task[poll_interval] = POLL_INTERVAL.into();
        (task, end, open)
    }

    /// How far the call is, in words.
    fn course(&self) -> Words {
        let run = self.hub.run(self.id, &self.owner)?;
        match run.state {
            RunState::Queued => Some("The call waits to be sent to the app".into()),
            RunState::Cancelling => {
                Some("The app was asked to cancel the call, and has not confirmed".into())
            }
            RunState::Running => progress(run.progress.as_ref()?.get()),
            _ => None,
        }
    }

    /// The result of the request that has made the task, without a session.
    pub fn created(&self) -> Value {
        let mut task = self.json(&STATELESS);
        task["resultType"] = "task".into();
        task
    }

    /// All that a client without a session is told.
    pub fn detailed(&self) -> Detailed {
        let (task, end, open) = self.snapshot(&STATELESS);
        let requests = open.into_iter().map(|(number, form)| {
            let request = json!({ "method": "elicitation/create", "params": form });
            (key_of(number), request)
        });
        let requests: Map<_, _> = requests.collect();
        Detailed {
            task,
            result: end.as_deref().and_then(End::result),
            error: end.as_deref().and_then(End::error),
            input_requests: (!requests.is_empty()).then_some(Value::Object(requests)),
        }
    }
}

impl Detailed {
    /// With another member of the state.
    pub fn with(mut self, key: &str, value: Value) -> Self {
        self.task[key] = value;
        self
    }
}

/// The changes of a task as messages of the subscription with that id. The first message tells the current
/// state, and the last message the end.
pub fn task_changes(task: Arc<Task>, id: Id) -> BoxStream<'static, String> {
    #[derive(Serialize)]
    struct Notification {
        jsonrpc: &'static str,
        method: &'static str,
        params: Detailed,
    }
    let changes = task.changes();
    let changes = stream::unfold(Some((task, changes, id)), |state| async {
        let (task, mut changes, id) = state?;
        changes.changed().await.ok()?;
        let is_over = changes.borrow_and_update().end.is_some();
        let message = Notification {
            jsonrpc: "2.0",
            method: "notifications/tasks",
            params: task.detailed().with("_meta", subscribed(&id)),
        };
        let message = serde_json::to_string(&message).unwrap_or_default();
        let rest = (!is_over).then_some((task, changes, id));
        Some((message, rest))
    });
    changes.boxed()
}

fn date(of: SystemTime) -> String {
    let date = OffsetDateTime::from(of);
    let date = date.replace_millisecond(date.millisecond()).unwrap_or(date);
    date.format(&Rfc3339).unwrap_or_default()
}

/// A `ProgressInfo` in words.
fn progress(info: &str) -> Words {
    let info: Value = serde_json::from_str(info).ok()?;
    let text = |key: &str| info[key].as_str().map(str::to_string);
    let number = |key: &str| info[key].as_f64();
    let count = || match (number("progress"), number("total")) {
        (Some(progress), Some(total)) => Some(format!("{progress} of {total}")),
        (Some(progress), None) => Some(progress.to_string()),
        (None, _) => number("percentage").map(|it| format!("{it} %")),
    };
    text("status").or_else(|| text("stage")).or_else(count)
}

//! The parts of a message that the broker decides by. They are read before the broker is locked.

use std::borrow::Cow;
use std::sync::Arc;

use uuid::Uuid;

use super::PeerId;
use super::apps::capability_info::CapabilityInfo;
use super::apps::offer::{AppInfo, Offer};
use super::apps::offering::{Register, Update};
use super::calls::{self, NewCall, RunId};
use crate::wire::abp::{CALL_ENDED, ELICITATION_WITHDRAWN, kind};
use crate::wire::{
    Envelope, Failure, Request, Said, answer_to_call, answer_to_cancel, member, members, outline,
    said, stops, text_of,
};
use caphost::call::LateEnd;

/// No notification that concerns the broker is longer.
const MAX_NOTIFICATION_BYTES: usize = 4_096;

/// A well-formed message and its meaning.
#[derive(Debug)]
pub struct Message<'a> {
    /// The message.
    pub envelope: Envelope<'a>,
    pub(super) content: Content<'a>,
}

/// The meaning of a message, by its type.
#[derive(Debug)]
pub(super) enum Content<'a> {
    /// An agent opens its session under that name.
    Hello(Option<Arc<str>>),
    /// An agent calls.
    Call(Box<NewCall<'a>>),
    /// An agent cancels.
    Cancel(Cancel<'a>),
    /// An app answers a request of that type.
    Answer(Request, Box<Said<'a>>),
    /// An app has not understood a request. What its error says, if it has one.
    Failed(Option<Box<Said<'a>>>),
    /// Progress of the call with that token.
    Progress(Option<Cow<'a, str>>),
    /// The handler of the abandoned call with that callId has ended.
    LateEnd(Cow<'a, str>, LateEnd),
    /// The question with that id, as JSON, needs no answer any more.
    Withdrawn(&'a str),
    /// An app registers.
    Register(Box<Result<Register, Failure>>),
    /// An app changes what it offers.
    Update(Box<Result<Update, Failure>>),
    /// Any other message: only its envelope counts.
    Other,
}

/// A cancel by an agent.
#[derive(Debug, Default)]
pub(super) struct Cancel<'a> {
    pub call_id: Option<Cow<'a, str>>,
    pub reason: Option<Cow<'a, str>>,
}

impl<'a> Message<'a> {
    /// Reads an envelope. What an app offers may take `offer_bytes` bytes.
    pub fn read(envelope: Envelope<'a>, offer_bytes: usize) -> Self {
        let payload = envelope.payload.unwrap_or_default();
        let content = match &*envelope.kind {
            kind::INITIALIZE => Content::Hello(agent_of(payload)),
            kind::CALL => Content::Call(read_call(payload).into()),
            kind::CANCEL => Content::Cancel(Cancel::read(payload)),
            kind::ERROR => Content::Failed(error_of(payload)),
            kind::PROGRESS => Content::Progress(operation_of(payload)),
            kind::NOTIFICATION => notification(payload),
            "app/register" => {
                let payload = envelope.object();
                let register = payload.and_then(|it| Register::read(it, offer_bytes));
                Content::Register(Box::new(register))
            }
            "app/update" => {
                let payload = envelope.object();
                let update = payload.and_then(|it| Update::read(it, offer_bytes));
                Content::Update(Box::new(update))
            }
            kind => match Request::answered_by(kind) {
                Some(request) => {
                    let said = match request {
                        Request::Call => answer_to_call(payload),
                        Request::Cancel => answer_to_cancel(payload),
                        _ => said(payload),
                    };
                    Content::Answer(request, said.into())
                }
                None => Content::Other,
            },
        };
        Message { envelope, content }
    }
}

impl Message<'static> {
    /// An app inside the gateway registers.
    pub fn registers(app: AppInfo, capabilities: Vec<CapabilityInfo>) -> Self {
        let register = Register::of(app, capabilities);
        Message::of_app("app/register", Content::Register(Box::new(Ok(register))))
    }

    /// An app inside the gateway offers these capabilities from now on.
    pub fn offers(capabilities: Vec<CapabilityInfo>) -> Self {
        let update = Update::All(capabilities);
        Message::of_app("app/update", Content::Update(Box::new(Ok(update))))
    }

    fn of_app(kind: &'static str, content: Content<'static>) -> Self {
        let envelope = Envelope {
            kind: kind.into(),
            id: None,
            agent: None,
            timestamp: None,
            payload: None,
            call_id: None,
            shared: None,
        };
        Message { envelope, content }
    }
}

impl Message<'_> {
    /// The run of a call belongs to the worker with that process.
    pub fn name_run(&mut self, process: Uuid) {
        if let Content::Call(call) = &mut self.content {
            call.run = call.run.at(process);
            if call.completed.is_some() {
                let id = call.run.to_string();
                call.completed = with_call_id(self.envelope.payload.unwrap_or_default(), &id);
                call.call_id = id.into();
                call.dialect_id = Some(call.call_id.clone());
            }
        }
    }

    /// Whether the message changes what its app offers.
    pub fn is_update(&self) -> bool {
        matches!(self.content, Content::Update(_))
    }

    /// The id of the app that the message registers.
    pub fn app_id(&self) -> Option<&str> {
        match &self.content {
            Content::Register(register) => {
                let app = register.as_ref().as_ref().ok()?.app.as_ref();
                app.ok().map(|app| &*app.id)
            }
            _ => None,
        }
    }

    /// If the message registers an app that replaces the session of a token, `find` tells the connection of
    /// that session on this worker.
    pub fn find_replaced(&mut self, find: impl FnOnce(&str, &str) -> Option<PeerId>) {
        if let Content::Register(register) = &mut self.content
            && let Ok(register) = &mut **register
        {
            let app = register.app.as_ref().map_or("", |app| &*app.id);
            let token = register.replaces.as_deref();
            register.replaced = token.and_then(|token| find(token, app));
        }
    }

    /// Works out what the app offers after this message, which takes long for large offers. `before` is what
    /// the app offers up to now; a message may have `max` bytes.
    pub fn prepare(&mut self, before: &Arc<Offer>, max: usize) {
        if let Content::Update(update) = &mut self.content {
            let read = std::mem::replace(&mut **update, Ok(Update::All(Vec::new())));
            let made = read.and_then(|update| update.made_of(before, max));
            let before = before.clone();
            **update = made.map(|(now, bytes)| Update::Made { before, now, bytes });
        }
    }
}

fn read_call(payload: &str) -> NewCall<'_> {
    let (mut capability, mut call_id) = (None, None);
    let (mut in_options, mut token) = (None, None);
    members(payload.as_bytes(), |key, value| match key {
        "capability" => capability = text_of(value),
        "callId" => call_id = text_of(value),
        "options" => {
            (in_options, token) = (None, None);
            members(value, |key, value| match key {
                "callId" => in_options = text_of(value),
                "progressToken" => token = text_of(value),
                _ => {}
            });
        }
        _ => {}
    });
    let run = RunId::random();
    let given = in_options.or(call_id);
    let completed = match given {
        Some(_) => None,
        None => with_call_id(payload, &run.to_string()),
    };
    let token = token.filter(|token| given.as_ref() != Some(token));
    let call_id: Arc<str> = given.map_or_else(|| run.to_string().into(), Arc::from);
    NewCall {
        run,
        dialect_id: Some(call_id.clone()),
        thread: None,
        capability: capability.unwrap_or_default(),
        call_id,
        token: token.map(Arc::from),
        request: None,
        completed,
        sink: None,
    }
}

impl<'a> Cancel<'a> {
    fn read(payload: &'a str) -> Self {
        let mut cancel = Cancel::default();
        members(payload.as_bytes(), |key, value| match key {
            "callId" => cancel.call_id = text_of(value),
            "reason" => cancel.reason = text_of(value),
            _ => {}
        });
        cancel
    }
}

/// The payload with a `callId` at the top level, where the protocol accepts a callId too.
fn with_call_id(payload: &str, call_id: &str) -> Option<String> {
    let rest = payload.strip_prefix('{')?;
    let empty = rest.trim_start().starts_with('}');
    let comma = if empty { "" } else { "," };
    Some(format!(r#"{{"callId":"{call_id}"{comma}{rest}"#))
}

fn error_of(payload: &str) -> Option<Box<Said<'_>>> {
    let error = member(payload.as_bytes(), "error")?;
    let error = std::str::from_utf8(error).ok()?;
    let Said { code, message, .. } = said(payload);
    let said = Said {
        success: Some(false),
        error: Some(error.into()),
        code,
        message,
        ..Said::default()
    };
    Some(said.into())
}

/// The name in the payload of an `initialize`, or the beginning of a long one.
fn agent_of(payload: &str) -> Option<Arc<str>> {
    let agent = member(payload.as_bytes(), "agent")?;
    let name = member(agent, "name").and_then(text_of)?;
    Some(calls::name(name.into()))
}

fn operation_of(payload: &str) -> Option<Cow<'_, str>> {
    let operation = member(payload.as_bytes(), "operationId")?;
    // An app may turn a token of digits into a number.
    text_of(operation).or_else(|| {
        let number: u32 = serde_json::from_slice(operation).ok()?;
        Some(number.to_string().into())
    })
}

fn notification(payload: &str) -> Content<'_> {
    if payload.len() > MAX_NOTIFICATION_BYTES {
        return Content::Other;
    }
    let event = member(payload.as_bytes(), "event").and_then(text_of);
    let data = member(payload.as_bytes(), "data").unwrap_or_default();
    match event.as_deref() {
        Some(CALL_ENDED) => {
            let call_id = member(data, "callId").and_then(text_of);
            let end = stops::late_end(&outline(data, &["success", "after"]));
            match (call_id, end) {
                (Some(call_id), Some(end)) => Content::LateEnd(call_id, end),
                _ => Content::Other,
            }
        }
        Some(ELICITATION_WITHDRAWN) => {
            let id = member(data, "id").and_then(|id| std::str::from_utf8(id).ok());
            id.map_or(Content::Other, Content::Withdrawn)
        }
        _ => Content::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_without_a_call_id_gets_one() {
        for (before, after) in [
            ("{}", r#"{"callId":"x"}"#),
            (
                r#"{ "capability":"a"}"#,
                r#"{"callId":"x", "capability":"a"}"#,
            ),
        ] {
            let written = with_call_id(before, "x").unwrap();
            assert_eq!(written, after);
            serde_json::from_str::<serde_json::Value>(&written).unwrap();
        }
    }

    #[test]
    fn a_call_id_is_the_one_that_everybody_reads() {
        for (payload, id) in [
            (r#"{"callId":"a"}"#, Some("a")),
            (r#"{"callId":"a","options":{"callId":"b"}}"#, Some("b")),
            (r#"{"options":{"call\u0049d":"b"}}"#, Some("b")),
            (
                r#"{"callId":"a","options":{"callId":"b"},"options":{}}"#,
                Some("a"),
            ),
            (r#"{"callId":"a","callId":"b"}"#, Some("b")),
            (r#"{"callId":"a","callId":7}"#, None),
        ] {
            let call = read_call(payload);
            let read = call.completed.is_none().then_some(&*call.call_id);
            assert_eq!(read, id, "{payload}");
        }
    }
}

//! Questions of apps to the clients of sessions of the gateway itself.

use serde_json::json;

use crate::broker::calls::{CallEvent, RunId, RunState};
use crate::broker::{Broker, PeerId};
use crate::wire::abp::kind;
use crate::wire::{Envelope, Failure, Json, error_json};
use caphost::call::{Code, Error};

/// How many questions of one call may wait for answers.
pub(in crate::broker) const OF_ONE_CALL: usize = 8;

impl Broker {
    /// Passes a question on to the caller of the session's one call.
    pub(in crate::broker) fn ask_internal(
        &mut self,
        app: PeerId,
        session: PeerId,
        envelope: &Envelope<'_>,
        id: &str,
    ) {
        let Ok(payload) = envelope.object() else {
            return;
        };
        let Some(run) = self.asked_run(session) else {
            let error = Error::new(Code::NOT_SUPPORTED, "The agent takes no questions");
            return self.answer_question(app, session, id, &refusal(&error));
        };
        let waiting = self.calls.live(run).map_or(0, |live| live.questions.len());
        let owner = self.apps.get(&app).and_then(|app| app.identity.clone());
        let asked = owner.map(|owner| self.apps.asked.entry(owner.name).or_default());
        let has_room = waiting < OF_ONE_CALL;
        let asked = asked.filter(|it| has_room && it.has_room_with(id, payload.len()));
        let Some(asked) = asked else {
            let message = "Too many questions of this call and its owner's others wait for answers";
            let error = Error::new(Code::RATE_LIMITED, message);
            return self.answer_question(app, session, id, &refusal(&error));
        };
        let question = asked.question_with(id, payload.len());
        let issued = self.issue();
        self.calls
            .change(run, |live| live.questions.push((issued, question)));
        if let Some(sink) = self.calls.sink(run) {
            let request = Json::keep(payload, envelope.shared);
            sink.push(CallEvent::Question(issued, request));
        }
    }

    /// The caller answers a question. An answer to a question that was withdrawn, or whose call has ended,
    /// reaches nobody.
    pub(in crate::broker) fn internal_answer(&mut self, run: RunId, question: u64, payload: &str) {
        let answered = self.calls.change(run, |live| {
            let at = live.questions.iter().position(|(it, _)| *it == question)?;
            Some((live.agent, live.questions.remove(at).1))
        });
        let Some((session, question)) = answered.flatten() else {
            self.counters.answers_dropped += 1;
            return;
        };
        if let Some(app) = self.app_of(session) {
            self.answer_question(app, session, &question.id, payload);
        }
    }

    /// A question needs no answer any more.
    pub(in crate::broker) fn withdraw_internal(&mut self, session: PeerId, id: &str) {
        let runs: Vec<_> = self.calls.all_of(session).collect();
        let withdrawn = runs.into_iter().find_map(|run| {
            let issued = self.calls.change(run, |live| {
                let at = live.questions.iter().position(|(_, it)| *it.id == *id)?;
                Some(live.questions.remove(at).0)
            });
            Some((run, issued??))
        });
        match withdrawn {
            Some((run, issued)) => {
                if let Some(sink) = self.calls.sink(run) {
                    sink.push(CallEvent::Withdrawn(issued));
                }
            }
            None => self.counters.strays_dropped += 1,
        }
    }

    /// The numbers of the questions of a run that wait for answers.
    pub fn questions_of(&self, run: RunId) -> Vec<u64> {
        let questions = self.calls.live(run).map(|live| &live.questions);
        let questions = questions.into_iter().flatten();
        questions.map(|(number, _)| *number).collect()
    }

    /// The call that a question of the session's app is about, if its caller takes questions.
    fn asked_run(&mut self, session: PeerId) -> Option<RunId> {
        self.internal_session(session)
            .filter(|it| it.takes_questions)?;
        let is_running = |run: &RunId| {
            let run = self.calls.get(*run);
            run.is_some_and(|run| matches!(run.state, RunState::Running | RunState::Cancelling))
        };
        let mut running = self.calls.all_of(session).filter(is_running);
        let run = running.next()?;
        running.next().is_none().then_some(run)
    }

    fn answer_question(&mut self, app: PeerId, session: PeerId, id: &str, payload: &str) {
        let Some(agent) = self.sessions.get(&session) else {
            return;
        };
        let handle = agent.handle.clone();
        let kind = kind::ELICITATION_RESPONSE;
        self.send_as(app, kind, Some(id), Some(&handle), payload);
    }
}

fn refusal(error: &Failure) -> String {
    json!({ "success": false, "error": error_json(error) }).to_string()
}

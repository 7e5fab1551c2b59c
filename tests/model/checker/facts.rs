//! What has been seen of each call, at the host, at its handler and at its caller. All rules are about
//! these facts, and a state is known by them.

use crate::call::{Millis, Stop};

use super::scope::Wanted;

/// How a call ended, as somebody was told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Told {
    Completed(u32),
    Failed(&'static str),
    Cancelled(Stop),
}

/// What a cancel was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Said {
    Cancelled(Stop),
    /// The reason, word for word.
    Refused(&'static str),
    Error(&'static str),
}

/// How a handler has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum HandlerEnd {
    Returned,
    Threw,
    StoppedItself,
    /// Its worker was ended, for certain.
    Terminated,
}

/// A cancel that a caller asked for.
#[derive(Clone, Copy, Debug, Default, Hash)]
pub struct Ask {
    pub asked: bool,
    pub said: Option<Said>,
    /// The outcome was known to the agent when this was answered.
    pub knew: Option<Told>,
}

/// One call.
#[derive(Clone, Debug, Hash)]
pub struct Facts {
    pub wanted: Wanted,
    pub agent: u8,
    /// The call that made this one.
    pub parent: Option<u8>,

    // The caller's side.
    pub made: bool,
    pub sent: bool,
    pub aborted: bool,
    pub settled: Option<Told>,
    pub settles: u8,
    pub asks: [Ask; 2],
    /// What the host has told the agent of the call's end, as far as it arrived.
    pub arrived: Option<Told>,
    /// The agent said that the outcome is unknown, before it arrived.
    pub unsure: bool,

    // The host.
    /// The session in which the host took the call.
    pub session: Option<u8>,
    /// The call was refused.
    pub refused: Option<&'static str>,
    /// A second call of that callId was answered so.
    pub reused: Option<&'static str>,
    /// That was after the end of the session.
    pub reused_over: bool,
    /// Cancels that have come, and those answered.
    pub cancels: u8,
    pub answers: u8,
    pub first_answer: Option<Said>,
    pub other_answer: Option<Said>,
    /// An answer came after the response, of those that were asked before.
    pub late_answer: bool,
    pub open_at_response: u8,
    pub responded: Option<Told>,
    pub responses: u8,
    /// There was a reason to stop the call.
    pub cause: bool,
    /// The response was forgotten, as newer calls have ended.
    pub evicted: bool,
    pub ended_notices: u8,
    pub progress_after_end: bool,
    pub question_open: bool,
    pub question_after_end: bool,

    // The handler.
    /// The parameters are being checked, or a person is asked, and what came of that.
    pub checking: bool,
    pub fits: Option<bool>,
    pub started: u8,
    pub started_after_end: bool,
    pub started_after_cause: bool,
    pub signalled: u8,
    pub signalled_before_child: bool,
    /// It knows that it is to stop.
    pub knows: bool,
    pub terminating: bool,
    pub end: Option<HandlerEnd>,
    /// It ended, and no stop had reached it.
    pub ended_first: bool,
    pub ended_at_response: bool,
    /// The response came before the handler had had its time.
    pub too_early: bool,
    /// The weakest grade of what it made and was stopped with.
    pub below: Option<Stop>,
    /// The app was not given the time that it has for its handlers.
    pub hurried: bool,

    pub times: Times,
}

/// When things began that a deadline follows.
#[derive(Clone, Debug, Default)]
pub struct Times {
    pub sent: Option<Millis>,
    pub aborted: Option<Millis>,
    pub asked: [Option<Millis>; 2],
    pub quiet: Option<Millis>,
    pub accepted: Option<Millis>,
    pub signalled: Option<Millis>,
    pub terminating: Option<Millis>,
    pub question: Option<Millis>,
}

/// Times count from now: see [`Facts::since`].
impl std::hash::Hash for Times {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl Facts {
    pub fn new(agent: usize, wanted: Wanted, parent: Option<usize>) -> Self {
        Facts {
            wanted,
            agent: agent as u8,
            parent: parent.map(|it| it as u8),
            made: false,
            sent: false,
            aborted: false,
            settled: None,
            settles: 0,
            asks: Default::default(),
            arrived: None,
            unsure: false,
            session: None,
            refused: None,
            reused: None,
            reused_over: false,
            cancels: 0,
            answers: 0,
            first_answer: None,
            other_answer: None,
            late_answer: false,
            open_at_response: 0,
            responded: None,
            responses: 0,
            cause: false,
            evicted: false,
            ended_notices: 0,
            progress_after_end: false,
            question_open: false,
            question_after_end: false,
            checking: false,
            fits: None,
            started: 0,
            started_after_end: false,
            started_after_cause: false,
            signalled: 0,
            signalled_before_child: false,
            knows: false,
            terminating: false,
            end: None,
            ended_first: false,
            ended_at_response: false,
            too_early: false,
            below: None,
            hurried: false,
            times: Times::default(),
        }
    }

    /// Whether the host has the call in flight.
    pub fn in_flight(&self) -> bool {
        self.session.is_some() && self.responded.is_none()
    }

    /// Whether the handler may still do something.
    pub fn runs(&self) -> bool {
        let dropped = self.wanted.kind.is_dropped() && self.signalled > 0;
        self.started > 0 && self.end.is_none() && !dropped
    }

    pub fn says_cancelled(&self) -> Option<Stop> {
        match self.responded {
            Some(Told::Cancelled(stop)) => Some(stop),
            _ => None,
        }
    }

    /// How long ago each thing began that still has a deadline.
    pub fn since(&self, now: Millis) -> [i16; 9] {
        let times = &self.times;
        let ago = |at: Option<Millis>, counts: bool| match at {
            Some(at) if counts => (now - at).min(1_000.0) as i16,
            _ => -1,
        };
        let (open, pending) = (self.in_flight(), self.settled.is_none());
        [
            ago(times.sent, pending && self.wanted.timeout),
            ago(times.aborted, pending),
            ago(times.asked[0], self.asks[0].said.is_none()),
            ago(times.asked[1], self.asks[1].said.is_none()),
            ago(times.quiet, true),
            ago(times.accepted, open && self.wanted.timeout),
            ago(times.signalled, open),
            ago(times.terminating, open),
            ago(times.question, self.question_open),
        ]
    }
}

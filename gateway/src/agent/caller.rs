//! Whoever waits for a call, and for the end of one that was abandoned.

use std::collections::{HashMap, VecDeque};

use tokio::sync::{mpsc, oneshot};

use super::{Outcome, Step};
use caphost::call::{LateEnd, Stop};

/// Abandoned calls whose ends are waited for, 1 024.
const ABANDONED: usize = 1_024;

/// Who waits for one call.
#[derive(Debug)]
pub(super) struct Caller {
    steps: mpsc::UnboundedSender<Step>,
    late: oneshot::Sender<LateEnd>,
}

impl Caller {
    pub fn new(steps: mpsc::UnboundedSender<Step>, late: oneshot::Sender<LateEnd>) -> Self {
        Caller { steps, late }
    }

    /// The call does something.
    pub fn step(&self, step: Step) {
        let _ = self.steps.send(step);
    }
}

/// Who waits for the ends of abandoned calls, by their callIds.
#[derive(Debug, Default)]
pub(super) struct Abandoned {
    waiting: HashMap<String, oneshot::Sender<LateEnd>>,
    order: VecDeque<String>,
}

impl Abandoned {
    /// A call has ended: its caller is told, and of one that was abandoned waits for more.
    pub fn ended(&mut self, call_id: String, caller: Caller, outcome: Outcome) {
        let abandoned = outcome == Outcome::Cancelled(Stop::Abandoned);
        caller.step(Step::Ended(outcome));
        if !abandoned || caller.late.is_closed() {
            return;
        }
        if self.order.len() >= ABANDONED
            && let Some(oldest) = self.order.pop_front()
        {
            self.waiting.remove(&oldest);
        }
        self.order.push_back(call_id.clone());
        self.waiting.insert(call_id, caller.late);
    }

    /// The handler of an abandoned call has ended.
    pub fn ended_late(&mut self, call_id: &str, ended: LateEnd) {
        if let Some(late) = self.waiting.remove(call_id) {
            self.order.retain(|it| it != call_id);
            let _ = late.send(ended);
        }
    }
}

//! Questions of other workers about the runs here.

use super::message::Message;
use super::{Answer, Cluster, Question, WorkerId};
use crate::broker::runs::Run;

/// Bytes of a list, about, past which no more runs that have ended are in it: 4 MiB.
const LIST_BYTES: usize = 4 << 20;
/// Bytes of a run without what may be long in it, about.
const RUN_BYTES: usize = 700;

/// A worker asks.
pub(super) fn asked(cluster: &Cluster, from: WorkerId, id: u64, question: Question) {
    let cluster = cluster.shared();
    tokio::spawn(async move {
        let answer = answer(&cluster, question).await;
        cluster.send(from, &Message::Answer { id, answer }.into());
    });
}

async fn answer(cluster: &Cluster, question: Question) -> Answer {
    let hub = &cluster.hub;
    match question {
        Question::Find { request_id, viewer } => Answer::Runs {
            runs: hub.matches(&request_id, &viewer),
            omitted: 0,
        },
        Question::List { viewer, ended } => {
            let (runs, omitted) = hub.recent_runs(&viewer, ended);
            let (runs, cut) = bounded(runs);
            let omitted = omitted + cut;
            Answer::Runs { runs, omitted }
        }
        Question::Cancel { run, reason, by } => {
            let confirmation = hub.cancel(run, reason, &by).await;
            Answer::Cancelled {
                cancelled: confirmation.cancelled,
                reason: confirmation.reason,
                error: confirmation.error.map(|error| error.body),
                stop: confirmation.stop,
                ended: confirmation.ended,
            }
        }
    }
}

/// The newest, as many as there is room for, and how many are left out. All in flight are kept.
fn bounded(mut runs: Vec<Run>) -> (Vec<Run>, usize) {
    let (all, mut bytes) = (runs.len(), 0);
    runs.retain(|run| {
        let progress = run.progress.as_ref().map_or(0, |it| it.get().len());
        let reason = run.cancel_reason.as_ref().map_or(0, String::len);
        bytes += RUN_BYTES + progress + reason;
        bytes <= LIST_BYTES || !run.state.is_over()
    });
    let cut = all - runs.len();
    (runs, cut)
}

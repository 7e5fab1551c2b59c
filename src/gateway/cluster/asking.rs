//! Questions of other workers about the runs here.

use super::message::Message;
use super::{Answer, Cluster, Question, WorkerId};

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
            Answer::Runs { runs, omitted }
        }
        Question::Cancel { run, reason, by } => {
            let confirmation = hub.cancel(run, reason, &by).await;
            Answer::Cancelled {
                cancelled: confirmation.cancelled,
                reason: confirmation.reason,
                error: confirmation.error.map(|error| error.body),
            }
        }
    }
}

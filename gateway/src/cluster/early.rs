//! Cancels for runs that nobody knows yet: every worker keeps them, and the one where the run comes
//! tells the others.

use super::message::Message;
use super::{Cluster, Notice, WorkerId};
use crate::broker::runs::EarlyCancel;

/// Tells a new worker what is kept.
pub(super) fn pass_on(cluster: &Cluster, worker: WorkerId) {
    for early in cluster.hub.early_cancels() {
        let notice = Notice::CancelEarly(early);
        cluster.send(worker, &Message::Tell(notice).into());
    }
}

/// Another worker keeps one. Its run may have come here meanwhile.
pub(super) fn heard(cluster: &Cluster, early: EarlyCancel) {
    let Some(run) = cluster.hub.meet_early(early.clone()) else {
        return;
    };
    cluster.tell_all(Notice::EarlyTaken(early.clone()));
    if run.state.is_over() {
        return;
    }
    let hub = cluster.hub.clone();
    tokio::spawn(async move { hub.cancel(run.id, early.reason, &early.by).await });
}

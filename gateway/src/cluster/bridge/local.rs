//! Apps of this worker, as the others are told of them.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use crate::broker::Offer;
use crate::cluster::message::{AppKey, Message};
use crate::cluster::{Cluster, LOOK};

/// For the last words of an app that is gone to be on their way.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Tells the others whenever an app comes, goes, or offers something else.
pub(in crate::cluster) async fn announce(cluster: &Arc<Cluster>) -> Infallible {
    let mut changes = cluster.hub.offers();
    loop {
        changes.borrow_and_update();
        let here = cluster.hub.offers_here().into_iter();
        tell(cluster, here.map(|(peer, offer)| (peer.0, offer)).collect());
        if changes.changed().await.is_err() {
            // The hub is gone, and with it whoever could change.
            std::future::pending::<()>().await;
        }
    }
}

fn tell(cluster: &Arc<Cluster>, here: BTreeMap<AppKey, Offer>) {
    let gone: Vec<_> = {
        let mut peers = cluster.peers();
        for (app, offer) in &here {
            if !peers
                .announced
                .get(app)
                .is_some_and(|known| is_same(known, offer))
            {
                let (app, offer) = (*app, offer.clone());
                peers.push_to_all(&Message::App { app, offer }.into());
            }
        }
        let known = peers.announced.keys().copied();
        let gone = known.filter(|app| !here.contains_key(app)).collect();
        peers.announced = here;
        gone
    };
    cluster.outgoing.notify_one();
    for app in gone {
        let cluster = cluster.clone();
        tokio::spawn(async move { farewell(&cluster, app).await });
    }
}

/// Tells that an app has gone, after what it had said to agents elsewhere.
async fn farewell(cluster: &Cluster, app: AppKey) {
    let silent = async {
        loop {
            let departed = cluster.departed.notified();
            let serves_others = {
                let peers = cluster.peers();
                let mut agents = peers.peers.values().flat_map(|peer| peer.agents.keys());
                agents.any(|(of, _)| *of == app)
            };
            if !serves_others {
                break;
            }
            let _ = timeout(LOOK, departed).await;
        }
    };
    let _ = timeout(LAST_WORDS, silent).await;
    cluster
        .peers()
        .push_to_all(&Message::AppGone { app }.into());
    cluster.outgoing.notify_one();
}

fn is_same(one: &Offer, other: &Offer) -> bool {
    // Schemas are text: they are compared as they were written.
    serde_json::to_string(one).ok() == serde_json::to_string(other).ok()
}

//! Workers on a Redis Cluster. Its nodes redirect requests for keys of other nodes.

use super::*;

/// The slot of all keys of a cluster of workers.
fn slot(node: &Redis) -> String {
    node.cli(&["CLUSTER", "KEYSLOT", "{caphost}"])
}

/// Two nodes. The first has all slots.
async fn nodes() -> (Redis, Redis) {
    let (one, two) = (Redis::start_node(), Redis::start_node());
    one.cli(&["CLUSTER", "ADDSLOTSRANGE", "0", "16383"]);
    two.cli(&["CLUSTER", "SET-CONFIG-EPOCH", "2"]);
    let info = one.cli(&["CLUSTER", "NODES"]);
    let address = info.split(' ').nth(1).unwrap();
    let bus = address
        .split_once('@')
        .unwrap()
        .1
        .split(',')
        .next()
        .unwrap();
    let port = one.address().port().to_string();
    two.cli(&["CLUSTER", "MEET", "127.0.0.1", &port, bus]);
    let is_up = |node: &Redis| {
        let info = node.cli(&["CLUSTER", "INFO"]);
        info.contains("cluster_state:ok") && info.contains("cluster_known_nodes:2")
    };
    until("the Redis Cluster", || is_up(&one) && is_up(&two)).await;
    (one, two)
}

/// Moves the workers' keys from one node to the other. From then on, the first node redirects writers.
fn move_slot(from: &Redis, to: &Redis) {
    let slot = slot(from);
    let (from_id, to_id) = (from.cli(&["CLUSTER", "MYID"]), to.cli(&["CLUSTER", "MYID"]));
    to.cli(&["CLUSTER", "SETSLOT", &slot, "IMPORTING", &from_id]);
    from.cli(&["CLUSTER", "SETSLOT", &slot, "MIGRATING", &to_id]);
    let port = to.address().port().to_string();
    loop {
        let keys = from.cli(&["CLUSTER", "GETKEYSINSLOT", &slot, "100"]);
        if keys.is_empty() {
            break;
        }
        let mut migrate = vec!["MIGRATE", "127.0.0.1", &port, "", "0", "5000", "KEYS"];
        migrate.extend(keys.lines());
        from.cli(&migrate);
    }
    for node in [to, from] {
        node.cli(&["CLUSTER", "SETSLOT", &slot, "NODE", &to_id]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn workers_follow_their_slot_to_whichever_node_has_it() {
    let (first, second) = nodes().await;
    // One worker is configured with the node that does not have the keys.
    let one = Gateway::with(part_of(&first)).await;
    let two = Gateway::with(part_of(&second)).await;
    met(&[&one, &two]).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&two, &mut app).await;
    agent.call_through(&mut app).await;

    move_slot(&first, &second);
    let connected = |worker: &Gateway| worker.hub.cluster().unwrap().traffic().connections.get();
    until("the workers at the other node", || {
        connected(&one) > 1 && connected(&two) > 1
    })
    .await;
    met(&[&one, &two]).await;
    // The workers have lost the node, and what was between them has ended.
    assert_eq!(app.next().await["type"], "agent/closed");
    let mut agent = agent_on(&two, &mut app).await;
    agent.call_through(&mut app).await;
}

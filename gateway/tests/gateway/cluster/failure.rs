use super::proxy::Proxy;
use super::*;

fn publish(redis: &Redis, id: &str) {
    let message = json!({ "run_id": id, "reason": null }).to_string();
    redis.cli(&["PUBLISH", "cancellation:cancel", &message]);
}

/// Waits until Redis counts `count` listeners on the channel.
async fn listened(redis: &Redis, count: usize) {
    let expected = format!("cancellation:cancel\n{count}");
    until("the listeners", || {
        redis.cli(&["PUBSUB", "NUMSUB", "cancellation:cancel"]) == expected
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_redis_what_is_local_goes_on_and_nothing_is_said_to_be_unknown() {
    let mut redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    redis.kill();
    let cluster = one.hub.cluster().unwrap();
    until("the loss", || !cluster.standing().connected).await;

    assert_eq!(known(&one, "c").await["state"], "running");
    let list = one.get("/api/runs", "").await.json();
    assert_eq!(list["runs"].as_array().unwrap().len(), 1);
    assert!(list["incomplete"].as_str().unwrap().contains("Redis"));
    let unsure = run_of(&one, "elsewhere").await;
    assert_eq!(
        (unsure.status, unsure.header("retry-after")),
        (503, Some("1"))
    );
    let error = unsure.json()["error"].clone();
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("TRANSPORT_ERROR"), &json!(true))
    );
    let unsure = one.get("/cancellation/status/elsewhere", "").await;
    assert_eq!(
        (unsure.status, unsure.header("retry-after")),
        (503, Some("1"))
    );
    assert!(unsure.json()["detail"].as_str().unwrap().contains("Redis"));
    assert_eq!(cancel_by_api(&one, "elsewhere", "").await.status, 503);
    let (cancelled, _) = tokio::join!(
        cancel_by_api(&one, "c", "local"),
        confirm(&mut app, &running)
    );
    assert_eq!(cancelled.json()["status"], "cancelled");
    agent.next().await;

    redis.run();
    met(&[&one, &two]).await;
    listened(&redis, 2).await;
    // The refused cancel was not kept.
    let running = called(&mut agent, &mut app, "elsewhere").await;
    assert_eq!(known(&two, "elsewhere").await["state"], "running");
    assert_eq!(known(&two, "c").await["state"], "cancelled");
    publish(&redis, "elsewhere");
    confirm(&mut app, &running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_listener_comes_back() {
    let redis = Redis::start();
    let worker = Gateway::with(part_of(&redis)).await;
    others(&worker, 0).await;
    let mut app = worker.app("demo").await;
    let mut agent = agent_on(&worker, &mut app).await;
    listened(&redis, 1).await;
    assert_eq!(redis.cli(&["CLIENT", "KILL", "TYPE", "pubsub"]), "1");
    listened(&redis, 1).await;
    let running = called(&mut agent, &mut app, "c").await;
    publish(&redis, "c");
    confirm(&mut app, &running).await;
    agent.next().await;

    // A Redis that hangs is noticed as well.
    redis.signal("-STOP");
    let cluster = worker.hub.cluster().unwrap();
    until("the loss", || !cluster.standing().connected).await;
    redis.signal("-CONT");
    others(&worker, 0).await;
    let running = called(&mut agent, &mut app, "d").await;
    publish(&redis, "d");
    confirm(&mut app, &running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_listener_that_hangs_alone_is_noticed() {
    let redis = Redis::start();
    let proxy = Proxy::start(redis.address()).await;
    let mut config = part_of(&redis);
    config.cluster.redis = Some(proxy.url());
    let worker = Gateway::with(config).await;
    others(&worker, 0).await;
    let mut app = worker.app("demo").await;
    let mut agent = agent_on(&worker, &mut app).await;
    let running = called(&mut agent, &mut app, "c").await;
    proxy.hold();
    let cluster = worker.hub.cluster().unwrap();
    until("the loss", || !cluster.standing().connected).await;
    others(&worker, 0).await;
    publish(&redis, "c");
    confirm(&mut app, &running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_has_given_the_others_up_joins_anew_once() {
    let mut redis = Redis::start();
    let mut config = part_of(&redis);
    config.cluster.redis_patience = Duration::from_secs(1);
    let one = Gateway::with(config.clone()).await;
    let two = Gateway::with(config).await;
    met(&[&one, &two]).await;
    let cluster = one.hub.cluster().unwrap();
    let (before, connections) = (cluster.me(), cluster.traffic().connections.get());
    redis.kill();
    until("another id", || cluster.me() != before).await;
    let me = cluster.me();
    redis.run();
    met(&[&one, &two]).await;
    tokio::time::sleep(LEASE).await;
    assert_eq!(cluster.me(), me);
    assert_eq!(cluster.traffic().connections.get(), connections + 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn with_a_lease_longer_than_the_patience_with_redis_nobody_is_given_up() {
    let redis = Redis::start();
    let mut config = part_of(&redis);
    config.cluster.worker_lease = Duration::from_secs(60);
    config.cluster.redis_patience = Duration::from_secs(1);
    let one = Gateway::with(config.clone()).await;
    let two = Gateway::with(config).await;
    met(&[&one, &two]).await;
    let ids = || [&one, &two].map(|it| it.hub.cluster().unwrap().me());
    let before = ids();
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(ids(), before);
    assert_eq!(two.hub.cluster().unwrap().standing().others, 1);
}

/// Tells a worker `times` times that it was taken for dead.
async fn tell_dead(redis: &Redis, worker: impl std::fmt::Display, times: usize) {
    let by = format!("{}-0", uuid::Uuid::new_v4().simple());
    let stream = format!("{{caphost}}:to:{worker}");
    let mut tell = ::redis::pipe();
    tell.atomic();
    for _ in 0..times {
        tell.cmd("XADD").arg(&stream).arg("*").arg("d").arg(&by);
    }
    let mut connection = redis.connection().await;
    tell.exec_async(&mut connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_was_taken_for_dead_joins_anew_once_however_often_it_is_told() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let cluster = gateway.hub.cluster().unwrap();
    let before = cluster.me();
    // All messages come at once, as after a long sleep.
    tell_dead(&redis, before, 5).await;
    until("another id", || cluster.me() != before).await;
    others(&gateway, 0).await;
    let next = before.to_string().replace("-0", "-1");
    assert_eq!(cluster.me().to_string(), next);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_has_left_does_not_join_anew_when_it_is_taken_for_dead() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let cluster = gateway.hub.cluster().unwrap();
    let before = cluster.me();
    cluster.leave().await;
    tell_dead(&redis, before, 1).await;
    tokio::time::sleep(LEASE / 2).await;
    assert_eq!(cluster.me(), before);
    assert!(redis.keys("worker").await.is_empty(), "it has no lease");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_starts_when_all_have_left_takes_nobody_for_dead() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    for mut worker in [one, two] {
        worker.stop();
        worker.stopped().await;
    }
    let next = Gateway::with(part_of(&redis)).await;
    others(&next, 0).await;
    tokio::time::sleep(2 * LEASE).await;
    let cluster = next.hub.cluster().unwrap();
    assert_eq!(cluster.traffic().workers_lost.get(), 0);
}

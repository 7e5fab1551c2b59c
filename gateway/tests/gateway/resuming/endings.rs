use std::time::Duration;

use caphost_gateway::{Config, Tokens};
use serde_json::json;

use super::*;

const LONG: Duration = Duration::from_secs(3_600);

/// An app with a call in flight, and the agent that called.
async fn calculating(gateway: &Gateway) -> (App, Peer) {
    let (mut app, mut agent) = App::with_agent(gateway).await;
    agent.send(call("1", "c")).await;
    app.next().await;
    (app, agent)
}

async fn told_disconnected(agent: &mut Peer) {
    let told = agent.next().await;
    assert_eq!((&told["id"], code(&told)), (&json!("1"), "DISCONNECTED"));
    assert_eq!(agent.closed().await, 4001);
}

async fn lost(peer: &mut Peer) -> String {
    let lost = peer.next().await;
    assert_eq!(
        (&lost["type"], &lost["id"]),
        (&json!("app/lost"), &json!("x"))
    );
    assert_eq!(peer.closed().await, 1008);
    code(&lost).to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_does_not_come_back_in_time_is_gone() {
    let gateway = Gateway::limited(grace(Duration::from_millis(100))).await;
    let (app, mut agent) = calculating(&gateway).await;
    let token = app.token.clone();
    drop(app);
    agent.send(cancel("2", "c")).await;
    let cancelled = agent.next().await;
    assert_eq!(
        (&cancelled["id"], code(&cancelled)),
        (&json!("2"), "DISCONNECTED")
    );
    assert_eq!(cancelled["payload"]["cancelled"], false);
    told_disconnected(&mut agent).await;
    let sessions = gateway.hub.readings().sessions;
    assert_eq!((sessions.suspended, sessions.lost), (0, 1));
    // The app learns this and registers on another connection.
    let mut late = gateway.peer("/abp/app").await;
    late.send(resuming(&token, 2)).await;
    assert_eq!(lost(&mut late).await, "SESSION_EXPIRED");
    let mut late = gateway.peer("/abp/app").await;
    late.send(registering(json!({ "resume": true }))).await;
    let fresh = App::registered(late).await;
    assert_ne!(fresh.token, token);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_closes_is_gone_at_once() {
    let gateway = Gateway::limited(grace(LONG)).await;
    for close in [Some(1000), Some(1001), None] {
        let (mut app, mut agent) = calculating(&gateway).await;
        let frame = close.map(
            |code: u16| tokio_tungstenite::tungstenite::protocol::CloseFrame {
                code: code.into(),
                reason: "".into(),
            },
        );
        app.peer.socket.close(frame).await.unwrap();
        told_disconnected(&mut agent).await;
    }
    assert_eq!(gateway.hub.readings().sessions.lost, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_did_not_ask_for_a_session_is_gone_at_once() {
    let gateway = Gateway::limited(grace(LONG)).await;
    let (mut app, mut agent) = gateway.session().await;
    agent.send(call("1", "c")).await;
    app.next().await;
    app.send(resuming("x.y", 0)).await;
    assert_eq!(code(&app.next().await), "ALREADY_INITIALIZED");
    drop(app);
    told_disconnected(&mut agent).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_a_grace_time_there_are_no_sessions() {
    let gateway = Gateway::limited(grace(Duration::ZERO)).await;
    let mut peer = gateway.peer("/abp/app").await;
    peer.send(registering(json!({ "resume": true }))).await;
    assert_eq!(
        peer.next().await["payload"],
        json!({ "appId": "demo", "updates": "differences" })
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_token_nobody_has_is_lost() {
    let gateway = Gateway::start().await;
    let prefix = gateway.hub.resume_prefix().to_string();
    for token in ["", ".", "x.y", &prefix] {
        let mut peer = gateway.peer("/abp/app").await;
        peer.send(resuming(token, 0)).await;
        assert_eq!(lost(&mut peer).await, "SESSION_EXPIRED");
    }
    for bad in [
        json!({}),
        json!({ "resume": 1, "received": 0 }),
        json!({ "resume": "a", "received": -1 }),
    ] {
        let mut peer = gateway.peer("/abp/app").await;
        peer.send(request("app/resume", "x", bad)).await;
        let refused = peer.next().await;
        assert_eq!(
            (&refused["type"], code(&refused)),
            (&json!("error"), "INVALID_PARAMS")
        );
        assert_eq!(peer.closed().await, 1008);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_that_do_not_fit_end_the_session() {
    let gateway = Gateway::limited(grace(LONG)).await;
    for suspended in [true, false] {
        let (mut app, mut agent) = calculating(&gateway).await;
        let mut peer = gateway.peer("/abp/app").await;
        // The app has received two messages.
        let kept = match suspended {
            true => app.cut(&gateway).await,
            false => {
                let kept = (app.token.clone(), app.received);
                peer.send(resuming(&kept.0, kept.1 + 1)).await;
                assert_eq!(lost(&mut peer).await, "SESSION_INVALID");
                assert_eq!(app.closed().await, 4002);
                kept
            }
        };
        if suspended {
            peer.send(resuming(&kept.0, kept.1 + 1)).await;
            assert_eq!(lost(&mut peer).await, "SESSION_INVALID");
        }
        told_disconnected(&mut agent).await;
        let mut peer = gateway.peer("/abp/app").await;
        peer.send(resuming(&kept.0, kept.1)).await;
        assert_eq!(lost(&mut peer).await, "SESSION_EXPIRED");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_session_can_be_resumed_by_one_connection_only_once_it_has_registered_nothing() {
    let gateway = Gateway::limited(grace(LONG)).await;
    let (mut app, _agent) = App::with_agent(&gateway).await;
    app.peer
        .send(resuming(&app.token.clone(), app.received))
        .await;
    let refused = app.next().await;
    assert_eq!(code(&refused), "ALREADY_INITIALIZED");
    app.peer.send(registering(json!({}))).await;
    assert_eq!(code(&app.next().await), "ALREADY_INITIALIZED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_registers_afresh_ends_the_session_it_had() {
    let gateway = Gateway::limited(grace(LONG)).await;
    for suspended in [true, false] {
        let (mut app, mut agent) = calculating(&gateway).await;
        let mut peer = gateway.peer("/abp/app").await;
        let afresh = |token: &str| registering(json!({ "resume": true, "replaces": token }));
        if suspended {
            let (token, _) = app.cut(&gateway).await;
            peer.send(afresh(&token)).await;
        } else {
            peer.send(afresh(&app.token)).await;
            assert_eq!(app.closed().await, 4002);
        }
        App::registered(peer).await;
        told_disconnected(&mut agent).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn only_an_app_that_replaces_a_session_needs_no_place_of_its_own() {
    let limits = Limits {
        apps: 1,
        ..grace(LONG)
    };
    let gateway = Gateway::limited(limits).await;
    let mut app = App::register(&gateway).await;
    let afresh = |token: &str| registering(json!({ "resume": true, "replaces": token }));
    for made_up in ["x.y", &format!("{}x", app.token)] {
        let mut peer = gateway.peer("/abp/app").await;
        peer.send(afresh(made_up)).await;
        assert_eq!(code(&peer.next().await), "RATE_LIMITED", "{made_up}");
        assert_eq!(peer.closed().await, 1013);
    }
    let mut peer = gateway.peer("/abp/app").await;
    peer.send(afresh(&app.token)).await;
    App::registered(peer).await;
    assert_eq!(app.closed().await, 4002);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guesses_at_a_resume_token_cost_a_connection_each_and_tell_nothing() {
    let tokens = [
        "app@demo=right",
        "app@other=another",
        "app=any",
        "agent=agent",
    ];
    let tokens = tokens.iter().map(|it| it.parse().unwrap()).collect();
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens),
        limits: grace(LONG),
        ..config()
    })
    .await;
    let mut peer = gateway.peer("/abp/app").await;
    let shown = json!({ "resume": true, "token": "right" });
    peer.send(registering(shown)).await;
    let (token, _) = App::registered(peer).await.cut(&gateway).await;
    let resuming = |secret: &str, shown: Option<&str>| {
        let mut message = resuming(secret, 0);
        message["payload"]["token"] = json!(shown);
        message
    };
    let guess = format!("{}x", &token[..token.len() - 1]);
    let mut answers = Vec::new();
    for (secret, shown) in [
        (&guess, Some("right")),
        (&guess, None),
        // The right token, from another identity.
        (&token, None),
        (&token, Some("wrong")),
        (&token, Some("agent")),
        (&token, Some("another")),
        (&token, Some("any")),
    ] {
        let mut peer = gateway.peer("/abp/app").await;
        for _ in 0..100 {
            peer.send(resuming(secret, shown)).await;
        }
        let mut lost = peer.next().await;
        lost["timestamp"].take();
        answers.push(lost);
        assert_eq!(peer.closed().await, 1008, "after the first");
    }
    assert!(answers.iter().all(|it| *it == answers[0]), "{answers:?}");
    assert_eq!(code(&answers[0]), "SESSION_EXPIRED");
    let mut peer = gateway.peer("/abp/app").await;
    peer.send(resuming(&token, Some("right"))).await;
    assert_eq!(peer.next().await["type"], "app/resumed");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replacing_a_session_with_the_resume_token_of_somebody_else_ends_nothing() {
    let tokens = ["app=one", "app=two", "agent=agent"];
    let tokens = tokens.iter().map(|it| it.parse().unwrap()).collect();
    let gateway = Gateway::with(Config {
        tokens: Tokens::new(tokens),
        limits: grace(LONG),
        ..config()
    })
    .await;
    let register = async |id: &str, token: &str, replaces: Option<&str>| {
        let more = json!({ "resume": true, "token": token, "replaces": replaces });
        let mut message = registering(more);
        message["payload"]["app"]["id"] = json!(id);
        let mut peer = gateway.peer("/abp/app").await;
        peer.send(message).await;
        App::registered(peer).await
    };
    let mut victim = register("demo", "one", None).await;
    // Another owner, and another app of the same owner.
    let _other = register("other", "two", Some(&victim.token)).await;
    let _stranger = register("demo", "two", Some(&victim.token)).await;
    let _own = register("else", "one", Some(&victim.token)).await;
    assert_eq!(gateway.hub.peers().1, 4);
    assert_eq!(victim.next().await["type"], "app/superseded");
    let _afresh = register("demo", "one", Some(&victim.token)).await;
    assert_eq!(victim.closed().await, 4002);
}

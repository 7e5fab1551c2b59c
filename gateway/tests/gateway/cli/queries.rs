//! `list`, `runs` and `cancel`.

use std::time::Duration;

use caphost_gateway::Limits;

use super::*;
use crate::instances::tab;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_tells_what_each_of_several_apps_offers() {
    let gateway = Gateway::start().await;
    let _one = gateway.app("one").await;
    let _two = gateway.app("two").await;
    let running = Running::start(caphost(&gateway, &["list"]));
    let ended = running.ended().await;
    assert_eq!((ended.status, &*ended.err), (Some(0), ""));
    assert_eq!(
        ended.out,
        "Demo 1.0.0 (one)\n\na.b  d\n\nDemo 1.0.0 (two)\n\na.b  d\n"
    );
    let running = Running::start(caphost(&gateway, &["list", "--json"]));
    let document = running.ended().await.document();
    let apps = document["apps"].as_array().unwrap();
    let ids: Vec<_> = apps.iter().map(|it| &it["app"]["id"]).collect();
    assert_eq!(ids, ["one", "two"]);
    assert_eq!(apps[0]["capabilities"][0]["name"], "a.b");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn list_tells_what_can_be_called() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let mut listed = Vec::new();
    for arguments in [&["list"][..], &["list", "--json"]] {
        let running = Running::start(caphost(&gateway, arguments));
        let hello = app.next().await;
        let who = json!({ "id": "demo", "name": "Demo", "version": "1.0.0" });
        // The session contains the changes since the app registered.
        let capabilities =
            json!([{ "name": "a.b", "available": false }, { "name": "new", "available": true }]);
        let session = json!({ "sessionId": "s", "app": who, "capabilities": capabilities });
        app.send(answer(&hello, "initialize-result", session)).await;
        let ended = running.ended().await;
        assert_eq!((ended.status, &*ended.err), (Some(0), ""));
        listed.push(ended);
        receives(&mut app, "agent/closed").await;
    }
    assert_eq!(
        listed[0].out,
        "Demo 1.0.0 (demo)\n\na.b  d (unavailable now)\nnew\n"
    );
    let expected = json!({
        "app": { "id": "demo", "name": "Demo", "version": "1.0.0" },
        "capabilities": [
            { "name": "a.b", "available": false, "description": "d", "inputSchema": {}, "outputSchema": {} },
            { "name": "new", "available": true },
        ],
    });
    assert_eq!(listed[1].document(), expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_is_cancelled_from_elsewhere() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    let ended = finished(caphost(&gateway, &["runs"])).await;
    assert_eq!((ended.status, &*ended.out), (Some(0), "No runs.\n"));

    let running = Running::start(caphost(&gateway, &["call", "a.b", "--call-id", "mine"]));
    let call = called(&mut app).await;
    progresses(
        &mut app,
        &call,
        json!({ "progress": 1, "total": 4, "percentage": 25 }),
    )
    .await;
    let document = loop {
        let ended = finished(caphost(&gateway, &["runs", "--json"])).await;
        let document = ended.document();
        if document["runs"][0]["progress"].is_object() {
            break document;
        }
    };
    let run = &document["runs"][0];
    assert_eq!(
        (&run["state"], &run["dialectId"]),
        (&json!("running"), &json!("mine"))
    );
    let ended = finished(caphost(&gateway, &["runs"])).await;
    let line = ended.out.lines().nth(1).unwrap();
    for said in [
        run["runId"].as_str().unwrap(),
        "demo",
        "a.b",
        "caphost (abp)",
        "running 25 %",
    ] {
        assert!(line.contains(said), "{said}: {ended:?}");
    }

    let canceller = Running::start(caphost(&gateway, &["cancel", "mine", "--reason", "enough"]));
    let cancel = receives(&mut app, "capabilities/cancel").await;
    assert_eq!(cancel["payload"]["reason"], "enough");
    let confirmed = json!({ "callId": "mine", "cancelled": true });
    app.send(answer(&cancel, "capabilities/cancel-result", confirmed))
        .await;
    returns(
        &mut app,
        &call,
        json!({ "success": false, "cancelled": true }),
    )
    .await;
    let (cancelled, ended) = (canceller.ended().await, running.ended().await);
    assert_eq!(cancelled.status, Some(0), "{cancelled:?}");
    let id = run["runId"].as_str().unwrap();
    assert_eq!(
        cancelled.out,
        format!(
            "Cancelled, and confirmed by the app: {id}, but the work was not seen to stop; it may still go on\n"
        )
    );
    assert_eq!(ended.status, Some(130), "{ended:?}");
    assert!(ended.err.contains("someone else"), "{ended:?}");

    let listed = finished(caphost(&gateway, &["runs"])).await;
    assert!(
        listed
            .out
            .trim_end()
            .ends_with(" (abandoned: not seen to stop): \"enough\""),
        "{listed:?}"
    );
    // The second answer is the same as the first.
    let again = finished(caphost(&gateway, &["cancel", id, "--json"])).await;
    assert_eq!(
        (again.status, again.document()),
        (
            Some(0),
            json!({ "runId": id, "cancelled": true, "stop": "abandoned" })
        )
    );
    let ended = finished(caphost(&gateway, &["runs", "--limit", "0"])).await;
    assert!(
        ended.out.contains("1 more that have ended") || ended.out == "No runs.\n",
        "{ended:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_not_cancelled_is_status_1() {
    let gateway = Gateway::start().await;
    let mut app = gateway.app("demo").await;
    for _ in 0..2 {
        let command = caphost(&gateway, &["call", "a.b", "--call-id", "same"]);
        let ended = answered(&gateway, &mut app, command, json!({ "success": true })).await;
        assert_eq!(ended.status, Some(0), "{ended:?}");
        receives(&mut app, "agent/closed").await;
    }
    let runs = finished(caphost(&gateway, &["runs", "--json"]))
        .await
        .document();
    let id = runs["runs"][0]["runId"].as_str().unwrap();
    let ended = finished(caphost(&gateway, &["cancel", id])).await;
    assert_eq!(ended.status, Some(1));
    assert_eq!(
        ended.out,
        format!("Not cancelled: {id}: Operation already completed\n")
    );

    // If all runs have ended, the id means the last to end.
    let last = finished(caphost(&gateway, &["cancel", "same"])).await;
    assert_eq!((last.status, &last.out), (Some(1), &ended.out));
    let mut agents = Vec::new();
    for _ in 0..2 {
        let mut agent = gateway.agent().await;
        agent.initialize(&mut app).await;
        agent.send(call("1", "same")).await;
        app.next().await;
        agents.push(agent);
    }
    let run = gateway.get("/api/runs", "").await.json()["runs"][0]["runId"].clone();
    let ended = finished(caphost(&gateway, &["cancel", "same"])).await;
    assert_eq!((ended.status, &*ended.out), (Some(1), ""));
    assert!(ended.err.contains(run.as_str().unwrap()), "{ended:?}");

    let ended = finished(caphost(&gateway, &["cancel", "no/such run", "--json"])).await;
    assert_eq!(ended.status, Some(1));
    assert!(ended.document()["error"]["code"].is_string(), "{ended:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_is_not_confirmed_in_time_may_still_take_effect() {
    let gateway = Gateway::limited(Limits {
        confirm_timeout: Duration::from_millis(150),
        ..Limits::default()
    })
    .await;
    let mut app = gateway.app("demo").await;
    let running = Running::start(caphost(&gateway, &["call", "a.b", "--call-id", "held"]));
    let call = called(&mut app).await;
    let ended = finished(caphost(&gateway, &["cancel", "held"])).await;
    assert_eq!(ended.status, Some(1));
    assert!(
        ended.out.starts_with("Not confirmed within ")
            && ended.out.ends_with(
                ": the app was asked, and may still cancel it. caphost runs shows what becomes of it\n"
            ),
        "{ended:?}"
    );
    let listed = finished(caphost(&gateway, &["runs"])).await;
    assert!(listed.out.trim_end().ends_with("cancelling"), "{listed:?}");
    receives(&mut app, "capabilities/cancel").await;
    returns(&mut app, &call, json!({ "success": true })).await;
    assert_eq!(running.ended().await.status, Some(0));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_tab_is_listed_and_can_be_meant() {
    let gateway = Gateway::start().await;
    let none = finished(caphost(&gateway, &["apps"])).await;
    assert_eq!(
        (none.status, &*none.out),
        (Some(0), "No app is connected.\n")
    );
    let url = format!("http://{}", gateway.address);
    let before = finished(at("http://127.0.0.1:1", &["--gateway", &url, "apps"])).await;
    assert_eq!((before.status, before.out), (Some(0), none.out));
    let mut first = tab(&gateway, "/abp/app", json!("The first")).await;
    let _second = tab(&gateway, "/abp/app", json!("The second")).await;
    receives(&mut first, "app/superseded").await;
    let listed = finished(caphost(&gateway, &["apps"])).await;
    let lines: Vec<_> = listed.out.lines().collect();
    assert_eq!((listed.status, lines.len()), (Some(0), 3), "{listed:?}");
    assert!(lines[1].contains("The second") && lines[1].ends_with("here"));
    // The id that --app accepts.
    let id = lines[1].split_whitespace().next().unwrap();
    let document = finished(caphost(&gateway, &["apps", "--json"])).await;
    assert_eq!(document.document()["apps"][0]["id"], id);
    assert!(lines[2].contains("The first") && lines[2].ends_with('-'));
    let document = finished(caphost(&gateway, &["apps", "--json"]))
        .await
        .document();
    let older = document["apps"][0]["instances"][1]["app"].as_str().unwrap();
    assert!(lines[2].contains(older));
    let running = Running::start(caphost(&gateway, &["call", "a.b", "--app", older]));
    let call = called(&mut first).await;
    returns(&mut first, &call, json!({ "success": true, "data": 7 })).await;
    assert_eq!(running.ended().await.out, "7\n");
}

//! Messages of another worker that nobody can read.

use super::simulated::{Simulated, app, hello};
use super::*;

/// An app of another worker whose schema is that text.
fn app_with(key: u64, id: &str, schema: &str) -> String {
    let mut message = app(key, id);
    message["App"]["offer"]["capabilities"][0]["inputSchema"] = json!("SCHEMA");
    message.to_string().replace("\"SCHEMA\"", schema)
}

fn packed(message: &str) -> Vec<u8> {
    let mut bytes = (message.len() as u32).to_be_bytes().to_vec();
    bytes.extend([0; 4]);
    bytes.extend(message.bytes());
    bytes
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_schema_cut_inside_an_emoji_stops_no_other_worker() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.peer("/abp/app").await;
    let mut registering = register("demo");
    registering["payload"]["capabilities"][0]["inputSchema"] = json!("SCHEMA");
    let registering = registering.to_string();
    app.text(registering.replace("\"SCHEMA\"", r#"{"title":"cut \ud83d"}"#))
        .await;
    assert_eq!(app.next().await["type"], "app/registered");
    let mut agent = agent_on(&two, &mut app).await;
    agent.call_through(&mut app).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_another_worker_lets_through_stops_nobody() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut old = Simulated::join(&redis, &gateway).await;
    let mut frame = packed(&hello("old").to_string());
    frame.extend(packed(&app_with(7, "cut", r#"{"title":"cut \ud83d"}"#)));
    frame.extend(packed(&app_with(8, "large", r#"{"maximum":1e400}"#)));
    frame.extend(packed(&app_with(9, "sound", "{}")));
    old.send_bytes(&frame).await;
    until("the others", || gateway.hub.offer(Some("sound")).is_ok()).await;
    let offer = gateway.hub.offer(Some("cut")).unwrap();
    let schema = offer.capabilities[0].input_schema.as_ref().unwrap().get();
    assert_eq!(
        serde_json::from_str::<Value>(schema).unwrap()["title"],
        "cut \u{fffd}"
    );
    assert!(gateway.hub.offer(Some("large")).is_err());
    let offered = app_with(8, "large", "{}");
    old.send_bytes(&packed(&offered)).await;
    until("what can be read", || {
        gateway.hub.offer(Some("large")).is_ok()
    })
    .await;
    let ready = gateway.get("/readyz", "").await.json();
    assert_eq!(
        (&ready["status"], &ready["redis"]),
        (&json!("ready"), &json!("connected"))
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_frame_that_breaks_off_loses_only_what_is_cut() {
    let redis = Redis::start();
    let gateway = Gateway::with(part_of(&redis)).await;
    others(&gateway, 0).await;
    let mut other = Simulated::join(&redis, &gateway).await;
    let mut frame = packed(&hello("other").to_string());
    frame.extend(packed(&app(1, "one").to_string()));
    frame.extend(packed("{ no JSON"));
    frame.extend(packed(&app(2, "two").to_string()));
    frame.extend([0, 0, 0, 200, 0, 0, 0, 0, b'{']);
    other.send_bytes(&frame).await;
    other.send(&[(app(3, "three"), "")]).await;
    for id in ["one", "two", "three"] {
        until(id, || gateway.hub.offer(Some(id)).is_ok()).await;
    }
}

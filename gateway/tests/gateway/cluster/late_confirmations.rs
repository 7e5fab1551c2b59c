//! An app confirms a cancel after the confirm timeout, and the call came from another worker.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn counts_on_the_worker_of_the_caller_whether_or_not_the_caller_has_left() {
    for (path, leaves) in [("/jsonrpc", false), ("/jsonrpc", true), ("/abp", true)] {
        for kind in ["capabilities/cancel-result", "capabilities/call-result"] {
            let redis = Redis::start();
            let limits = Limits {
                confirm_timeout: Duration::from_millis(150),
                ..Limits::default()
            };
            let one = Gateway::with(patient(&redis, limits.clone())).await;
            let two = Gateway::with(patient(&redis, limits)).await;
            met(&[&one, &two]).await;
            let mut app = one.app("demo").await;
            let mut caller;
            let calling = if path == "/abp" {
                caller = agent_on(&two, &mut app).await;
                called(&mut caller, &mut app, "c").await
            } else {
                until("the app", || !two.hub.apps().is_empty()).await;
                caller = two.peer(path).await;
                let params = json!({ "capability": "a.b" });
                let rpc = json!({ "jsonrpc": "2.0", "id": 1, "method": "_capabilities/call", "params": params });
                caller.send(rpc).await;
                let calling = crate::mcp::app::called(&mut app).await;
                let params = json!({ "requestId": 1 });
                caller
                    .send(
                        json!({ "jsonrpc": "2.0", "method": "$/cancel_request", "params": params }),
                    )
                    .await;
                calling
            };
            let _stays = (!leaves).then_some(caller);
            let cancelling = app.next().await;
            assert_eq!(cancelling["type"], "capabilities/cancel", "{cancelling}");
            two.run_once("unknown").await;
            tokio::time::sleep(Duration::from_millis(400)).await;
            let (asked, said) = match kind {
                "capabilities/call-result" => (&calling, json!({ "success": false })),
                _ => {
                    let call_id = &calling["payload"]["options"]["callId"];
                    (&cancelling, json!({ "callId": call_id }))
                }
            };
            app.send(answer(asked, kind, stopped(said, "returned")))
                .await;
            for worker in [&two, &one] {
                let run = worker.run_once("cancelled").await;
                assert_eq!(run["stop"], "returned", "{path} {leaves} {kind}: {run}");
            }
        }
    }
}

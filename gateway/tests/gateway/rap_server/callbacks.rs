use std::collections::HashSet;

use serde_json::json;

use super::app::App;
use super::runtime::{Receiver, Runtime, delivered};
use crate::support::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_invocation_ends_in_exactly_one_result() {
    let gateway = Gateway::start().await;
    let app = App::start(&gateway, "demo").await;
    let receiver = Receiver::start().await;
    let runtime = Runtime::new(&gateway, "");
    const CALLS: usize = 300;
    let tools = ["echo", "fail", "hold", "no_such_tool", "export_pdf"];
    let invoked = (0..CALLS).map(|number| {
        let (runtime, receiver) = (&runtime, &receiver);
        async move {
            let (thread, id) = (format!("t{}", number % 7), number.to_string());
            runtime
                .invoke(
                    receiver,
                    tools[number % tools.len()],
                    &thread,
                    &id,
                    json!({}),
                )
                .await;
            // The cancel may come in time or too late.
            runtime.cancel(&thread, &id).await;
        }
    });
    futures_util::future::join_all(invoked).await;
    for thread in 0..7 {
        runtime.close(&format!("t{thread}")).await;
    }
    receiver.took(CALLS).await;
    drop(app);
    delivered(&gateway, CALLS as u64).await;
    let taken = receiver.taken();
    let ids: HashSet<_> = taken
        .iter()
        .map(|it| it.body["id"].as_str().unwrap().to_string())
        .collect();
    assert_eq!((taken.len(), ids.len()), (CALLS, CALLS));
    for it in &taken {
        let number: usize = it.body["id"].as_str().unwrap().parse().unwrap();
        assert_eq!(it.body["group_id"], format!("t{}", number % 7));
        let is_error = it.body["text"]
            .as_str()
            .is_some_and(|text| text.starts_with("Error: "));
        let must_fail = matches!(
            tools[number % tools.len()],
            "fail" | "hold" | "no_such_tool"
        );
        // Any call may have been cancelled in time.
        assert!(is_error || !must_fail, "{}", it.body);
    }
}

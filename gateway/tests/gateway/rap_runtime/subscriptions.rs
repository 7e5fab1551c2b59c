//! Tools that go on after their result.

use super::*;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_subscription_sends_events_until_it_ends() {
    let mut tools = Tools::start("t").await;
    let (gateway, metrics) = gateway(&[&tools.base], quick()).await;
    let counters = &metrics.tool_servers;
    let mut agent = agent(&gateway, "t").await;
    agent.send(work("watch", json!({}))).await;
    let invoked = tools.invoked().await;
    invoked
        .answer(json!({ "text": "subscribed", "subscription": true }))
        .await;
    assert_eq!(outcome(&mut agent, "watch").await["data"], "subscribed");
    let told = |text: &str, more: Value| {
        let mut data = json!({ "callId": "watch", "text": text });
        data.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({ "event": "notifications/subscription/event", "data": data })
    };
    for (sent, expected) in [
        (json!({ "text": "one" }), told("one", json!({}))),
        (
            json!({ "text": "two", "associative": true }),
            told("two", json!({ "associative": true })),
        ),
        (
            json!({ "text": "three", "final": true }),
            told("three", json!({ "final": true })),
        ),
    ] {
        assert_eq!(post(invoked.callback(), invoked.event(sent)).await, 200);
        let notification = agent.next().await;
        assert_eq!(
            (&notification["type"], &notification["payload"]),
            (&json!("notification"), &expected)
        );
    }
    assert_eq!(
        post(
            invoked.callback(),
            invoked.event(json!({ "text": "after the last" }))
        )
        .await,
        200
    );
    until("it to be dropped", || counters.events_dropped.get() == 1).await;
    // The cancel of a call that goes on as a subscription ends the subscription.
    agent.send(work("again", json!({}))).await;
    let invoked = tools.invoked().await;
    invoked
        .answer(json!({ "text": "", "subscription": true }))
        .await;
    outcome(&mut agent, "again").await;
    agent.send(cancel("x", "again")).await;
    let answer = agent.next().await;
    assert_eq!(
        answer["payload"],
        json!({ "callId": "again", "cancelled": false, "reason": "Operation already completed" })
    );
    assert_eq!(
        tools.next("/base/cancel_tool_call").await,
        invoked.cancelled()
    );
    assert_eq!(
        post(invoked.callback(), invoked.event(json!({ "text": "late" }))).await,
        200
    );
    until("it to be dropped", || counters.events_dropped.get() == 2).await;
    assert_eq!(counters.events.get(), 3);
}

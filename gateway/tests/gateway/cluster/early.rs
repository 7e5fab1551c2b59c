use super::*;

/// An id that no run has by chance.
const SOON: &str = "00000000-0000-4000-8000-000000000007";

/// Makes a call that was cancelled before it came.
async fn skipped(agent: &mut Peer, call_id: &str) {
    agent.send(call(call_id, call_id)).await;
    let result = agent.next().await;
    assert_eq!(result["payload"]["cancelled"], true, "{result}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cancel_that_comes_first_takes_effect_wherever_the_call_comes_and_once() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    let mut agent = agent_on(&one, &mut app).await;
    let mut other = agent_on(&two, &mut app).await;
    let mut notices = two.hub.cancellations();
    let queued = cancel_by_api(&one, SOON, "never").await.json();
    assert_eq!(queued["status"], "queued");
    // The notice comes after the cancel, through the same queue.
    let notice = soon("the notice", notices.recv()).await.unwrap();
    assert_eq!((notice.request_id.as_str(), notice.run), (SOON, None));
    skipped(&mut other, SOON).await;
    let ended = known(&one, SOON).await;
    assert_eq!(
        (&ended["state"], &ended["cancelReason"]),
        (&json!("cancelled"), &json!("never"))
    );
    // A later notice comes after this as well.
    let mut told = one.hub.cancellations();
    cancel_by_api(&two, "marker", "").await;
    soon("the marker", told.recv()).await.unwrap();
    let again = called(&mut agent, &mut app, SOON).await;
    succeed(&mut agent, &mut app, &again).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_worker_that_comes_later_is_told_of_cancels_that_came_first() {
    let redis = Redis::start();
    let (one, two) = pair(&redis).await;
    let mut app = one.app("demo").await;
    assert_eq!(cancel_by_api(&two, SOON, "never").await.status, 200);
    let three = Gateway::with(part_of(&redis)).await;
    met(&[&one, &two, &three]).await;
    let mut agent = agent_on(&three, &mut app).await;
    // The notice comes after the kept cancels, through the same queue.
    let mut told = three.hub.cancellations();
    cancel_by_api(&two, "marker", "").await;
    soon("the marker", told.recv()).await.unwrap();
    skipped(&mut agent, SOON).await;
}

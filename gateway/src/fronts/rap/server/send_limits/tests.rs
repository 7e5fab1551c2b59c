use std::time::Duration;

use tokio::time::timeout;

use super::*;

async fn taken(limits: &SendLimits, text: &str, count: usize) -> Vec<SendPermits> {
    let mut permits = Vec::new();
    for _ in 0..count {
        permits.push(at_once(limits, text).await.unwrap());
    }
    permits
}

async fn at_once(limits: &SendLimits, text: &str) -> Option<SendPermits> {
    let url = Url::parse(text).unwrap();
    let permits = timeout(
        Duration::from_millis(50),
        limits.acquire(url.username(), &url),
    );
    permits.await.ok().map(Result::unwrap)
}

#[tokio::test]
async fn hosts_of_one_token_that_hang_hold_up_itself_only() {
    let limits = SendLimits::new(PER_TOKEN);
    let mut busy = Vec::new();
    for number in 0..PER_TOKEN {
        let text = format!("http://greedy@a:{}/{number}", 80 + number % 16);
        busy.extend(taken(&limits, &text, 1).await);
    }
    assert!(at_once(&limits, "http://greedy@other/").await.is_none());
    assert!(at_once(&limits, "http://modest@a:80/0").await.is_some());
    busy.clear();
    assert!(at_once(&limits, "http://greedy@other/").await.is_some());
}

#[tokio::test]
async fn a_busy_url_holds_up_itself_only() {
    let limits = SendLimits::new(IN_ALL);
    let mut busy = taken(&limits, "http://a/1", PER_URL).await;
    assert!(at_once(&limits, "http://a/1").await.is_none());
    assert!(at_once(&limits, "http://a/2").await.is_some());
    busy.pop();
    assert!(at_once(&limits, "http://a/1").await.is_some());
    busy.clear();
    assert_eq!(limits.places.in_use(), 0);
}

#[tokio::test]
async fn a_busy_host_holds_up_itself_only() {
    let limits = SendLimits::new(IN_ALL);
    let mut busy = Vec::new();
    for number in 0..PER_HOST {
        busy.extend(taken(&limits, &format!("http://a/{number}"), 1).await);
    }
    assert!(at_once(&limits, "http://a/other").await.is_none());
    assert!(at_once(&limits, "http://a:81/other").await.is_some());
}

#[tokio::test]
async fn urls_that_nobody_sends_to_are_forgotten() {
    let limits = SendLimits::new(IN_ALL);
    let busy = taken(&limits, "http://a/", PER_URL).await;
    for number in 0..1_000 {
        let other = format!("http://{number}.example/");
        assert!(at_once(&limits, &other).await.is_some());
    }
    assert!(limits.places.len() < 100);
    assert!(at_once(&limits, "http://a/").await.is_none());
    drop(busy);
    assert!(at_once(&limits, "http://a/").await.is_some());
}

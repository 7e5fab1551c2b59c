use std::net::Ipv4Addr;

use tokio::time::timeout;

use super::*;
use crate::limits::Limits;
use crate::tokens::Tokens;

fn lists(listed_bytes_per_second: usize) -> Arc<Listing> {
    let limits = Limits {
        listed_bytes_per_second,
        ..Limits::default()
    };
    Listing::new(Arc::new(Hub::new(limits, Tokens::default())))
}

fn token(name: &str) -> QuotaKey {
    QuotaKey::Token(name.into())
}

#[tokio::test]
async fn who_has_had_much_waits_for_more_and_others_do_not() {
    let lists = lists(LEAST);
    let (a, b) = (token("a"), token("b"));
    lists.turn_of(&a).await.unwrap().end(500 * LEAST);
    let refused = lists.turn_of(&a).await.unwrap_err();
    assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
    let wait = refused.retry_after.unwrap();
    assert!((300..500).contains(&wait), "{wait}");
    lists.turn_of(&b).await.unwrap().end(0);
    *lists.paid(&a).lock().await = Instant::now();
    lists.turn_of(&a).await.unwrap().end(0);
}

#[tokio::test]
async fn short_lists_cost_something_too_and_so_does_one_that_is_given_up() {
    let lists = lists(LEAST / 100);
    drop(lists.turn_of(&token("given up")).await.unwrap());
    lists.turn_of(&token("short")).await.unwrap().end(1);
    for name in ["given up", "short"] {
        assert!(lists.turn_of(&token(name)).await.is_err(), "{name}");
    }
}

#[tokio::test]
async fn nobody_has_two_made_at_once() {
    let lists = lists(usize::MAX);
    let (a, b) = (token("a"), token("b"));
    let first = lists.turn_of(&a).await.unwrap();
    let second = timeout(Duration::from_millis(20), lists.turn_of(&a));
    assert!(second.await.is_err());
    lists.turn_of(&b).await.unwrap().end(0);
    first.end(0);
    lists.turn_of(&a).await.unwrap().end(0);
}

#[tokio::test]
async fn who_has_paid_is_forgotten() {
    let lists = lists(usize::MAX);
    for number in 0..10_000_u32 {
        let quota_key = QuotaKey::Network(Ipv4Addr::from_bits(number).into());
        lists.turn_of(&quota_key).await.unwrap().end(0);
    }
    assert!(lists.of.lock().capacity() < 100);
}

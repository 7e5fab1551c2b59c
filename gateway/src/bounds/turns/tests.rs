use std::pin::pin;

use futures_util::FutureExt;

use super::*;

fn key(last: u8) -> QuotaKey {
    QuotaKey::Stranger([10, 0, 0, last].into())
}

#[tokio::test]
async fn who_waits_with_many_does_not_keep_others_waiting_for_all_of_them() {
    let turns = Turns::new(1, 1);
    let (greedy_party, honest_party) = (key(1), key(2));
    let first = turns.take(&greedy_party).await;
    let mut greedy: Vec<_> = (0..10)
        .map(|_| Box::pin(turns.take(&greedy_party)))
        .collect();
    for waiting in &mut greedy {
        assert!(waiting.now_or_never().is_none());
    }
    let mut honest = pin!(turns.take(&honest_party));
    assert!(honest.as_mut().now_or_never().is_none());
    drop(first);
    // One request of the greedy party enters the common queue, behind the honest party.
    assert!(greedy[0].as_mut().now_or_never().is_none());
    let turn = honest.now_or_never().unwrap();
    assert!(greedy[0].as_mut().now_or_never().is_none());
    drop(turn);
    for waiting in greedy {
        drop(waiting.await);
    }
    assert_eq!(turns.by_key.in_use(), 0);
}

#[tokio::test]
async fn a_party_that_gives_up_waiting_takes_no_turn() {
    let turns = Turns::new(2, 1);
    let (greedy_party, honest_party) = (key(1), key(2));
    let first = turns.take(&greedy_party).await;
    assert!(turns.take(&greedy_party).now_or_never().is_none());
    assert!(turns.take(&honest_party).now_or_never().is_some());
    drop(first);
    assert!(turns.take(&greedy_party).now_or_never().is_some());
    assert_eq!(turns.by_key.in_use(), 0);
}

#[tokio::test]
async fn who_is_patient_gets_a_turn_that_ends_in_time_or_none() {
    let (turns, patience) = (Turns::new(usize::MAX, 1), Duration::from_millis(50));
    let (one, other) = (key(1), key(2));
    let first = turns.take_within(patience, &one).await;
    assert!(turns.take_within(patience, &one).await.is_none());
    assert!(turns.take_within(patience, &other).await.is_some());
    drop(first);
    assert!(turns.take_within(patience, &one).await.is_some());
}

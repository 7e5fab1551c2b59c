use futures_util::FutureExt;

use super::*;

fn address(last: u8) -> IpAddr {
    [10, 0, 0, last].into()
}

#[test]
fn one_that_never_asked_makes_room_before_one_that_has() {
    let places = Places::new(3, 2);
    let enter = |last| places.enter(address(last));
    let gone = |place: &Place| place.let_go().now_or_never().is_some();
    let (asked, silent) = (enter(1).unwrap(), enter(1).unwrap());
    asked.occupant.asked.store(true, Relaxed);
    let next = enter(1).unwrap();
    assert!(gone(&silent) && !gone(&asked) && !gone(&next));
    next.occupant.busy.store(1, Relaxed);
    let last = enter(1).unwrap();
    assert!(gone(&asked) && !gone(&next));
    last.occupant.busy.store(1, Relaxed);
    let spare = enter(1).unwrap();
    assert!(spare.is_spare(), "both are busy");
    let spares: Vec<_> = (0..SPARE).map(|_| enter(1).unwrap()).collect();
    assert!(gone(&spare) && spares.iter().all(|it| it.is_spare() && !gone(it)));
    for it in &spares {
        it.occupant.busy.store(1, Relaxed);
    }
    assert!(enter(1).is_none());
    drop((spare, spares));
    // Another address has its own places.
    let other = enter(2).unwrap();
    let another = enter(3).unwrap();
    assert!(gone(&other) && !gone(&another));
    drop((asked, silent, next, last, other, another));
    for spare in [false, true] {
        let taken = places.taken(spare);
        assert!(taken.all.is_empty() && taken.of_address.len() == 0);
    }
}

#[test]
fn networks_that_read_slowly_but_steadily_do_not_hold_all_places() {
    let places = Places::new(12, 3);
    let enter = |last| {
        let place = places.enter(address(last)).unwrap();
        place.occupant.busy.store(1, Relaxed);
        place
    };
    let gone = |place: &&Place| place.let_go().now_or_never().is_some();
    let greedy: Vec<_> = (0..12).map(|number| enter(1 + number / 3)).collect();
    // Five networks share twelve places, two for each.
    let honest = [enter(5), enter(5)];
    assert!(honest.iter().all(|it| !it.is_spare()));
    assert_eq!(greedy.iter().filter(gone).count(), 2);
    // An address that has no more than the others makes no room.
    assert!(enter(5).is_spare());
    // No address makes room for one of the addresses with most places.
    assert!(enter(1).is_spare() && honest.iter().filter(gone).count() == 0);
}

#[test]
fn who_opens_spare_connections_all_the_time_cuts_off_nobody_who_asks_soon() {
    let places = Places::new(1, 1);
    let enter = |last| places.enter(address(last)).unwrap();
    let gone = |place: &Place| place.let_go().now_or_never().is_some();
    let busy = enter(1);
    busy.occupant.busy.store(1, Relaxed);
    // One is from the same address, and the other from an address without a place.
    let (own, stranger) = (enter(1), enter(2));
    let mut attackers: Vec<_> = (0..100).map(|_| enter(1)).collect();
    assert!(!gone(&own) && !gone(&stranger));
    attackers.extend((0..10_000).map(|_| enter(1)));
    assert!(gone(&own) && !gone(&stranger));
    let kept = attackers.iter().filter(|it| !gone(it)).count();
    assert_eq!(kept + 1, SPARE);
}

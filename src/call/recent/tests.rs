use super::*;

fn recent(capacity: usize) -> Recent {
    Recent::new(capacity)
}

/// A lower estimate: a table has room for eight sevenths of its capacity, and a byte for each
/// entry.
fn bytes_held(recent: &Recent) -> usize {
    let table = (recent.ended.capacity() * 8 / 7).next_power_of_two();
    table * 9 + recent.order.capacity() * 8
}

const ENDS: [End; 8] = [
    End::Completed,
    End::Unknown,
    End::Undecided,
    End::Cancelled(Stop::NeverStarted),
    End::Cancelled(Stop::Dropped),
    End::Cancelled(Stop::Returned),
    End::Cancelled(Stop::Terminated),
    End::Cancelled(Stop::Abandoned),
];

#[test]
fn a_capacity_without_end_takes_what_it_holds() {
    let mut recent = self::recent(usize::MAX);
    for number in 0..20_000 {
        recent.insert(
            format!("call-{number}").as_str(),
            End::Cancelled(Stop::Dropped),
        );
    }
    assert_eq!(recent.len(), 20_000);
    assert!(
        (0..20_000)
            .all(|it| recent.get(format!("call-{it}").as_str())
                == Some(End::Cancelled(Stop::Dropped)))
    );
}

#[test]
fn a_remembered_call_takes_at_most_60_bytes() {
    for capacity in [100, 1_000, 10_000] {
        let mut recent = self::recent(capacity);
        for number in 1..=4 * capacity {
            recent.insert(
                format!("call-{number}").as_str(),
                End::Cancelled(Stop::Dropped),
            );
            let held = bytes_held(&recent);
            // The smallest tables are a little roomier.
            assert!(held <= 60 * recent.len().max(16), "{number}: {held} B");
        }
    }
}

#[test]
fn lets_go_of_the_room_for_more() {
    let mut recent = self::recent(10_000);
    for number in 0..80 {
        recent.insert(
            format!("call-{number}").as_str(),
            End::Cancelled(Stop::Dropped),
        );
    }
    recent.shrink();
    assert_eq!(
        (recent.ended.capacity(), recent.order.capacity()),
        (112, 80)
    );
    assert!(
        (0..80)
            .all(|it| recent.get(format!("call-{it}").as_str())
                == Some(End::Cancelled(Stop::Dropped)))
    );
    recent.insert("one more", End::Completed);
    assert_eq!(recent.get("one more"), Some(End::Completed));
}

#[test]
fn remembers_exactly_the_last_ones() {
    for capacity in [0, 1, 2, 63, 64, 65, 100, 1_000] {
        let mut recent = self::recent(capacity);
        let mut model: VecDeque<(String, End)> = VecDeque::new();
        for number in 0..3_000_usize {
            // From time to time a remembered id ends again.
            let id = format!("call-{}", if number % 7 == 0 { number / 2 } else { number });
            let end = ENDS[number % ENDS.len()];
            recent.insert(id.as_str(), end);
            match model.iter_mut().find(|(it, _)| *it == id) {
                Some(entry) => entry.1 = end,
                None => model.push_back((id, end)),
            }
            if model.len() > capacity {
                model.pop_front();
            }
            if number % 311 == 0 {
                recent.shrink();
            }
            if number % 97 == 0 {
                for (id, end) in &model {
                    assert_eq!(
                        recent.get(id.as_str()),
                        Some(*end),
                        "{capacity} {number} {id}"
                    );
                }
            }
            assert_eq!(recent.len(), model.len());
        }
        let known =
            (0..3_000).filter(|number| recent.get(format!("call-{number}").as_str()).is_some());
        assert_eq!(known.count(), model.len());
    }
}

#[test]
fn what_was_given_up_is_forgotten_with_its_call() {
    let mut recent = recent(1);
    recent.insert("a", End::Unknown);
    recent.give_up("a", 7);
    assert!(recent.given_up(7).is_some());
    recent.decide("a", End::Completed);
    assert_eq!(recent.given_up(7), None);
    recent.insert("b", End::Unknown);
    recent.give_up("b", 8);
    recent.insert("c", End::Completed);
    assert_eq!(recent.given_up(8), None);
    assert!(recent.more.is_empty());
}

use super::*;
use crate::tokens::Role;

fn of(name: &str, at: u64) -> EarlyCancel {
    let by = Identity {
        role: Role::Agent,
        name: name.into(),
        app: None,
    };
    EarlyCancel::new(&Uuid::new_v4().to_string(), None, &by, at)
}

fn names(kept: &EarlyCancels) -> Vec<(String, u64)> {
    let all = kept.list(0).into_iter();
    all.map(|it| (it.by.name.to_string(), it.at)).collect()
}

#[test]
fn the_party_with_most_makes_room() {
    let mut kept = EarlyCancels::default();
    for at in 1..=8 {
        kept.insert(of("a", at), 4);
    }
    for at in [10, 11, 12] {
        kept.insert(of("b", at), 4);
    }
    let few = |name: &str| names(&kept).iter().filter(|it| it.0 == name).count();
    assert!(few("a") >= 1 && few("b") >= 2, "{:?}", names(&kept));
    for at in 20..60 {
        kept.insert(of("b", at), 4);
        let newest = names(&kept);
        assert_eq!(newest.len(), 4);
        assert!(newest.contains(&("a".into(), 8)), "{newest:?}");
        assert!(newest.contains(&("b".into(), at)), "{newest:?}");
    }
}

#[test]
fn who_cancels_the_same_again_takes_no_more_room() {
    let mut kept = EarlyCancels::default();
    kept.insert(of("b", 1), 3);
    let again = of("a", 2);
    for at in 2..50 {
        let renewed = EarlyCancel {
            key: Uuid::new_v4(),
            at,
            ..again.clone()
        };
        kept.insert(renewed, 3);
    }
    assert_eq!(names(&kept), [("b".to_string(), 1), ("a".to_string(), 49)]);
    kept.expire(2);
    assert_eq!(names(&kept), [("a".to_string(), 49)]);
    kept.expire(50);
    assert!(kept.by_id.is_empty() && kept.by_owner.is_empty() && kept.count == 0);
}

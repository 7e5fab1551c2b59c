use super::*;

fn message(bytes: usize) -> Bytes {
    Bytes::from(vec![7; bytes])
}

#[test]
fn messages_come_in_order_and_share_frames() {
    let (mut one, mut other) = (Link::default(), Link::default());
    for text in ["a", "b", "c"] {
        one.push(Bytes::from(text));
    }
    let frame = one.next_frame().unwrap();
    assert_eq!((frame.number, &frame.body[..]), (1, &b"abc"[..]));
    assert_eq!(other.take(frame), Ok(Bytes::from("abc")));
    one.push(message(FRAME_BYTES + 1));
    one.push(message(1));
    let frames = std::iter::from_fn(|| one.next_frame());
    let taken: Vec<_> = frames
        .map(|frame| other.take(frame).unwrap().len())
        .collect();
    assert_eq!(taken, [FRAME_BYTES + 1, 1], "a large message goes alone");
}

#[test]
fn a_frame_that_is_missing_or_comes_twice_is_a_gap() {
    let mut one = Link::default();
    let mut frames = Vec::new();
    for _ in 0..3 {
        one.push(message(FRAME_BYTES));
        frames.push(one.next_frame().unwrap());
    }
    let mut missing = Link::default();
    assert!(missing.take(frames[0].clone()).is_ok());
    assert_eq!(missing.take(frames[2].clone()), Err(Gap));
    let mut twice = Link::default();
    assert!(twice.take(frames[0].clone()).is_ok());
    assert_eq!(twice.take(frames[0].clone()), Err(Gap));
    assert_eq!(Link::default().take(frames[1].clone()), Err(Gap));
}

#[test]
fn nothing_more_is_written_while_the_other_worker_is_far_behind() {
    let mut link = Link::default();
    let mut written = 0;
    while link.has_room() {
        link.push(message(FRAME_BYTES));
        assert!(link.next_frame().is_some());
        written += 1;
        link.written();
    }
    assert!((30..=33).contains(&written), "{written}");
    assert!(link.may_be_behind());
    link.push(message(1));
    assert!(link.next_frame().is_none() && !link.is_written());
    // Entries of other workers are left as well.
    link.left(written + 50);
    assert!(link.next_frame().is_none());
    // The other worker has read some entries of this one.
    link.left(written - 2);
    assert!(link.has_room() && link.next_frame().is_some());
    link.written();
    link.left(0);
    assert_eq!((link.unread_bytes, link.waiting_bytes), (0, 0));
    assert!(link.is_written() && link.unread.is_empty() && !link.may_be_behind());
}

#[test]
fn small_entries_are_noted_together() {
    let mut link = Link::default();
    for _ in 0..10_000 {
        link.push(message(10));
        assert!(link.next_frame().is_some());
        link.written();
    }
    assert!(link.unread.len() < 50, "{}", link.unread.len());
    link.left(10);
    assert!(
        link.unread_bytes <= NOTED_BYTES + 138,
        "{}",
        link.unread_bytes
    );
    link.left(0);
    assert_eq!(link.unread_bytes, 0);
}

use super::*;
use crate::wire::Header;

/// A message to an agent, or of the connection itself, that is about that long.
fn message(agent: Option<&str>, id: &str, bytes: usize) -> Outgoing {
    let header = Header {
        kind: "capabilities/call",
        id: Some(id),
        agent,
        timestamp: "0",
    };
    Outgoing::new(header, &format!("\"{}\"", "x".repeat(bytes)), None)
}

/// The ids of all messages, in the order in which they are written.
fn order(lanes: &mut Lanes) -> Vec<String> {
    let texts = lanes.take().map(|it| it.message.into_text());
    let id = |text: String| text.split(r#""id":"#).nth(1).map(|it| it[..2].to_string());
    texts.filter_map(id).collect()
}

#[test]
fn a_small_message_does_not_wait_behind_all_large_messages_of_another_agent() {
    let mut lanes = Lanes::default();
    for number in 10..60 {
        lanes.push(message(Some("a1"), &number.to_string(), 200_000), false);
    }
    lanes.push(message(Some("a2"), "99", 10), false);
    let order = order(&mut lanes);
    let place = order.iter().position(|id| id == "99").unwrap();
    assert!(place <= 1, "behind {place} messages");
    assert_eq!(order.len(), 51);
}

#[test]
fn many_agents_with_large_messages_do_not_delay_one_with_a_small_message() {
    let mut lanes = Lanes::default();
    for agent in 0..50 {
        for number in 10..13 {
            let agent = format!("a{agent}");
            lanes.push(message(Some(&agent), &number.to_string(), 200_000), false);
        }
    }
    lanes.push(message(Some("b"), "99", 10), false);
    let order = order(&mut lanes);
    assert_eq!(order.iter().position(|id| id == "99"), Some(0));
}

#[test]
fn equal_agents_get_equal_bytes_whatever_the_size_of_their_messages() {
    let mut lanes = Lanes::default();
    for number in 0..40 {
        lanes.push(message(Some("small"), "10", 1_000), false);
        if number % 10 == 0 {
            lanes.push(message(Some("large"), "20", 10_000), false);
        }
    }
    let (mut small, mut large) = (0_usize, 0_usize);
    for id in &order(&mut lanes)[..22] {
        match id.as_str() {
            "10" => small += 1_000,
            _ => large += 10_000,
        }
    }
    assert!(small.abs_diff(large) <= 12_000, "{small} and {large}");
}

#[test]
fn the_messages_of_one_agent_keep_their_order() {
    let mut lanes = Lanes::default();
    for number in 10..30 {
        let bytes = if number % 3 == 0 { 30_000 } else { 10 };
        for agent in ["a1", "a2", "a3"] {
            lanes.push(message(Some(agent), &number.to_string(), bytes), false);
        }
    }
    let sorted: Vec<_> = (10..30).map(|number| number.to_string()).collect();
    let texts: Vec<_> = lanes.take().map(|it| it.message.into_text()).collect();
    for agent in ["a1", "a2", "a3"] {
        let own = texts.iter().filter(|text| text.contains(agent));
        let ids = own.filter_map(|text| Some(text.split(r#""id":"#).nth(1)?[..2].to_string()));
        assert_eq!(ids.collect::<Vec<_>>(), sorted);
    }
    assert!(lanes.pop().is_none());
}

#[test]
fn messages_of_the_connection_itself_come_first_in_their_order() {
    let mut lanes = Lanes::default();
    lanes.push(message(Some("a1"), "30", 10), false);
    lanes.push(message(None, "10", 10), false);
    lanes.push_ahead(message(Some("a2"), "20", 100_000));
    lanes.push(message(None, "25", 10), false);
    assert_eq!(order(&mut lanes), ["10", "20", "25", "30"]);
}

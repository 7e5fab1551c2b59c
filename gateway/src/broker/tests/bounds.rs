use serde_json::json;

use super::*;
use crate::broker::{QUESTION_BYTES, QUESTIONS};
use crate::limits::Retention;

#[test]
fn nesting_and_size_are_refused_under_the_id() {
    let mut bench = Bench::session();
    bench.limits.message_bytes = 100_000;
    let deep = format!(
        r#"{{"type":"capabilities/call","id":"deep","payload":{}{}}}"#,
        "[".repeat(10_000),
        "]".repeat(10_000)
    );
    let large = format!(
        r#"{{"type":"capabilities/cancel","id":"large","payload":{{"callId":"c","reason":"{}"}}}}"#,
        "x".repeat(100_000)
    );
    let seen = bench.text(2, &deep);
    assert_eq!(
        (&only(&seen, 2)["id"], &only(&seen, 2)["type"]),
        (&json!("deep"), &json!("capabilities/call-result"))
    );
    assert_eq!(
        only(&seen, 2)["payload"]["error"]["details"]["limit"],
        "depth"
    );
    let seen = bench.text(2, &large);
    assert_eq!(
        (&only(&seen, 2)["id"], &only(&seen, 2)["type"]),
        (&json!("large"), &json!("capabilities/cancel-result"))
    );
    assert_eq!(
        only(&seen, 2)["payload"]["error"]["details"]["limit"],
        "messageBytes"
    );
    let long_id = call(&"i".repeat(300), "c");
    assert_eq!(code(only(&bench.send(2, long_id), 2)), "INVALID_PARAMS");
    goes_on(&mut bench, 2);
}

#[test]
fn the_limits_of_one_agent_are_its_own() {
    let limits = Limits {
        in_flight: 2,
        requests_per_second: 6.0,
        ..Limits::default()
    };
    let mut bench = Bench {
        limits: limits.clone(),
        broker: Broker::new(limits, Tokens::default()),
        ..Bench::new()
    };
    bench.app(1, "demo");
    for agent in [2, 3] {
        bench.agent(agent, None);
        bench.relayed(agent, request("initialize", "i", json!({})));
    }
    bench.relayed(2, call("1", "a"));
    bench.relayed(2, call("2", "b"));
    let seen = bench.send(2, call("3", "c"));
    assert_eq!(code(only(&seen, 2)), "RATE_LIMITED");
    assert_eq!(
        only(&seen, 2)["payload"]["error"]["details"]["limit"],
        "inFlight"
    );
    bench.relayed(2, cancel("4", "a"));
    bench.relayed(2, cancel("5", "b"));
    let seen = bench.send(2, cancel("6", "b"));
    let error = &only(&seen, 2)["payload"]["error"];
    assert_eq!(
        (&error["details"]["limit"], error["retryAfter"].as_f64()),
        (&json!("requestsPerSecond"), Some(167.0))
    );
    bench.relayed(3, call("1", "a"));
    bench.now.monotonic_ms += 1_000.0;
    // A cancel of another agent's call, or of a call that is over, has no room of its own.
    assert_eq!(
        only(&bench.send(2, cancel("7", "other")), 2)["payload"]["error"]["details"]["limit"],
        "inFlight"
    );
}

#[test]
fn thirty_cancels_of_one_call_do_not_take_the_room_of_the_next_calls() {
    let limits = Limits {
        in_flight: 8,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    bench.app(1, "demo");
    bench.agent(2, None);
    bench.relayed(2, request("initialize", "i", json!({})));
    bench.relayed(2, call("1", "a"));
    bench.relayed(2, call("2", "b"));
    let first = bench.relayed(2, cancel("a0", "a"));
    for number in 1..30 {
        let id = format!("a{number}");
        assert_eq!(bench.send(2, cancel(&id, "a")), [], "it joins the first");
    }
    let used = bench.send(2, cancel("a7", "a"));
    assert_eq!(code(only(&used, 2)), "INVALID_PARAMS", "each has its id");
    let other = only(&bench.send(2, cancel("b", "b")), 1).clone();
    let no = json!({ "callId": "b", "cancelled": false, "reason": "no" });
    bench.send(1, answer(&other, "capabilities/cancel-result", no));
    only(&bench.send(2, cancel("b again", "b")), 1);
    // The app's answer to the first cancel answers all of them.
    let yes = json!({ "callId": "a", "cancelled": true, "metadata": { "stop": "dropped" } });
    let seen = bench.send(1, answer(&first, "capabilities/cancel-result", yes.clone()));
    assert_eq!(seen.len(), 30);
    for (number, seen) in seen.iter().enumerate() {
        let Seen::Message(2, message) = seen else {
            panic!("{seen:?}")
        };
        assert_eq!(message["id"], format!("a{number}"));
        assert_eq!(message["payload"], yes);
    }
    goes_on(&mut bench, 2);
}

#[test]
fn a_cancel_that_the_app_has_not_answered_in_time_is_sent_again_when_its_agent_cancels_again() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    let first = bench.relayed(2, cancel("2", "c"));
    assert_eq!(bench.send(2, cancel("3", "c")), []);
    bench.now.monotonic_ms += bench.broker.grace();
    let again = bench.relayed(2, cancel("4", "c"));
    assert_eq!(bench.send(2, cancel("5", "c")), []);
    let said = json!({ "callId": "c", "cancelled": true, "metadata": { "stop": "returned" } });
    let mut ids = Vec::new();
    for sent in [&again, &first] {
        for seen in bench.send(1, answer(sent, "capabilities/cancel-result", said.clone())) {
            let Seen::Message(2, message) = seen else {
                panic!("{seen:?}")
            };
            assert_eq!(message["payload"], said);
            ids.push(message["id"].clone());
        }
    }
    assert_eq!(ids, ["2", "3", "4", "5"], "one confirmation answers all");
    goes_on(&mut bench, 2);
}

/// An agent with calls `a` and `b`. Cancels of unknown calls fill the bounds.
fn full_of_cancels() -> Bench {
    let limits = Limits {
        in_flight: 2,
        in_flight_per_token: 2,
        ..Limits::default()
    };
    let tokens = ["agent=a".parse().unwrap(), "app=b".parse().unwrap()];
    let mut bench = Bench::with(limits, Tokens::new(tokens.into()));
    bench.app(1, "demo");
    bench.agent(2, None);
    let hello = bench.relayed(2, request("initialize", "i", json!({})));
    let opened = json!({ "sessionId": "s" });
    bench.send(1, answer(&hello, "initialize-result", opened));
    bench.relayed(2, call("1", "a"));
    bench.relayed(2, call("2", "b"));
    for unknown in ["u", "v"] {
        bench.relayed(2, cancel(unknown, unknown));
    }
    let refused = bench.send(2, cancel("w", "w"));
    assert_eq!(code(only(&refused, 2)), "RATE_LIMITED");
    bench
}

#[test]
fn a_cancel_after_one_whose_confirmation_cannot_be_read_has_room_where_the_bounds_are_full() {
    for unreadable in [json!([]), json!({ "callId": "b", "cancelled": true })] {
        let mut bench = full_of_cancels();
        for id in ["a0", "a1", "a2"] {
            let sent = bench.relayed(2, cancel(id, "a"));
            let seen = bench.send(
                1,
                answer(&sent, "capabilities/cancel-result", unreadable.clone()),
            );
            let Seen::Message(2, told) = &seen[0] else {
                panic!("{seen:?}")
            };
            assert_eq!((&told["id"], code(told)), (&json!(id), "TRANSPORT_ERROR"));
        }
        let sent = bench.relayed(2, cancel("a3", "a"));
        let yes = json!({ "callId": "a", "cancelled": true, "metadata": { "stop": "returned" } });
        let seen = bench.send(1, answer(&sent, "capabilities/cancel-result", yes.clone()));
        assert_eq!(only(&seen, 2)["payload"], yes);
    }
}

#[test]
fn a_repeated_cancel_of_a_call_whose_end_is_known_is_answered_where_the_bounds_are_full() {
    let mut bench = full_of_cancels();
    let calling = bench.broker.runs().in_flight().len();
    assert_eq!(calling, 2);
    let sent = bench.relayed(2, cancel("a0", "a"));
    let yes = json!({ "callId": "a", "cancelled": true, "metadata": { "stop": "returned" } });
    bench.send(1, answer(&sent, "capabilities/cancel-result", yes.clone()));
    let seen = bench.send(2, cancel("a1", "a"));
    assert_eq!(only(&seen, 2)["payload"], yes);
}

#[test]
fn cancels_that_have_joined_another_are_answered_when_the_app_leaves() {
    let mut bench = Bench::session();
    bench.relayed(2, call("1", "c"));
    bench.relayed(2, cancel("2", "c"));
    assert_eq!(bench.send(2, cancel("3", "c")), []);
    let seen = bench.gone(1);
    let answered = |id: &str| {
        let is_it = |seen: &&Seen| matches!(seen, Seen::Message(2, it) if it["id"] == id);
        seen.iter().filter(is_it).count()
    };
    assert_eq!(["1", "2", "3"].map(answered), [1, 1, 1]);
    let cancelled = seen.iter().find_map(|seen| match seen {
        Seen::Message(2, message) if message["id"] == "3" => Some(message["payload"].clone()),
        _ => None,
    });
    assert_eq!(cancelled.unwrap()["callId"], "c");
}

#[test]
fn too_many_peers_are_told_so() {
    let limits = Limits {
        sessions: 1,
        apps: 1,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    bench.app(1, "demo");
    bench.agent(2, None);
    // An app counts once it has registered.
    let joined = bench.event(Event::AppJoined {
        peer: PeerId(4),
        identity: Some(Identity::anyone()),
        seat: Seat::Connected,
    });
    assert!(joined.is_empty());
    let app = bench.send(4, register("other"));
    for (seen, peer) in [(bench.agent(3, None), 3), (app, 4)] {
        assert!(
            matches!(&seen[0], Seen::Message(to, message) if *to == peer && code(message) == "RATE_LIMITED")
        );
        assert_eq!(seen[1], Seen::Closed(peer, 1013));
    }
    bench.gone(2);
    assert!(bench.agent(5, None).is_empty());
}

#[test]
fn a_congested_app_gets_cancels_but_no_calls() {
    let mut bench = Bench::session();
    bench.event(backlog(Backlog::Long));
    let seen = bench.send(2, call("1", "c"));
    assert_eq!(code(only(&seen, 2)), "RATE_LIMITED");
    assert_eq!(
        only(&seen, 2)["payload"]["error"]["retryAfter"].as_f64(),
        Some(1_000.0)
    );
    bench.relayed(2, cancel("2", "c"));
    bench.event(backlog(Backlog::Short));
    goes_on(&mut bench, 2);
}

fn backlog(backlog: Backlog) -> Event<'static> {
    let peer = PeerId(1);
    Event::Backlog { peer, backlog }
}

/// A call whose payload has at least `bytes` bytes.
fn sized(id: &str, bytes: usize) -> Value {
    let params = json!({ "text": "x".repeat(bytes) });
    let options = json!({ "callId": id });
    let payload = json!({ "capability": "a.b", "params": params, "options": options });
    request("capabilities/call", id, payload)
}

/// App 1, and from 2 on one agent of each owner, with a session.
fn bench_of(queued_bytes: usize, owners: &[&str]) -> Bench {
    let limits = Limits {
        queued_bytes,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    bench.app(1, "demo");
    for (agent, owner) in (2..).zip(owners) {
        bench.agent_of(agent, owner);
        let relayed = bench.relayed(agent, request("initialize", "i", json!({})));
        let session = json!({ "sessionId": "s" });
        bench.send(1, answer(&relayed, "initialize-result", session));
    }
    bench
}

#[test]
fn who_has_filled_the_queue_of_an_app_keeps_nobody_else_from_it() {
    let mut bench = bench_of(40_000, &["greedy", "modest", "greedy"]);
    let large = bench.relayed(2, sized("1", 20_000));
    bench.event(backlog(Backlog::Long));
    // The token may call neither over this connection nor over another one.
    for agent in [2, 4] {
        let seen = bench.send(agent, sized("2", 1));
        assert_eq!(code(only(&seen, agent)), "RATE_LIMITED");
    }
    // The other tokens have their share.
    bench.relayed(3, sized("1", 7_000));
    let seen = bench.send(3, sized("2", 3_000));
    assert_eq!(code(only(&seen, 3)), "RATE_LIMITED");
    let small = bench.relayed(3, sized("3", 10));
    // Answered calls do not count any more.
    let done = json!({ "success": true });
    bench.send(1, answer(&small, "capabilities/call-result", done.clone()));
    bench.send(1, answer(&large, "capabilities/call-result", done));
    let seen = bench.send(3, sized("4", 1));
    assert_eq!(code(only(&seen, 3)), "RATE_LIMITED", "nobody else is there");
    bench.relayed(2, sized("3", 7_000));
    bench.event(backlog(Backlog::Short));
    bench.gone(3);
    bench.event(backlog(Backlog::Long));
    let seen = bench.send(2, sized("4", 1));
    assert_eq!(code(only(&seen, 2)), "RATE_LIMITED", "they have gone");
}

#[test]
fn tiny_calls_do_not_pass_the_share_of_their_owner() {
    let mut bench = bench_of(40_000, &["greedy", "tiny"]);
    bench.relayed(2, sized("1", 20_000));
    bench.event(backlog(Backlog::Long));
    // The messages to the app are longer than the agents' calls, so 10 000 bytes are soon waiting.
    let relayed = (0..200).take_while(|number| {
        let seen = bench.send(3, call(&number.to_string(), &number.to_string()));
        matches!(&seen[..], [Seen::Message(1, _)])
    });
    assert!((20..80).contains(&relayed.count()));
}

#[test]
fn an_owner_that_reconnects_has_no_new_share_of_a_queue() {
    let mut bench = bench_of(40_000, &["greedy", "other"]);
    bench.relayed(3, sized("1", 1_000));
    bench.relayed(2, sized("1", 20_000));
    bench.event(backlog(Backlog::Long));
    bench.gone(2);
    bench.agent_of(4, "greedy");
    bench.relayed(4, request("initialize", "i", json!({})));
    let seen = bench.send(4, sized("1", 1_000));
    assert_eq!(code(only(&seen, 4)), "RATE_LIMITED");
    bench.relayed(3, sized("2", 1_000));
}

#[test]
fn a_full_queue_takes_cancels_alone() {
    let mut bench = bench_of(40_000, &["greedy", "modest"]);
    bench.relayed(2, sized("1", 20_000));
    bench.event(backlog(Backlog::Full));
    let refused = |bench: &mut Bench, message: Value| {
        let seen = bench.send(3, message);
        assert_eq!(code(only(&seen, 3)), "RATE_LIMITED");
    };
    refused(&mut bench, call("1", "c"));
    let mut long = cancel("2", "1");
    long["payload"]["reason"] = json!("x".repeat(5_000));
    let relayed = bench.relayed(2, long);
    assert_eq!(relayed["payload"], json!({ "callId": "1" }));
    assert_eq!(bench.send(2, cancel("3", "1")), [], "it joins the first");
    bench.now.monotonic_ms += bench.broker.grace();
    bench.relayed(2, cancel("4", "1"));
    bench.agent(5, None);
    let seen = bench.send(5, request("initialize", "i", json!({})));
    assert_eq!(only(&seen, 5)["payload"]["error"]["code"], "RATE_LIMITED");
    bench.event(backlog(Backlog::Short));
    // The app has not heard of this agent.
    let seen = bench.send(5, call("1", "c"));
    assert_eq!(code(only(&seen, 5)), "NOT_INITIALIZED");
    bench.relayed(5, request("initialize", "i", json!({})));
    goes_on(&mut bench, 3);
}

#[test]
fn a_call_id_is_as_long_as_a_page_takes_it() {
    let mut bench = Bench::session();
    for bad in [
        "x".repeat(129),
        "é".repeat(1 << 20),
        "a\nb".into(),
        String::new(),
    ] {
        for message in [call("1", &bad), cancel("1", &bad)] {
            let seen = bench.send(2, message);
            let error = &only(&seen, 2)["payload"]["error"];
            assert_eq!(error["code"], "INVALID_PARAMS");
            assert_eq!(
                error["message"],
                "Bad callId: it is a string of 1 to 128 printable characters"
            );
            assert_eq!(error["details"]["path"], "callId");
        }
    }
    assert_eq!(bench.broker.runs().visible(&Identity::anyone(), 0).len(), 0);
    bench.relayed(2, call("1", &"é".repeat(128)));
    bench.relayed(2, cancel("2", &"é".repeat(128)));
}

#[test]
fn a_token_has_so_many_requests_in_flight_however_many_its_connections() {
    let limits = Limits {
        in_flight_per_token: 3,
        ..Limits::default()
    };
    let tokens = Tokens::new(vec!["app=app-secret-of-sixteen".parse().unwrap()]);
    let mut bench = Bench::with(limits, tokens);
    bench.app(1, "demo");
    for (agent, owner) in [(2, "greedy"), (3, "greedy"), (4, "greedy"), (5, "modest")] {
        bench.agent_of(agent, owner);
        let relayed = bench.relayed(agent, request("initialize", "i", json!({})));
        let session = json!({ "sessionId": "s" });
        bench.send(1, answer(&relayed, "initialize-result", session));
    }
    bench.relayed(2, call("1", "1"));
    let second = bench.relayed(2, call("2", "2"));
    bench.relayed(3, call("1", "1"));
    for agent in [2, 3, 4] {
        let seen = bench.send(agent, call("3", "3"));
        let error = &only(&seen, agent)["payload"]["error"];
        assert_eq!(error["code"], "RATE_LIMITED");
        assert_eq!(
            error["details"],
            json!({ "limit": "inFlightPerToken", "max": 3 })
        );
    }
    // Each type and each token counts separately: calls in flight can be cancelled.
    bench.relayed(3, cancel("4", "1"));
    bench.relayed(5, call("1", "1"));
    // Answered calls, and calls of an agent that is gone, do not count any more.
    let done = json!({ "success": true });
    bench.send(1, answer(&second, "capabilities/call-result", done));
    bench.relayed(4, call("5", "5"));
    bench.gone(2);
    bench.relayed(4, call("6", "6"));
    let seen = bench.send(4, call("7", "7"));
    assert_eq!(code(only(&seen, 4)), "RATE_LIMITED");
    bench.gone(1);
    bench.app(6, "demo");
    bench.agent_of(7, "greedy");
    bench.relayed(7, request("initialize", "i", json!({})));
}

#[test]
fn calls_of_long_ids_and_names_that_no_app_answers_are_bounded_in_bytes() {
    let limits = Limits {
        retention: Retention {
            bytes: 64 << 10,
            ..Retention::default()
        },
        ..Limits::default()
    };
    let tokens = Tokens::new(vec!["app=app-secret-of-sixteen".parse().unwrap()]);
    let mut bench = Bench::with(limits, tokens);
    bench.app(1, "demo");
    for (agent, owner) in [(2, "greedy"), (3, "greedy"), (4, "modest")] {
        bench.agent_of(agent, owner);
        let relayed = bench.relayed(agent, request("initialize", "i", json!({})));
        let session = json!({ "sessionId": "s" });
        bench.send(1, answer(&relayed, "initialize-result", session));
    }
    let long = |number: usize| format!("{}{number:04}", "é".repeat(120));
    let mut sent = Vec::new();
    let refused = loop {
        let mut message = call(&sent.len().to_string(), &long(sent.len()));
        message["payload"]["capability"] = "c".repeat(100_000).into();
        let seen = bench.send(2 + sent.len() as u64 % 2, message);
        let Seen::Message(1, relayed) = &seen[0] else {
            break seen[0].clone();
        };
        sent.push(relayed.clone());
    };
    // Each has about two kilobytes.
    assert!((20..80).contains(&sent.len()), "{}", sent.len());
    let Seen::Message(_, refused) = refused else {
        panic!("{refused:?}");
    };
    let error = &refused["payload"]["error"];
    assert_eq!(
        (&error["code"], &error["retryable"]),
        (&json!("RATE_LIMITED"), &json!(true))
    );
    assert_eq!(
        error["details"],
        json!({ "limit": "inFlightBytes", "max": 64 << 10 })
    );
    // Calls in flight can be cancelled, and other tokens may call.
    for number in 0..sent.len() {
        let agent = 2 + number as u64 % 2;
        bench.relayed(agent, cancel(&format!("c{number}"), &long(number)));
    }
    bench.relayed(4, call("1", "1"));
    // Answered calls do not count any more.
    let done = json!({ "success": true });
    bench.send(1, answer(&sent[0], "capabilities/call-result", done));
    bench.relayed(3, call("after", "after"));
}

#[test]
fn questions_that_no_agent_answers_do_not_pile_up() {
    let mut bench = Bench::session();
    let agent = bench.relayed(2, call("1", "1"))["agent"].clone();
    for number in 0..3 * QUESTIONS {
        let id = format!("{number}{}", "i".repeat(200));
        let question =
            json!({ "type": "elicitation/request", "id": id, "agent": agent, "payload": {} });
        bench.send(1, question);
    }
    let in_flight = bench.broker.in_flight() - bench.broker.sessions().requests_in_flight();
    assert_eq!(in_flight, QUESTIONS);
}

#[test]
fn questions_to_many_agents_that_do_not_answer_are_bounded_in_bytes_for_the_owner_of_their_app() {
    let mut bench = Bench::new();
    bench.app(1, "demo");
    let ask = |bench: &mut Bench, agent: u64| {
        bench.agent(agent, None);
        let relayed = bench.relayed(agent, request("initialize", "i", json!({})));
        let session = json!({ "sessionId": "s" });
        bench.send(1, answer(&relayed, "initialize-result", session));
        let mut refused = 0;
        for number in 0..QUESTIONS {
            let id = format!("{number}{}", "i".repeat(200));
            let question = json!({
                "type": "elicitation/request", "id": id, "agent": relayed["agent"], "payload": {},
            });
            let seen = bench.send(1, question);
            refused += usize::from(matches!(&seen[..], [Seen::Message(1, _)]));
        }
        refused
    };
    let refused: Vec<_> = (2..32).map(|agent| ask(&mut bench, agent)).collect();
    let kept = bench.broker.in_flight() - bench.broker.sessions().requests_in_flight();
    assert!(kept * 200 < QUESTION_BYTES, "{kept}");
    assert!(refused[0] == 0 && refused[29] > 0, "{refused:?}");
    // Questions to an agent that is gone do not count any more.
    bench.gone(2);
    assert_eq!(ask(&mut bench, 40), 0);
}

#[test]
fn an_answer_to_a_question_waits_for_room_in_a_full_queue() {
    let mut bench = bench_of(40_000, &["a"]);
    let calling = bench.relayed(2, call("1", "1"));
    let agent = &calling["agent"];
    let question = json!({ "type": "elicitation/request", "id": 9, "agent": agent, "payload": {} });
    let seen = bench.send(1, question);
    let id = only(&seen, 2)["id"].as_str().unwrap().to_string();
    let answering = request("elicitation/response", &id, json!({ "text": "x" }));
    bench.event(backlog(Backlog::Full));
    let seen = bench.send(2, answering.clone());
    assert_eq!(code(only(&seen, 2)), "RATE_LIMITED");
    bench.event(backlog(Backlog::Long));
    assert_eq!(bench.relayed(2, answering)["id"], 9);
}

const MIB: usize = 1 << 20;

/// Registers an app of the owner. The description of its capability has `bytes` bytes.
fn offering(bench: &mut Bench, peer: u64, owner: &str, bytes: usize) -> Vec<Seen> {
    bench.event(Event::AppJoined {
        peer: PeerId(peer),
        identity: Some(Identity {
            name: owner.into(),
            ..Identity::anyone()
        }),
        seat: Seat::Connected,
    });
    let mut message = register(&format!("app-{peer}"));
    message["payload"]["capabilities"] = described(bytes);
    bench.send(peer, message)
}

fn described(bytes: usize) -> Value {
    json!([{ "name": "a.b", "description": "d".repeat(bytes) }])
}

fn is_registered(seen: &[Seen], peer: u64) -> bool {
    matches!(seen, [Seen::Message(to, message)] if *to == peer && message["type"] == "app/registered")
}

/// Whether the app was refused like an app beyond `--max-apps`, with the limit that it would exceed.
fn is_too_much(seen: &[Seen], peer: u64, max: usize) -> bool {
    let details = json!({ "limit": "registeredBytes", "max": max });
    matches!(seen, [Seen::Message(to, message), Seen::Closed(closed, 1013)]
        if (*to, *closed) == (peer, peer)
            && code(message) == "RATE_LIMITED"
            && message["payload"]["error"]["details"] == details)
}

fn one_token(limits: Limits) -> Bench {
    let tokens = Tokens::new(vec!["app=app-secret-of-sixteen".parse().unwrap()]);
    Bench::with(limits, tokens)
}

#[test]
fn one_token_has_not_what_large_registrations_take_of_all() {
    let limits = Limits {
        registered_bytes: 5 * MIB,
        registered_bytes_per_token: 3 * MIB,
        ..Limits::default()
    };
    let mut bench = one_token(limits);
    for peer in [1, 2, 3] {
        let seen = offering(&mut bench, peer, "greedy", 1_000_000);
        assert!(is_registered(&seen, peer), "{seen:?}");
    }
    let seen = offering(&mut bench, 4, "greedy", 1_000_000);
    assert!(is_too_much(&seen, 4, 3 * MIB), "{seen:?}");
    // A small offer still fits, and other tokens have their share of the rest.
    assert!(is_registered(&offering(&mut bench, 5, "greedy", 1_000), 5));
    for peer in [6, 7] {
        let seen = offering(&mut bench, peer, "modest", 1_000_000);
        assert!(is_registered(&seen, peer), "{seen:?}");
    }
    let seen = offering(&mut bench, 8, "third", 1_000_000);
    assert!(is_too_much(&seen, 8, 5 * MIB), "{seen:?}");
    // An app that goes gives its bytes back.
    bench.gone(1);
    assert!(is_registered(
        &offering(&mut bench, 9, "greedy", 1_000_000),
        9
    ));
}

#[test]
fn without_tokens_only_what_all_offer_is_bounded() {
    let limits = Limits {
        registered_bytes: 3 * MIB,
        registered_bytes_per_token: MIB,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    for peer in [1, 2, 3] {
        assert!(is_registered(
            &offering(&mut bench, peer, "anyone", 1_000_000),
            peer
        ));
    }
    let seen = offering(&mut bench, 4, "anyone", 1_000_000);
    assert!(is_too_much(&seen, 4, 3 * MIB), "{seen:?}");
}

#[test]
fn the_smallest_capabilities_count_for_what_they_take() {
    let limits = Limits {
        registered_bytes_per_token: 10 * MIB,
        ..Limits::default()
    };
    let mut bench = one_token(limits);
    let tiny = |peer| {
        let mut message = register(&format!("app-{peer}"));
        let list: Vec<_> = (0..50_000)
            .map(|it| json!({ "name": format!("{it:x}") }))
            .collect();
        message["payload"]["capabilities"] = json!(list);
        message
    };
    for peer in [1, 2] {
        bench.event(Event::AppJoined {
            peer: PeerId(peer),
            identity: Some(Identity::anyone()),
            seat: Seat::Connected,
        });
    }
    let seen = bench.send(1, tiny(1));
    assert!(is_registered(&seen, 1), "one always fits");
    let seen = bench.send(2, tiny(2));
    assert!(is_too_much(&seen, 2, 10 * MIB), "{seen:?}");
}

#[test]
fn an_update_past_the_bytes_of_all_is_refused_and_changes_nothing() {
    let limits = Limits {
        registered_bytes_per_token: 2 * MIB,
        ..Limits::default()
    };
    let mut bench = one_token(limits);
    for peer in [1, 2] {
        assert!(is_registered(
            &offering(&mut bench, peer, "greedy", 900_000),
            peer
        ));
    }
    let update = |payload| json!({ "type": "app/update", "id": "u", "payload": payload });
    let more = json!({ "added": [{ "name": "c", "description": "d".repeat(900_000) }] });
    let seen = bench.send(1, update(more.clone()));
    let answer = only(&seen, 1);
    assert_eq!(
        (&answer["type"], &answer["id"], code(answer)),
        (&json!("error"), &json!("u"), "RATE_LIMITED")
    );
    let details = json!({ "limit": "registeredBytes", "max": 2 * MIB });
    assert_eq!(answer["payload"]["error"]["details"], details);
    let offered = |bench: &Bench| {
        let offer = bench.broker.apps().offer(Some("app-1")).unwrap();
        offer.capabilities.len()
    };
    assert_eq!(offered(&bench), 1);
    // A smaller offer always fits, and leaves room for other apps of the token.
    let less = json!({ "capabilities": described(10) });
    assert!(bench.send(2, update(less)).is_empty());
    assert!(bench.send(1, update(more)).is_empty());
    assert_eq!(offered(&bench), 2);
    let seen = offering(&mut bench, 3, "greedy", 900_000);
    assert!(is_too_much(&seen, 3, 2 * MIB), "{seen:?}");
    bench.gone(1);
    assert!(is_registered(
        &offering(&mut bench, 4, "greedy", 900_000),
        4
    ));
}

#[test]
fn apps_that_may_come_back_give_way_with_what_they_offer() {
    let limits = Limits {
        registered_bytes_per_token: 2 * MIB,
        ..Limits::default()
    };
    let mut bench = one_token(limits);
    for peer in [1, 2] {
        offering(&mut bench, peer, "greedy", 1_000_000);
    }
    bench.event(Event::Suspended {
        peer: PeerId(1),
        suspended: true,
    });
    let seen = offering(&mut bench, 3, "greedy", 1_000_000);
    assert_eq!(seen[0], Seen::Closed(1, 4002));
    assert!(is_registered(&seen[1..], 3), "{seen:?}");
    let seen = offering(&mut bench, 4, "greedy", 1_000_000);
    assert!(is_too_much(&seen, 4, 2 * MIB), "{seen:?}");
}

#[test]
fn apps_that_may_come_back_do_not_give_way_in_vain() {
    let limits = Limits {
        registered_bytes: 3_000_000,
        registered_bytes_per_token: 3_000_000,
        ..Limits::default()
    };
    let mut bench = one_token(limits);
    for peer in [1, 2] {
        offering(&mut bench, peer, "other", 1_000_000);
    }
    for peer in [3, 4] {
        offering(&mut bench, peer, "greedy", 300_000);
        bench.event(Event::Suspended {
            peer: PeerId(peer),
            suspended: true,
        });
    }
    // Even without both suspended apps there is not enough room.
    let seen = offering(&mut bench, 5, "greedy", 1_000_000);
    assert!(is_too_much(&seen, 5, 3_000_000), "{seen:?}");
    for peer in [3, 4] {
        assert!(bench.broker.apps().registered_by(PeerId(peer)).is_some());
    }
    // No more apps than necessary are given up.
    let seen = offering(&mut bench, 6, "greedy", 600_000);
    assert_eq!(seen[0], Seen::Closed(3, 4002));
    assert!(is_registered(&seen[1..], 6), "{seen:?}");
}

/// Asks for a session of an agent of `owner`. Returns the answer if the session is refused.
fn session_of(bench: &mut Bench, peer: u64, owner: &str) -> Option<Value> {
    bench.agent_of(peer, owner);
    let seen = bench.send(peer, request("initialize", "i", json!({})));
    match &seen[..] {
        [Seen::Message(1, _)] => None,
        seen => Some(only(seen, peer)["payload"]["error"].clone()),
    }
}

#[test]
fn one_token_does_not_have_all_sessions_of_an_app_and_the_last_are_for_those_who_have_none() {
    let limits = Limits {
        sessions_per_app: 20,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    bench.app(1, "demo");
    let fill = |bench: &mut Bench, owner: &str, first: u64| {
        let refused = |peer| session_of(bench, peer, owner).map(|error| (peer - first, error));
        (first..first + 30).find_map(refused).unwrap()
    };
    let (count, error) = fill(&mut bench, "greedy", 100);
    assert_eq!((count, &error["code"]), (10, &json!("RATE_LIMITED")));
    assert_eq!(
        error["details"],
        json!({ "limit": "sessionsPerApp", "max": 20 })
    );
    assert!(
        error["message"]
            .as_str()
            .unwrap()
            .contains("--max-sessions-per-app")
    );
    // Another token gets the rest, except the last two places, which go to two further tokens.
    assert_eq!(fill(&mut bench, "other", 200).0, 8);
    assert_eq!(fill(&mut bench, "third", 300).0, 1);
    assert_eq!(session_of(&mut bench, 400, "fourth"), None);
    assert!(session_of(&mut bench, 500, "fifth").is_some());
    // A refused agent may ask again once a session has ended, if its token does not exceed its share.
    bench.gone(100);
    let again = bench.send(500, request("initialize", "again", json!({})));
    assert!(matches!(&again[..], [Seen::Message(1, _)]));
    bench.gone(101);
    assert!(session_of(&mut bench, 600, "greedy").is_some());
}

#[test]
fn the_last_places_for_agents_are_for_tokens_that_have_none() {
    let limits = Limits {
        sessions: 10,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    for peer in 1..10 {
        assert!(bench.agent_of(peer, "greedy").is_empty());
    }
    let refused = bench.agent_of(10, "greedy");
    assert!(matches!(
        &refused[..],
        [Seen::Message(10, _), Seen::Closed(10, 1013)]
    ));
    assert!(bench.agent_of(11, "modest").is_empty());
    bench.gone(11);
    assert!(bench.agent_of(12, "another").is_empty());
}

#[test]
fn an_agent_that_opens_its_session_again_takes_no_further_session_of_its_app() {
    let limits = Limits {
        sessions_per_app: 20,
        ..Limits::default()
    };
    let mut bench = Bench::with(limits, Tokens::default());
    bench.app(1, "demo");
    assert_eq!(session_of(&mut bench, 100, "one"), None);
    for id in 0..30 {
        let again = request("initialize", &format!("again-{id}"), json!({}));
        let seen = bench.send(100, again);
        let relayed = only(&seen, 1).clone();
        bench.send(1, answer(&relayed, "initialize-result", json!({})));
    }
    for peer in 200..209 {
        assert_eq!(session_of(&mut bench, peer, "one"), None, "{peer}");
    }
    bench.gone(100);
    assert_eq!(session_of(&mut bench, 300, "one"), None);
    assert!(session_of(&mut bench, 301, "one").is_some());
}

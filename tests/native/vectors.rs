//! The conformance vectors.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use crate::bench::Bench;

const FILES: [&str; 4] = [
    include_str!("../conformance/edge-cases.json"),
    include_str!("../conformance/timing.json"),
    include_str!("../conformance/timeouts.json"),
    include_str!("../conformance/bad-input.json"),
];

/// A test for each vector, named after it.
macro_rules! vectors {
    ($($test:ident: $name:literal,)*) => {
        $(
            #[test]
            fn $test() {
                let vector = all().into_iter().find(|it| it["name"] == $name);
                run(&vector.expect("a vector of that name"));
            }
        )*

        #[test]
        fn every_vector_has_its_test() {
            let names: Vec<_> = all().into_iter().map(|it| it["name"].clone()).collect();
            assert_eq!(names, [$($name),*]);
        }
    };
}

vectors! {
    cancel_non_existent_call_id: "Cancel non-existent callId",
    cancel_already_completed_call: "Cancel already-completed call",
    cancel_already_cancelled_call: "Cancel already-cancelled call",
    multiple_cancels_for_same_call_id: "Multiple cancels for same callId",
    call_completes_while_cancel_in_flight: "Call completes while cancel in flight",
    cancel_without_active_session: "Cancel without active session",
    cancel_after_shutdown: "Cancel after shutdown",
    cancel_arrives_before_operation_starts: "Cancel arrives before operation starts",
    cancel_arrives_during_operation: "Cancel arrives during operation",
    cancel_arrives_after_completion: "Cancel arrives after completion",
    a_handler_that_ignores_its_signal_delays_nothing:
        "A handler that ignores its signal delays nothing",
    the_cancel_is_answered_before_the_call: "The cancel is answered before the call",
    a_reused_call_id_is_refused_and_the_first_call_undisturbed:
        "A reused callId is refused and the first call undisturbed",
    a_handler_that_stops_by_itself_counts_as_cancelled:
        "A handler that stops by itself counts as cancelled",
    shutdown_cancels_and_answers_what_is_in_flight:
        "Shutdown cancels and answers what is in flight",
    timeout_option_automatic_after_the_specified_duration:
        "timeout option: automatic, after the specified duration",
    abort_signal_manual_any_time_before_the_timeout:
        "AbortSignal: manual, any time, before the timeout",
    a_call_that_completes_within_its_timeout_is_not_cancelled:
        "A call that completes within its timeout is not cancelled",
    a_timeout_counts_while_the_call_waits_for_its_turn:
        "A timeout counts while the call waits for its turn",
    an_unknown_capability_is_refused: "An unknown capability is refused",
    a_bad_call_id_is_refused: "A bad callId is refused",
    a_bad_timeout_is_refused: "A bad timeout is refused",
    parameters_are_checked_against_the_schema_before_the_handler_runs:
        "Parameters are checked against the schema before the handler runs",
    a_handlers_error_keeps_its_code:
        "A handler's error keeps its code, any other becomes OPERATION_FAILED",
    keys_named_proto_are_plain_data: "Keys named __proto__ are plain data",
}

/// The vectors of all files.
fn all() -> Vec<Json> {
    let read = |text| serde_json::from_str::<Vec<Json>>(text).unwrap();
    FILES.into_iter().flat_map(read).collect()
}

fn run(vector: &Json) {
    let mut bench = Bench::new(vector["session"] != json!(false));
    let mut named = HashMap::new();
    for step in vector["steps"].as_array().unwrap() {
        if step["shutdown"] == json!(true) {
            bench.agent.shutdown(None, bench.now);
            bench.settle_down();
            continue;
        }
        if let Some(order) = step["order"].as_array() {
            let settled = bench.settled.iter().map(|(key, _)| *key);
            let expected: Vec<_> = order
                .iter()
                .map(|name| named[name.as_str().unwrap()])
                .collect();
            let actual: Vec<_> = settled.filter(|key| expected.contains(key)).collect();
            assert_eq!(actual, expected, "{step}");
            continue;
        }
        let key = if let Some(capability) = step["call"].as_str() {
            let options = unfold(&step["options"]);
            bench.call(capability, step.get("params").cloned(), &options)
        } else if let Some(id) = step["cancel"].as_str() {
            bench.cancel(id, step["reason"].as_str().map(String::from))
        } else {
            named[step["settles"].as_str().unwrap()]
        };
        if let Some(name) = step["as"].as_str() {
            named.insert(name, key);
            continue;
        }
        bench.settle_down();
        while bench.response(key).is_none() {
            assert!(
                bench.pass_time(),
                "nothing more happens, and {step} has not settled"
            );
        }
        let mut response = bench.response(key).unwrap().clone();
        if step["with"].get("metadata").is_none() {
            response.as_object_mut().unwrap().remove("metadata");
        }
        assert!(
            matches(Some(&response), &step["with"]),
            "{step}\ngot {response}"
        );
    }
}

fn unfold(options: &Json) -> Json {
    let mut options = options.clone();
    if let Some(repeat) = options["callId"]["$repeat"].as_array() {
        let times = repeat[1].as_u64().unwrap() as usize;
        options["callId"] = repeat[0].as_str().unwrap().repeat(times).into();
    }
    if options.is_null() {
        json!({})
    } else {
        options
    }
}

fn matches(actual: Option<&Json>, pattern: &Json) -> bool {
    if pattern.get("$absent").is_some() {
        return actual.is_none();
    }
    let Some(actual) = actual else {
        return false;
    };
    if pattern.get("$any").is_some() {
        return true;
    }
    let partial = pattern.get("$has");
    match (actual, partial.unwrap_or(pattern)) {
        (Json::Object(actual), Json::Object(wanted)) => {
            let known = actual.keys().all(|key| wanted.contains_key(key));
            (partial.is_some() || known)
                && wanted
                    .iter()
                    .all(|(key, value)| matches(actual.get(key), value))
        }
        (Json::Number(a), Json::Number(b)) => a.as_f64() == b.as_f64(),
        (actual, wanted) => actual == wanted,
    }
}

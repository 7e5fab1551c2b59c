//! The conformance vectors.

use std::collections::HashMap;

use caphost::agent::RequestKey;
use serde_json::{Value as Json, json};

use super::bench::Bench;

const FILES: [&str; 4] = [
    include_str!("../../../../../tests/conformance/edge-cases.json"),
    include_str!("../../../../../tests/conformance/timing.json"),
    include_str!("../../../../../tests/conformance/timeouts.json"),
    include_str!("../../../../../tests/conformance/bad-input.json"),
];

/// Makes a test for each vector, with the vector's name.
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
    a_cancel_that_meets_the_end_of_its_call_agrees_with_it:
        "A cancel that meets the end of its call agrees with it",
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
    a_handlers_own_abort_error_is_an_ordinary_error:
        "A handler's own AbortError is an ordinary error",
    shutdown_cancels_and_answers_what_is_in_flight:
        "Shutdown cancels and answers what is in flight",
    timeout_option_automatic_after_the_specified_duration:
        "timeout option: automatic, after the specified duration",
    abort_signal_manual_any_time_before_the_timeout:
        "AbortSignal: manual, any time, before the timeout",
    abort_signal_one_that_fires_after_the_end_changes_nothing:
        "AbortSignal: one that fires after the end changes nothing",
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
        let text = |key: &str| step[key].as_str();
        let names = |key: &str| -> Option<Vec<RequestKey>> {
            let names = step[key].as_array()?;
            let known = |name: &Json| named[name.as_str().unwrap()];
            Some(names.iter().map(known).collect())
        };
        if step["shutdown"] == json!(true) {
            bench.agent.shutdown(None, bench.now);
            bench.settle_down();
        } else if step["turn"] == json!(true) {
            bench.perform_agent();
        } else if let Some(expected) = names("order") {
            let settled = bench.settled.iter().map(|(key, _)| *key);
            let actual: Vec<_> = settled.filter(|key| expected.contains(key)).collect();
            assert_eq!(actual, expected, "{step}");
        } else if let Some(keys) = names("agree") {
            let said: Vec<_> = keys
                .iter()
                .map(|key| settle(&mut bench, *key, step))
                .collect();
            let cancelled = said[0]["cancelled"] == json!(true);
            assert_ne!(said[0]["success"], json!(cancelled), "{step}\ngot {said:?}");
            for confirmation in &said[1..] {
                assert_eq!(
                    (
                        &confirmation["cancelled"],
                        &confirmation["metadata"]["stop"]
                    ),
                    (&json!(cancelled), &said[0]["metadata"]["stop"]),
                    "{step}\ngot {said:?}"
                );
            }
        } else if let Some(name) = text("abort") {
            let reason = text("reason").map(String::from);
            bench.abort(named[name], reason);
        } else {
            let key = if let Some(capability) = text("call") {
                let options = unfold(&step["options"]);
                bench.call(capability, step.get("params").cloned(), &options)
            } else if let Some(id) = text("cancel") {
                bench.cancel(id, text("reason").map(String::from))
            } else {
                named[text("settles").unwrap()]
            };
            if let Some(name) = text("as") {
                named.insert(name, key);
            } else {
                let response = settle(&mut bench, key, step);
                let comparable = comparable(response, &step["with"], step);
                assert!(
                    matches(Some(&comparable), &step["with"]),
                    "{step}\ngot {:?}",
                    bench.response(key)
                );
            }
        }
    }
}

/// The answer to a request. Advances the time as far as necessary.
fn settle(bench: &mut Bench, key: RequestKey, step: &Json) -> Json {
    bench.settle_down();
    while bench.response(key).is_none() {
        assert!(
            bench.pass_time(),
            "nothing more happens, and {step} has not settled"
        );
    }
    bench.response(key).unwrap().clone()
}

/// The response with only the metadata that the pattern names.
fn comparable(mut response: Json, pattern: &Json, step: &Json) -> Json {
    let named = pattern["metadata"].as_object();
    if response["cancelled"] == json!(true) {
        let stop = named.and_then(|it| it.get("stop"));
        assert!(
            stop.is_some(),
            "{step} says not how far it was seen to stop"
        );
    }
    let response_of = response.as_object_mut().unwrap();
    match (response_of.get_mut("metadata"), named) {
        (Some(Json::Object(metadata)), Some(named)) => {
            metadata.retain(|key, _| named.contains_key(key));
        }
        _ => drop(response_of.remove("metadata")),
    }
    response
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

//! The conformance vectors.

use std::collections::HashMap;

use serde_json::{Value as Json, json};

use crate::bench::Bench;

const FILES: [(&str, &str); 4] = [
    ("edge-cases", include_str!("../conformance/edge-cases.json")),
    ("timing", include_str!("../conformance/timing.json")),
    ("timeouts", include_str!("../conformance/timeouts.json")),
    ("bad-input", include_str!("../conformance/bad-input.json")),
];

fn run_file(name: &str) {
    let (_, text) = FILES.iter().find(|(it, _)| *it == name).unwrap();
    let vectors: Vec<Json> = serde_json::from_str(text).unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        println!("{}", vector["name"]);
        run(&vector);
    }
}

#[test]
fn every_row_of_the_edge_case_table() {
    run_file("edge-cases");
}

#[test]
fn every_row_of_the_timing_list() {
    run_file("timing");
}

#[test]
fn every_row_of_the_timeout_table() {
    run_file("timeouts");
}

#[test]
fn bad_input() {
    run_file("bad-input");
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

//! The vectors of an agent's requests and permissions, for the half that serves tool servers.

use caphost::call::{CallId, CallKey, Outcome};
use caphost::offers::{Descriptor, Ending};
use caphost::session::{Action, Answer, CallRequest, HostState, Limits, Question};
use serde_json::{Value as Json, json};

use super::from_agent::{FromAgent, read};
use crate::wire::abp;

const VECTORS: &str = include_str!("../../../../../tests/conformance/abp/initialize.json");

type Host = HostState<Json, ()>;
type Step = Action<Json, ()>;

fn offer(host: &mut Host, name: &str) {
    let descriptor = Descriptor {
        name: name.into(),
        concurrency: None,
        available: true,
        alternatives: Vec::new(),
        ending: Ending::AtOnce,
        confirm: false,
        checked: false,
        document: json!({ "name": name }),
    };
    assert!(host.register(descriptor, ()));
}

fn drain(host: &mut Host) -> Vec<Step> {
    let mut steps = Vec::new();
    while let Some(action) = host.poll_action() {
        match action {
            Action::Wake => host.run_ready(),
            action => steps.push(action),
        }
    }
    steps
}

/// The error that a call or a question was refused with. `None` if it is in flight.
fn refusal(steps: &[Step], asked: CallKey) -> Option<String> {
    steps.iter().find_map(|step| match step {
        Action::Respond { key, response, .. } | Action::Elicited { key, response }
            if *key == asked =>
        {
            match &response.outcome {
                Outcome::Failed(error) => Some(error.code.as_str().to_string()),
                other => panic!("{other:?}"),
            }
        }
        _ => None,
    })
}

fn run(vector: &Json) {
    let mut host = Host::new(Limits::default());
    for name in ["a.one", "a.two", "b.one"] {
        offer(&mut host, name);
    }
    drain(&mut host);
    let mut payload = json!({
        "agent": { "name": "vectors", "version": "1" },
        "protocolVersion": "0.1",
        "features": { "notifications": true, "progress": true, "elicitation": true },
    });
    for (key, value) in vector["initialize"].as_object().unwrap() {
        match key.as_str() {
            "features" => payload["features"]["elicitation"] = value["elicitation"].clone(),
            key => payload[key] = value.clone(),
        }
    }
    let read = read(&abp::envelope("initialize", None, 0.0, payload));
    if let Some(path) = vector.get("refused") {
        let error = read.expect_err("it is refused");
        assert_eq!(error.code.as_str(), "INVALID_PARAMS");
        assert_eq!(error.details.as_ref().unwrap()["path"], *path);
        let begins = format!("Bad {}: it is ", path.as_str().unwrap());
        assert!(error.message.starts_with(&begins), "{}", error.message);
        return;
    }
    let FromAgent::Initialize(params) = read.expect("it is taken").message else {
        panic!("an initialize");
    };
    let agent = host.connect();
    host.initialize(agent, None, params, "session".into(), 0.0);
    let steps = drain(&mut host);
    let [
        Action::Answer {
            answer: Answer::Initialized(opened),
            ..
        },
    ] = &steps[..]
    else {
        panic!("{steps:?}");
    };
    let said = abp::initialized(&Json::Null, opened);
    let names = |list: &[Json]| Json::from_iter(list.iter().map(|it| it["name"].clone()));
    let listed = names(said["capabilities"].as_array().unwrap());
    assert_eq!(listed, vector["capabilities"]);
    assert_eq!(said["features"]["elicitation"], vector["elicitation"]);
    assert_eq!(names(&host.documents(agent)), vector["capabilities"]);
    for (capability, expected) in vector["calls"].as_object().unwrap() {
        let request = CallRequest {
            id: CallId::parse(capability).unwrap(),
            capability: capability.clone(),
            params: Json::Null,
            timeout: None,
            token: None,
            bytes: 0,
        };
        let key = host.call(agent, None, request, 0.0);
        let refused = refusal(&drain(&mut host), key);
        assert_eq!(refused.as_deref(), expected.as_str(), "{capability}");
    }
    for (method, expected) in vector["asks"].as_object().unwrap() {
        let question = Question {
            method: method.clone(),
            request: Json::Null,
            timeout: None,
        };
        let key = host.ask(agent, None, question, 0.0);
        let refused = refusal(&drain(&mut host), key);
        assert_eq!(refused.as_deref(), expected.as_str(), "{method}");
    }
    for name in ["a.three", "b.two"] {
        offer(&mut host, name);
    }
    let told: Vec<_> = drain(&mut host)
        .into_iter()
        .filter_map(|step| match step {
            Action::CapabilitiesChanged { changes, .. } => {
                Some(abp::capabilities_changed(&changes))
            }
            _ => None,
        })
        .collect();
    let added: Vec<_> = told.iter().map(|it| it["data"]["added"].clone()).collect();
    let nothing = vector["changes"] == json!([]);
    assert_eq!(
        added,
        if nothing {
            vec![]
        } else {
            vec![vector["changes"].clone()]
        }
    );
}

#[test]
fn what_an_agent_requests_and_allows() {
    for vector in serde_json::from_str::<Vec<Json>>(VECTORS).unwrap() {
        println!("{}", vector["name"]);
        run(&vector);
    }
}

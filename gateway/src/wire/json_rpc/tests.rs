//! The vectors of `tests/conformance/jsonrpc`, which the page's half in JavaScript passes too.

use serde_json::{Value as Json, json};

use super::*;
use crate::limits::MAX_DEPTH;
use crate::wire::stopped_by;
use caphost::call::Stop;

fn file(text: &str) -> Json {
    serde_json::from_str(text).unwrap()
}

fn each(list: &Json) -> impl Iterator<Item = &Json> {
    let list = list.as_array().unwrap();
    assert!(!list.is_empty());
    list.iter()
}

const POLICY: &str = include_str!("../../../../tests/conformance/jsonrpc/policy.json");
const MESSAGES: &str = include_str!("../../../../tests/conformance/jsonrpc/messages.json");
const ERRORS: &str = include_str!("../../../../tests/conformance/jsonrpc/errors.json");

#[test]
fn the_reply_policy() {
    for way in each(&file(POLICY)["dialects"]) {
        let key = way["id"].as_str().unwrap();
        let params = json!({ key: 1, "reason": "enough" }).to_string();
        let cancel = read_cancel(way["method"].as_str().unwrap(), Some(&params)).unwrap();
        let settles = match cancel.answered {
            true => "on the answer",
            false => "at once",
        };
        let read = json!({
            "dialect": way["dialect"], "method": way["method"], "id": key,
            "reason": cancel.reason.is_some(), "answered": cancel.answered,
            "settles": settles,
        });
        assert_eq!(read, *way);
        assert_eq!(cancel.id.value(), &json!(1));
    }
}

#[test]
fn cancels() {
    for vector in each(&file(POLICY)["cancels"]) {
        let params = Some(&vector["params"]).filter(|it| !it.is_null());
        let params = params.map(Json::to_string);
        let got = read_cancel(vector["method"].as_str().unwrap(), params.as_deref());
        let got = got.map(|cancel| {
            let mut got = json!({ "id": cancel.id.value(), "answered": cancel.answered });
            if let Some(reason) = cancel.reason {
                got["reason"] = reason.into();
            }
            got
        });
        assert_eq!(json!(got), vector["gives"], "{vector}");
    }
}

#[test]
fn ids() {
    let ids = &file(POLICY)["ids"];
    let key = |id: &Json| Id::read(id);
    for (at, one) in each(&ids["different"]).enumerate() {
        for (other_at, other) in each(&ids["different"]).enumerate() {
            assert_eq!(key(one) == key(other), at == other_at, "{one} {other}");
        }
    }
    for pair in each(&ids["same"]) {
        assert_eq!(key(&pair[0]), key(&pair[1]));
    }
    for none in each(&ids["none"]) {
        assert_eq!(key(none), None);
    }
}

#[test]
fn messages() {
    for vector in each(&file(MESSAGES)) {
        let value = |id: Option<Id>| id.map_or(Json::Null, |id| id.value().clone());
        let with_params = |mut reads: Json, params: Option<&str>| {
            if let Some(params) = params {
                reads["params"] = file(params);
            }
            reads
        };
        let message = vector["message"].to_string();
        let got = match read(&message, MAX_DEPTH).unwrap() {
            Message::Request { id, method, params } => with_params(
                json!({ "kind": "request", "id": id.value(), "method": method }),
                params,
            ),
            Message::Notification { method, params } => {
                with_params(json!({ "kind": "notification", "method": method }), params)
            }
            Message::Response(id, _) => {
                // The reader does not look at the content of a response.
                let mut reads = vector["reads"].clone();
                reads["kind"] = "response".into();
                reads["id"] = value(id);
                reads
            }
            Message::Batch => json!({ "kind": "batch" }),
            Message::Invalid { id, fault } => {
                json!({ "kind": "invalid", "id": value(id), "fault": fault.as_str() })
            }
        };
        assert_eq!(got, vector["reads"], "{vector}");
    }
}

#[test]
fn errors() {
    let errors = file(ERRORS);
    for (abp, code) in errors["codes"].as_object().unwrap() {
        assert_eq!(json!(rpc_code(abp)), *code, "{abp}");
    }
    for vector in each(&errors["errors"]) {
        let error = &vector["error"];
        let code = rpc_code(error["code"].as_str().unwrap());
        let answer = RpcError::of_abp(code, error).answer(&Json::Null);
        assert_eq!(answer["error"], vector["gives"]);
    }
    for vector in each(&errors["cancelled"]) {
        let id = Id::read(&vector["id"]).unwrap();
        let capability = vector["capability"].as_str().unwrap();
        let stop = Stop::of_peer(vector["stop"].as_str());
        let by = stopped_by::read_in(vector);
        let written = cancelled(&id, capability, stop, by);
        assert_eq!(written["error"], vector["gives"]);
    }
}

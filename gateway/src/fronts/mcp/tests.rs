//! The vectors of `tests/conformance/jsonrpc/mcp.json`, which the page's half in JavaScript passes too.

use std::sync::Arc;

use caphost::dialect::mcp::{STATELESS, Version};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::progress::Progress;
use super::{content, result, schema, tools};
use crate::broker::calls::RunId;
use crate::broker::{Assortment, CapabilityInfo, Offer};
use crate::gateway::AbpError;
use crate::wire::Json;

fn vectors() -> Value {
    let text = include_str!("../../../../tests/conformance/jsonrpc/mcp.json");
    serde_json::from_str(text).unwrap()
}

fn each(list: &Value) -> impl Iterator<Item = &Value> {
    let list = list.as_array().unwrap();
    assert!(!list.is_empty());
    list.iter()
}

fn run() -> RunId {
    vectors()["call"].as_str().unwrap().parse().unwrap()
}

/// The result without the names of the run. If the pattern leaves the order of members open, texts become the
/// JSON that they contain.
fn comparable(mut result: Value, pattern: &Value) -> (Value, Value) {
    let members = result.as_object_mut().unwrap();
    members.remove("_meta");
    // Only versions since 2026-07-28 have this member.
    members.remove("resultType");
    let mut pattern = pattern.clone();
    for at in 0..pattern["content"].as_array().unwrap().len() {
        let block = pattern["content"][at].as_object_mut().unwrap();
        if block.remove("$anyOrder").is_none() {
            continue;
        }
        for text in [
            &mut pattern["content"][at]["text"],
            &mut result["content"][at]["text"],
        ] {
            *text = serde_json::from_str(text.as_str().unwrap()).unwrap();
        }
    }
    (result, pattern)
}

#[test]
fn results() {
    for vector in each(&vectors()["results"]) {
        let promised = vector["promised"].as_bool().unwrap();
        let data = Some(&vector["data"]).filter(|it| !it.is_null());
        let version = vector["version"].as_str().unwrap_or(STATELESS.name);
        let version = Version::named(version).unwrap();
        let got = result::done(data.map(Json::from), None, || promised, version, run());
        let got = serde_json::to_value(got).unwrap();
        let (got, expected) = comparable(got, &vector["gives"]);
        assert_eq!(got, expected, "{vector}");
    }
    for vector in each(&vectors()["failures"]) {
        let got = result::failed(&AbpError::read(&vector["error"]), None);
        let got = serde_json::to_value(got).unwrap();
        let (got, expected) = comparable(got, &vector["gives"]);
        assert_eq!(got, expected);
    }
}

#[test]
fn what_is_no_binary_value() {
    for plain in each(&vectors()["noBinary"]) {
        let mut data = plain.clone();
        assert!(
            content::extract(&mut data, 1, &STATELESS, run()).is_empty(),
            "{plain}"
        );
        assert_eq!(data, *plain);
    }
}

#[test]
fn progress() {
    for vector in each(&vectors()["progress"]) {
        let mut progress = Progress::new(json!(0), &STATELESS);
        let infos = each(&vector["infos"]);
        let said: Vec<_> = infos.filter_map(|info| progress.read(info)).collect();
        let expected = each(&vector["gives"]);
        for (said, expected) in said.iter().zip(expected) {
            for field in ["progressToken", "message"] {
                assert_eq!(said.get(field), expected.get(field));
            }
            for field in ["progress", "total"] {
                let number = |it: &Value| it[field].as_f64();
                assert_eq!(number(said), number(expected));
            }
        }
        assert_eq!(said.len(), vector["gives"].as_array().unwrap().len());
    }
}

#[test]
fn listed_tools() {
    for vector in each(&vectors()["listed"]) {
        let capability = serde_json::from_value(vector["capability"].clone()).unwrap();
        let app = json!({ "id": "demo", "name": "Demo", "version": "1" });
        let offer = Offer::new(serde_json::from_value(app).unwrap(), vec![capability]);
        let name = offer.tool_names().next().unwrap();
        let got = tools::tool(&offer.capabilities[0], name, &STATELESS);
        assert_eq!(got, vector["gives"], "{vector}");
    }
}

#[test]
fn schemas() {
    let raw = |schema: &Value| RawValue::from_string(schema.to_string()).unwrap();
    for vector in each(&vectors()["inputSchemas"]) {
        let got = schema::input(Some(&raw(&vector["schema"])));
        assert_eq!(json!(got.schema), vector["gives"], "{vector}");
        assert_eq!(json!(got.rule), vector["rule"], "{vector}");
    }
    for vector in each(&vectors()["outputSchemas"]) {
        let got = schema::output(Some(&raw(&vector["schema"])));
        assert_eq!(json!(got), vector["gives"], "{vector}");
    }
}

#[test]
fn tools_by_name() {
    let vectors = &vectors()["tools"];
    let names = vectors["names"].as_object().unwrap();
    let offered: Vec<CapabilityInfo> = names
        .keys()
        .map(|name| serde_json::from_value(json!({ "name": name })).unwrap())
        .collect();
    let app = json!({ "id": "demo", "name": "Demo", "version": "1" });
    let offer = Offer::new(serde_json::from_value(app).unwrap(), offered);
    let listed: Vec<_> = offer.tool_names().collect();
    assert_eq!(json!(listed), names.values().cloned().collect::<Value>());
    let all = Assortment::of([Arc::new(offer.clone())]);
    for (name, listed) in names {
        for wanted in [name, listed.as_str().unwrap()] {
            let (_, found) = tools::find(&all, None, wanted).unwrap();
            assert_eq!(found.name, *name);
        }
    }
    for (wanted, message) in vectors["refused"].as_object().unwrap() {
        let refused = tools::find(&all, None, wanted).unwrap_err();
        assert_eq!(json!(refused.message), *message);
    }
}

use axum::http::HeaderMap;
use axum::http::header::HeaderName;

use super::super::head::tests::headers;
use super::super::header::{METHOD, NAME, VERSION};
use super::*;

const STATELESS: &str = "2026-07-28";
const WITH_SESSIONS: &str = "2025-11-25";

fn request<'a>(method: &'a str, params: &'a str) -> Request<'a> {
    let id = Id::read(&json!(1)).unwrap();
    Request::read(id, method.into(), Some(params)).unwrap()
}

#[test]
fn what_is_looked_at_is_not_there_twice() {
    let read = |params: &str| {
        let id = Id::read(&json!(1)).unwrap();
        Request::read(id, "tools/call".into(), Some(params)).is_ok()
    };
    for once in [
        r#"{"name":"a","arguments":{"a":1,"a":2},"other":1,"other":2}"#,
        r#"{"name":null,"_meta":{"progressToken":1,"other":1,"other":2}}"#,
    ] {
        assert!(read(once), "{once}");
    }
    for twice in [
        r#"{"name":"a","name":"b"}"#,
        r#"{"name":"a","n\u0061me":"a"}"#,
        r#"{"arguments":{},"arguments":{"a":1}}"#,
        r#"{"_meta":{},"_meta":{}}"#,
        r#"{"_meta":{"progressToken":1,"progressToken":1}}"#,
        r#"{"_meta":{
            "io.modelcontextprotocol/protocolVersion":"2026-07-28",
            "io.modelcontextprotocol/protocolVersion":"2025-11-25"
        }}"#,
    ] {
        assert!(!read(twice), "{twice}");
    }
    let notifications = r#"{"notifications":{"toolsListChanged":true,"toolsListChanged":false}}"#;
    let listen = request("subscriptions/listen", notifications);
    assert_eq!(listen.wants_tool_changes(), None);
}

#[test]
fn a_version_without_sessions_is_told_from_the_others() {
    let meta = |version: &str| {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": version,
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        json!({ "name": "é", "_meta": meta }).to_string()
    };
    let (new, old) = (meta(STATELESS), meta(WITH_SESSIONS));
    let version = (HeaderName::from_static(VERSION), STATELESS);
    let older = (HeaderName::from_static(VERSION), WITH_SESSIONS);
    let method = (HeaderName::from_static(METHOD), "tools/call");
    let name = (HeaderName::from_static(NAME), "=?base64?w6k=?=");
    let all = [version.clone(), method, name];
    for (params, head, expected) in [
        (&*new, &all[..], Ok(true)),
        (&old, std::slice::from_ref(&older), Ok(true)),
        ("{}", &[], Ok(false)),
        ("{}", std::slice::from_ref(&older), Ok(false)),
        ("{}", std::slice::from_ref(&version), Err(-32602)),
        (&new, &[], Err(code::HEADER_MISMATCH)),
        (
            &new,
            std::slice::from_ref(&older),
            Err(code::HEADER_MISMATCH),
        ),
        (&new, &all[..2], Err(code::HEADER_MISMATCH)),
        (&new, &all[..1], Err(code::HEADER_MISMATCH)),
    ] {
        let headers = headers(head);
        let found = request("tools/call", params).is_stateless(Head(&headers));
        let found = found.map_err(|refusal| refusal.rpc_code);
        assert_eq!(found, expected, "{params} {headers:?}");
    }
}

#[test]
fn what_a_client_says_of_itself_is_needed() {
    let none = HeaderMap::new();
    let refused = request("initialize", "{}").introduction(Head(&none));
    let refused = refused.unwrap_err();
    assert!(refused.error.message.contains("protocolVersion"));
    let params =
        r#"{"protocolVersion":"x","capabilities":{},"clientInfo":{"name":"a","version":"1"}}"#;
    let known = request("initialize", params).introduction(Head(&none));
    let (client, version, takes_forms) = known.unwrap();
    assert_eq!((&*client.name, version.name), ("a", WITH_SESSIONS));
    assert!(!takes_forms);
    let other = headers(&[(HeaderName::from_static(VERSION), WITH_SESSIONS)]);
    assert!(
        request("initialize", params)
            .introduction(Head(&other))
            .is_err()
    );
}

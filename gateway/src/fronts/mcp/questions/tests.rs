use caphost::dialect::mcp::{STATELESS, VERSIONS};

use super::*;

#[test]
fn only_a_client_that_has_declared_forms_is_asked() {
    for (capabilities, takes) in [
        ("{}", false),
        (r#"{"elicitation":null}"#, false),
        (r#"{"elicitation":true}"#, false),
        (r#"{"elicitation":{}}"#, true),
        (r#"{"elicitation":{"form":{}}}"#, true),
        (r#"{"elicitation":{"form":{},"url":{}}}"#, true),
        (r#"{"elicitation":{"url":{}}}"#, false),
    ] {
        assert_eq!(
            takes_forms(capabilities, &STATELESS),
            takes,
            "{capabilities}"
        );
    }
    let with_forms = VERSIONS
        .iter()
        .filter(|it| takes_forms(r#"{"elicitation":{}}"#, it));
    let with_forms: Vec<_> = with_forms.map(|it| it.name).collect();
    assert_eq!(with_forms, ["2025-06-18", "2025-11-25", "2026-07-28"]);
}

#[test]
fn a_question_has_the_members_that_the_client_needs() {
    let schema = json!({ "type": "object", "properties": { "a": { "type": "string" } } });
    let empty = json!({ "type": "object", "properties": {} });
    for (request, message, wanted) in [
        (
            json!({ "message": "m", "requestedSchema": schema, "other": 1 }),
            "m",
            &schema,
        ),
        (
            json!({ "method": "elicitation/input", "title": "t", "schema": schema }),
            "t",
            &schema,
        ),
        (
            json!({ "mode": "form", "message": 7, "requestedSchema": [] }),
            "7",
            &empty,
        ),
        (json!({}), "The app asks", &empty),
    ] {
        let expected = json!({ "message": message, "requestedSchema": wanted });
        assert_eq!(form(&request), Some(expected), "{request}");
    }
    for other in [
        json!({ "method": "sampling/create" }),
        json!({ "mode": "url", "url": "x" }),
    ] {
        assert_eq!(form(&other), None, "{other}");
    }
}

#[test]
fn an_id_names_the_run_and_the_question() {
    let run = RunId::random();
    assert_eq!(read_id(&id_of(run, 7).into()), Some((run, 7)));
    for foreign in [
        json!(7),
        json!("elicitation-7"),
        json!(format!("{PREFIX}{run}")),
        json!(""),
    ] {
        assert_eq!(read_id(&foreign), None, "{foreign}");
    }
}

#[test]
fn answers_become_those_of_abp() {
    let of = |result: &str| {
        let answered = Answered {
            result: Some(result),
            error: None,
        };
        serde_json::from_str::<Value>(&payload_of(answered)).unwrap()
    };
    assert_eq!(
        of(r#"{"action":"accept","content":{"a":1}}"#),
        json!({ "success": true, "data": { "a": 1 } })
    );
    assert_eq!(
        of(r#"{"action":"accept"}"#),
        json!({ "success": true, "data": {} })
    );
    assert_eq!(of(r#"{"action":"cancel"}"#)["cancelled"], true);
    assert_eq!(
        of(r#"{"action":"decline"}"#)["error"]["code"],
        "PERMISSION_DENIED"
    );
    for odd in [
        "7",
        "{}",
        r#"{"action":"accept","content":[]}"#,
        r#"{"action":"x"}"#,
    ] {
        assert_eq!(of(odd)["error"]["code"], "OPERATION_FAILED", "{odd}");
    }
    for (error, code) in [
        (r#"{"code":-32601,"message":"m"}"#, "NOT_SUPPORTED"),
        (r#"{"code":-32603,"message":"m"}"#, "OPERATION_FAILED"),
        ("7", "OPERATION_FAILED"),
    ] {
        let answered = Answered {
            result: None,
            error: Some(error),
        };
        let said: Value = serde_json::from_str(&payload_of(answered)).unwrap();
        assert_eq!(said["error"]["code"], code, "{error}");
    }
}

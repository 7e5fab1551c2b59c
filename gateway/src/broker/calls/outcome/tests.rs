use super::*;
use crate::wire::answer_to_call;

fn read(response: &str) -> Outcome {
    Outcome::of(&answer_to_call(response), None)
}

fn done(data: Option<&str>, metadata: Option<&str>) -> Outcome {
    let [data, metadata] = [data, metadata].map(|it| it.map(|it| Json::from(it.to_string())));
    Outcome::Done { data, metadata }
}

#[test]
fn data_is_passed_on_as_it_is_written() {
    let response = r#"{ "data": {"b": 1.0, "a": [1e3]}, "success": true }"#;
    assert_eq!(
        read(response),
        done(Some(r#"{"b": 1.0, "a": [1e3]}"#), None)
    );
    let response = r#"{"success":true,"data":"a","metadata":{"duration":3}}"#;
    assert_eq!(
        read(response),
        done(Some(r#""a""#), Some(r#"{"duration":3}"#))
    );
}

#[test]
fn data_of_several_lines_becomes_one_line() {
    let response = "{\"success\":true,\"data\":{\r\n\"a\":\n\"b\\n\"},\"metadata\":{\n}}";
    let read = read(response).in_one_line();
    assert_eq!(read, done(Some(r#"{"a":"b\n"}"#), Some("{}")));
}

#[test]
fn no_data_and_null_are_the_same() {
    assert_eq!(read(r#"{"success":true}"#), done(None, None));
    assert_eq!(read(r#"{"success":true,"data":null}"#), done(None, None));
}

#[test]
fn of_two_members_with_one_name_the_last_counts() {
    let response = r#"{"success":false,"data":1,"success":true,"data":2}"#;
    assert_eq!(read(response), done(Some("2"), None));
}

#[test]
fn the_error_of_a_failure_is_the_one_that_agents_read() {
    for (error, code, message, body) in [
        (
            r#"{"code":"A","message":"m","x":1}"#,
            "A",
            "m",
            r#"{"code":"A","message":"m","x":1}"#,
        ),
        (
            r#"{"code":"TIMEOUT"}"#,
            "TIMEOUT",
            "The app did not say what went wrong",
            r#"{"code":"TIMEOUT","message":"The app did not say what went wrong","retryable":true}"#,
        ),
        (
            r#""a text""#,
            "OPERATION_FAILED",
            "a text",
            r#"{"code":"OPERATION_FAILED","message":"a text","retryable":false}"#,
        ),
        (
            "7",
            "OPERATION_FAILED",
            "The app did not say what went wrong",
            r#"{"code":"OPERATION_FAILED","message":"The app did not say what went wrong","retryable":false}"#,
        ),
    ] {
        let response = format!(r#"{{"success":false,"error":{error}}}"#);
        let Outcome::Failed(read) = read(&response) else {
            panic!("{response}");
        };
        assert_eq!((&*read.code, &*read.message), (code, message), "{response}");
        assert_eq!(read.body.as_str(), body, "{response}");
    }
}

#[test]
fn an_error_crosses_workers_as_it_is_written() {
    let body = serde_json::json!({ "code": "A", "message": "m", "details": { "x": 1 } });
    let outcome = CancelOutcome::failed(AbpError::read(&body));
    let written = serde_json::to_value(&outcome).unwrap();
    assert_eq!(written["error"], body);
    let read: CancelOutcome = serde_json::from_value(written).unwrap();
    assert_eq!(read, outcome);
}

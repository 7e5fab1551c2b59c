use serde_json::json;

use super::*;

fn read(response: &str) -> Outcome {
    Outcome::read(&Json::from(response.to_string()))
}

fn done(data: Option<&str>, metadata: Option<Value>) -> Outcome {
    let data = data.map(|it| Json::from(it.to_string()));
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
    let metadata = json!({ "duration": 3 });
    assert_eq!(read(response), done(Some(r#""a""#), Some(metadata)));
}

#[test]
fn data_of_several_lines_becomes_one_line() {
    let response = "{\"success\":true,\"data\":{\r\n\"a\":\n\"b\\n\"}}";
    assert_eq!(read(response), done(Some(r#"{"a":"b\n"}"#), None));
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
fn an_answer_of_no_sense_is_a_failure() {
    for response in [r#"{"success":1,"data":2}"#, "[]", "{}"] {
        let Outcome::Failed(error) = read(response) else {
            panic!("{response}");
        };
        assert_eq!(error.code, "OPERATION_FAILED", "{response}");
    }
}

#[test]
fn an_error_that_does_not_say_whether_it_is_retryable_is_as_its_code() {
    let retryable = |body| AbpError::read(body).retryable;
    assert!(retryable(json!({ "code": "TIMEOUT" })));
    assert!(retryable(
        json!({ "code": "RATE_LIMITED", "retryable": "yes" })
    ));
    assert!(!retryable(json!({ "code": "TIMEOUT", "retryable": false })));
    assert!(!retryable(json!({ "code": "OPERATION_FAILED" })));
    assert!(!retryable(json!({ "code": "OF_THE_APP" })));
    assert!(retryable(
        json!({ "code": "OF_THE_APP", "retryable": true })
    ));
}

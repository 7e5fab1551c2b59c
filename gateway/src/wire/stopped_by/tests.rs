use super::*;
use caphost::call::Step;

#[test]
fn what_was_written_is_read() {
    for step in Step::ALL {
        for took in [0.0, 7.0, 57.125, 2e15] {
            let by = StoppedBy { step, took };
            let mut object = json!({});
            put(&mut object, Some(by), "");
            assert_eq!(read_in(&object), Some(by), "{object}");
        }
    }
    let by = StoppedBy::of_peer(Some("flag"), Some(57.0));
    let mut object = json!({ "stop": "returned" });
    put(&mut object, by, "caphost/");
    let expected = json!({ "stop": "returned", "caphost/step": "flag", "caphost/took": 57 });
    assert_eq!(object.to_string(), expected.to_string());
    put(&mut object, None, "");
    assert_eq!(object, expected);
}

#[test]
fn what_a_peer_makes_up_is_not_read() {
    for bad in [
        json!({}),
        json!({ "step": "flag" }),
        json!({ "took": 1 }),
        json!({ "step": "Flag", "took": 1 }),
        json!({ "step": "abort", "took": 1 }),
        json!({ "step": ["flag"], "took": 1 }),
        json!({ "step": "flag", "took": -1 }),
        json!({ "step": "flag", "took": "1" }),
        json!({ "step": "flag", "took": null }),
        json!([]),
        json!(null),
    ] {
        assert_eq!(read_in(&bad), None, "{bad}");
    }
}

#[test]
fn a_word_of_a_later_version_hides_nothing_else() {
    #[derive(Deserialize, Serialize)]
    struct Record {
        #[serde(default, with = "optional", skip_serializing_if = "Option::is_none")]
        by: Option<StoppedBy>,
        id: u32,
    }
    let read = |text: &str| serde_json::from_str::<Record>(text).unwrap();
    for unknown in [
        r#"{"id":7}"#,
        r#"{"by":null,"id":7}"#,
        r#"{"by":{"step":"x","took":1},"id":7}"#,
        r#"{"by":[1],"id":7}"#,
    ] {
        let record = read(unknown);
        assert_eq!((record.by, record.id), (None, 7), "{unknown}");
    }
    let text = r#"{"by":{"step":"terminate","took":2060.5},"id":7}"#;
    assert_eq!(serde_json::to_string(&read(text)).unwrap(), text);
}

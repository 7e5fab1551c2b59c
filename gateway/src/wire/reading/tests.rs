use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::super::{Subject, members, text_of};
use super::*;
use crate::broker::{AppInfo, CapabilityInfo, Offer};
use crate::cluster::message::{Message, Parcel};
use crate::wire::Incoming;

/// A random number generator that draws the same numbers in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end
    }

    fn of<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len())]
    }
}

const STRINGS: &[&str] = &[
    "",
    "a",
    "é",
    "😀",
    r"\n",
    r"\/",
    r"\\",
    r#"\""#,
    r"\u0041",
    r"\u0000",
    r"\u2028",
    r"\ud83d\ude00",
    r"\uD83D\uDE00",
    r"\ud83d",
    r"\uDE00",
    r"\ud83d\ud83d\ude00",
    r"\ud83d\n",
    r"\\ud83d",
    r"\\\ud83d",
    r"\ude00\ud83d",
    r"\uFFFD",
    "{[",
    "$serde_json::private::RawValue",
    r"\u0024serde_json::private::Number",
];

const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "1",
    "-1",
    "0.5",
    "1e3",
    "1E+3",
    "1e-400",
    "0e999",
    "-0.0e-0",
    "9007199254740993",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "123456789012345678901234567890",
    "1.7976931348623157e308",
    "1.7976931348623159e308",
    "1e308",
    "1e309",
    "-1e309",
    "1e400",
    "1e99999999999999999999",
    "1e-99999999999999999999",
];

/// Writes a valid JSON text by its grammar.
fn value(dice: &mut Dice, depth: usize, out: &mut String) {
    space(dice, out);
    match dice.below(if depth == 0 { 6 } else { 10 }) {
        0 => out.push_str(dice.of(&["null", "true", "false"])),
        1 | 2 => number(dice, out),
        3..=5 => string(dice, out),
        6 => {
            let (open, close) = if dice.below(2) == 0 {
                ("[", "]")
            } else {
                (r#"{"k":"#, "}")
            };
            // Depths around the deepest that can be read. The envelope adds two levels.
            let levels = 121 + dice.below(8);
            out.push_str(&open.repeat(levels));
            out.push_str(dice.of(&["0", "\"\"", "1e400"]));
            out.push_str(&close.repeat(levels));
        }
        7 => {
            out.push('[');
            for index in 0..dice.below(4) {
                comma(index, out);
                value(dice, depth - 1, out);
            }
            out.push(']');
        }
        _ => {
            out.push('{');
            for index in 0..dice.below(5) {
                comma(index, out);
                space(dice, out);
                match dice.below(3) {
                    // There are few keys, so that equal keys occur.
                    0 => out.push_str(dice.of(&[r#""a""#, r#""\u0061""#, r#""b""#])),
                    _ => string(dice, out),
                }
                space(dice, out);
                out.push(':');
                value(dice, depth - 1, out);
            }
            out.push('}');
        }
    }
    space(dice, out);
}

fn comma(index: usize, out: &mut String) {
    if index > 0 {
        out.push(',');
    }
}

fn space(dice: &mut Dice, out: &mut String) {
    out.push_str(dice.of(&["", "", "", " ", "\n\t", "\r\n"]));
}

fn number(dice: &mut Dice, out: &mut String) {
    match dice.below(8) {
        0 => {
            let digits = 300 + dice.below(20);
            out.push('7');
            out.push_str(&"3".repeat(digits));
        }
        1 => {
            let digits = dice.below(20);
            out.push_str(&format!(
                "0.{}1e{}",
                "0".repeat(digits),
                300 + dice.below(40)
            ));
        }
        _ => out.push_str(dice.of(NUMBERS)),
    }
}

fn string(dice: &mut Dice, out: &mut String) {
    out.push('"');
    for _ in 0..dice.below(4) {
        out.push_str(dice.of(STRINGS));
    }
    out.push('"');
}

fn texts(count: u64) -> impl Iterator<Item = String> {
    (1..=count).map(|seed| {
        let (mut dice, mut text) = (
            Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            String::new(),
        );
        for _ in 0..8 {
            dice.below(2);
        }
        value(&mut dice, 4, &mut text);
        text
    })
}

fn framed(payload: &str) -> String {
    format!(
        r#"{{"type":"capabilities/call-result","id":"g1","agent":"a1","timestamp":1,"payload":{{"success":true,"data":{payload}}}}}"#
    )
}

/// Whether the text contains a key that no text may have.
fn has_reserved(text: &str) -> bool {
    text.contains(RESERVED) || text.contains(r"\u0024serde_json::private::")
}

/// Reads the text with all readers behind the broker. Each reads as it does in the gateway.
fn read_by_all(text: &str, what: &str) {
    let whole: Value = serde_json::from_str(text).expect(what);
    let raw: &RawValue = serde_json::from_str(text).expect(what);
    assert_eq!(raw.get().trim(), text.trim(), "{what}");
    // Reads the text like a member of a typed message, which serde's untagged enums buffer.
    #[derive(serde::Deserialize)]
    #[serde(untagged)]
    enum Buffered {
        Object(serde_json::Map<String, Value>),
        Other(Value),
    }
    let buffered = match serde_json::from_str(text).expect(what) {
        Buffered::Object(object) => Value::Object(object),
        Buffered::Other(other) => other,
    };
    assert_eq!(buffered, whole, "{what}");
    // The scanner, which never builds a tree.
    let mut found = BTreeMap::new();
    members(text.as_bytes(), |key, value| {
        let value = std::str::from_utf8(value).expect(what);
        let read: Value = serde_json::from_str(value).expect(what);
        assert_eq!(
            text_of(value.as_bytes()).as_deref(),
            read.as_str(),
            "{what}"
        );
        found.insert(key.to_string(), read);
    });
    let object = whole.as_object().into_iter().flatten();
    let object: BTreeMap<_, _> = object
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    assert_eq!(found, object, "{what}");
    // Another worker, which is told of a schema.
    let schema = RawValue::from_string(text.trim().into()).expect(what);
    let offer = Arc::new(Offer::new(
        AppInfo {
            id: "demo".into(),
            name: "Demo".into(),
            version: "1".into(),
            description: None,
        },
        vec![CapabilityInfo {
            name: "x".into(),
            title: None,
            annotations: None,
            confirm: None,
            description: None,
            input_schema: Some(schema),
            output_schema: None,
        }],
    ));
    let packed = Parcel::from(Message::App {
        app: 1,
        offer,
        instance: serde_json::from_str(r#"{"id":"1","owner":"o","since":1}"#).unwrap(),
    })
    .pack()
    .expect(what);
    let parcel = Parcel::unpack(packed).next().expect(what).expect(what);
    let Message::App { offer, .. } = parcel.message else {
        panic!("{what}");
    };
    // `null` means no schema.
    let schema = offer.capabilities[0].input_schema.as_ref();
    let schema = schema.map_or("null", |schema| schema.get());
    assert_eq!(serde_json::from_str::<Value>(schema).expect(what), whole);
}

#[test]
fn what_the_boundary_accepts_every_later_reader_accepts() {
    let limits = Limits::default();
    let (mut accepted, mut refused) = (0, 0);
    for text in texts(20_000) {
        let frame = framed(&text);
        let incoming = Incoming::new(&frame, None, &limits);
        match incoming.envelope(&limits) {
            Ok(envelope) => {
                accepted += 1;
                let payload = envelope.payload.unwrap();
                read_by_all(payload, &frame);
                let mut data = None;
                members(payload.as_bytes(), |key, value| {
                    if key == "data" {
                        data = std::str::from_utf8(value).ok();
                    }
                });
                read_by_all(data.unwrap(), &frame);
            }
            Err(refusal) => {
                refused += 1;
                // The gateway refuses nothing that all readers could read.
                let readable = serde_json::from_str::<Value>(&mended(&frame)).is_ok();
                assert!(!readable || has_reserved(&frame), "{frame}: {refusal:?}");
                // The agent that waits for the answer can be told.
                let Subject { kind, id, .. } = refusal.subject;
                let kind = kind.as_deref();
                assert_eq!(
                    (kind, id.as_deref()),
                    (Some("capabilities/call-result"), Some("\"g1\""))
                );
            }
        }
    }
    assert!(accepted > 5_000 && refused > 2_000, "{accepted} {refused}");
}

#[test]
fn what_is_damaged_on_the_way_is_read_by_all_or_refused() {
    let limits = Limits::default();
    let (mut dice, mut accepted) = (Dice(7), 0);
    for text in texts(20_000) {
        let mut bytes = framed(&text).into_bytes();
        for _ in 0..1 + dice.below(2) {
            let at = dice.below(bytes.len());
            match dice.below(3) {
                0 => bytes.truncate(at.max(1)),
                1 => drop(bytes.remove(at)),
                _ => bytes[at] = b"\"\\{}[],:0e.-u d"[dice.below(15)],
            }
        }
        let Ok(frame) = String::from_utf8(bytes) else {
            continue;
        };
        let incoming = Incoming::new(&frame, None, &limits);
        if let Ok(envelope) = incoming.envelope(&limits) {
            accepted += 1;
            if let Some(payload) = envelope.payload {
                read_by_all(payload, &frame);
            }
        }
    }
    assert!(accepted > 500, "{accepted}");
}

#[test]
fn a_surrogate_without_its_other_half_becomes_the_replacement_character() {
    for (text, after) in [
        (r#""a\ud83d""#, "a\u{fffd}"),
        (r#""\uDE00\uD83D""#, "\u{fffd}\u{fffd}"),
        (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
        (r#""\ud83d\u0041""#, "\u{fffd}A"),
        (r#""\ud83d\ude00""#, "😀"),
        (r#""\\ud83d""#, r"\ud83d"),
        (r#""\\\ud83d""#, "\\\u{fffd}"),
    ] {
        assert_eq!(read_value(text).unwrap(), after, "{text}");
        let bytes = mended_bytes(text.as_bytes());
        assert_eq!(*bytes, *mended(text).as_bytes(), "{text}");
        assert_eq!(bytes.len(), text.len());
    }
    assert!(matches!(mended(r#""\ud83d\ude00""#), Cow::Borrowed(_)));
}

#[test]
fn what_no_reader_can_read_is_refused_with_the_reason() {
    let limits = Limits::default();
    for (payload, said) in [
        ("1e400", "number out of range"),
        ("[-1e309]", "number out of range"),
        (
            r#"{"$serde_json::private::RawValue":"1"}"#,
            "no key may begin with",
        ),
        (
            r#"{"a":1,"\u0024serde_json::private::Number":"1"}"#,
            "no key may begin with",
        ),
    ] {
        let frame = framed(payload);
        let incoming = Incoming::new(&frame, None, &limits);
        let refusal = incoming.envelope(&limits).unwrap_err();
        assert!(
            refusal.error.message.contains(said),
            "{payload}: {refusal:?}"
        );
    }
}

#[test]
fn what_is_refused_says_whose_it_is_wherever_that_stands() {
    let limits = Limits::default();
    let padding = "x".repeat(1 << 20);
    let frame = format!(
        r#"{{"payload":{{"p":"{padding}","n":1e400}},"type":"capabilities/call-result","id":"g7","agent":"a1"}}"#
    );
    let incoming = Incoming::new(&frame, None, &limits);
    let subject = incoming.envelope(&limits).unwrap_err().subject;
    let of = (subject.id.as_deref(), subject.agent.as_deref());
    assert_eq!(of, (Some("\"g7\""), Some("a1")));
}

#[test]
fn an_id_that_could_not_be_given_back_is_refused() {
    let limits = Limits::default();
    let refused = |text: &str| {
        let incoming = Incoming::new(text, None, &limits);
        incoming.envelope(&limits).err()
    };
    let half = refused(r#"{"type":"capabilities/call","id":"\ud83d","payload":{}}"#).unwrap();
    assert_eq!(half.error.details.as_ref().unwrap()["path"], "id");
    assert_eq!(half.subject.id, None);
    let elsewhere = r#"{"type":"capabilities/call","id":"\ufffd","payload":{"a":"\ud83d"}}"#;
    assert!(refused(elsewhere).is_none());
}

#[test]
fn a_uuid_needs_no_second_look_and_a_number_with_an_exponent_does() {
    let uuid = r#"{"callId":"3e4f6e1d-12e4-4e5b-8e10-0123e4567e89","n":-12.5}"#;
    assert!(is_plain(uuid));
    for number in [
        "1e400",
        "[-1E309]",
        r#"{"a":1.5e999}"#,
        "[1, 2e999]",
        "[1,\n-0.1e999]",
    ] {
        assert!(!is_plain(number), "{number}");
    }
}

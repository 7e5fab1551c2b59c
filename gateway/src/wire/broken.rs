//! Messages that are broken at random places, in all readers: none fails on any text, and what one takes
//! all take alike. `CAPHOST_FUZZ` says how many times as many messages are tried.

use serde_json::Value;

use super::reading::check_depth;
use super::*;
use crate::limits::Limits;

/// Whole messages of all dialects.
const WHOLE: &[&str] = &[
    r#"{"type":"initialize","id":"1","timestamp":1,"payload":{"agent":{"name":"a","version":"1"},"protocolVersion":"0.1","features":{"notifications":true}}}"#,
    r#"{"type":"capabilities/call","id":"c1","agent":"a1","timestamp":1,"payload":{"capability":"export.pdf","params":{"text":"é \ud83d\ude00","n":1e3},"options":{"callId":"x","timeout":50}}}"#,
    r#"{"type":"capabilities/cancel","id":2,"timestamp":1,"payload":{"callId":"x","reason":"enough"}}"#,
    r#"{"type":"capabilities/call-result","id":"g1","agent":"a1","timestamp":1,"payload":{"success":true,"data":{"k":[1,2,{"k":null}]}}}"#,
    r#"{"type":"capabilities/call-result","id":"g1","timestamp":1,"payload":{"success":false,"cancelled":true,"metadata":{"stop":"returned","step":"signal","took":1.5}}}"#,
    r#"{"type":"capabilities/cancel-result","id":"g2","timestamp":1,"payload":{"callId":"x","cancelled":false,"reason":"Operation not found","error":{"code":"TIMEOUT","message":"no","retryable":true}}}"#,
    r#"{"type":"notification","timestamp":1,"payload":{"event":"notifications/call/ended","data":{"callId":"x","success":true,"after":12}}}"#,
    r#"{"type":"shutdown","id":"9","timestamp":1,"payload":{"reason":"bye"}}"#,
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"export.pdf","arguments":{"a":[true,false]},"_meta":{"progressToken":"t"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":"enough"}}"#,
    r#"{"jsonrpc":"2.0","id":"a","error":{"code":-32800,"message":"no","data":{"k":1}}}"#,
    r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
];

/// What is put in, for a reader to stumble over.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    ":",
    ",",
    "null",
    "1e400",
    "-0",
    "1.",
    "\\u0000",
    "\\ud83d",
    "\\udc00",
    "\u{85}",
    "\u{2028}",
    "\u{feff}",
    "\0",
    "é",
    "😀",
    " ",
    "\n",
    "true",
    "{}",
    "\"type\":\"shutdown\",",
    "\"payload\":1,",
    "\"callId\":{},",
    "\"success\":true,",
    "\"$serde_json::private::RawValue\":\"1\",",
    "9999999999999999999999",
    "[[[[[[[[[[[[[[[[",
];

struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }
}

/// A message with up to four changes.
fn broken(dice: &mut Dice) -> String {
    let mut bytes = WHOLE[dice.below(WHOLE.len())].as_bytes().to_vec();
    for _ in 0..=dice.below(4) {
        let from = dice.below(bytes.len());
        let to = (from + dice.below(12)).min(bytes.len());
        match dice.below(6) {
            0 => drop(bytes.drain(from..to)),
            1 => bytes.truncate(from),
            2 => {
                let again = bytes[from..to].to_vec();
                bytes.splice(from..from, again);
            }
            3 => {
                if let Some(byte) = bytes.get_mut(from) {
                    *byte = dice.below(256) as u8;
                }
            }
            4 => {
                let piece = PIECES[dice.below(PIECES.len())];
                bytes.splice(from..to, piece.bytes());
            }
            _ => {
                let other = WHOLE[dice.below(WHOLE.len())].as_bytes();
                let at = dice.below(other.len());
                bytes.splice(from.., other[at..].iter().copied());
            }
        }
    }
    // A frame of text is never anything else.
    String::from_utf8_lossy(&bytes).into_owned()
}

fn read_by_all(came: &str, limits: &Limits) -> bool {
    let text = mended(came);
    assert_eq!(mended(&text), text, "{came}");
    let depth = limits.depth;
    let readable = check_readable(&text, depth).is_ok();
    let value = serde_json::from_str::<Value>(&text).ok();
    if readable {
        assert!(value.is_some(), "{came}");
        let line = one_line(&text);
        assert!(!line.contains(['\u{85}', '\u{2028}', '\u{2029}']), "{came}");
        assert_eq!(serde_json::from_str::<Value>(&line).ok(), value, "{came}");
    }
    assert_eq!(
        read_value(came).is_ok(),
        check_readable(&text, usize::MAX).is_ok(),
        "{came}"
    );
    let spoken = json_rpc::read(&text, depth);
    assert_eq!(spoken.is_ok(), readable, "{came}");
    // These look at the beginnings of messages that nobody has checked.
    too_deep(text.as_bytes(), depth);
    members(text.as_bytes(), |_, value| {
        text_of(value);
    });
    outline(text.as_bytes(), &["options.timeout", "payload.callId"]);
    member(text.as_bytes(), "payload");
    said(&text);

    let incoming = Incoming::new(came, None, limits);
    let Ok(envelope) = incoming.envelope(limits) else {
        return false;
    };
    let whole = value.expect(came);
    assert!(readable && check_depth(&text, depth).is_ok(), "{came}");
    assert_eq!(Some(&*envelope.kind), whole["type"].as_str(), "{came}");
    let Ok(payload) = envelope.object() else {
        return true;
    };
    let parsed: Value = serde_json::from_str(payload).expect(came);
    assert_eq!(parsed, whole["payload"], "{came}");
    let said = said(payload);
    assert_eq!(said.success, parsed["success"].as_bool(), "{came}");
    assert_eq!(said.reason.as_deref(), parsed["reason"].as_str(), "{came}");
    assert!(!(said.cancelled && said.success == Some(true)), "{came}");
    let answer = answer_to_call(payload);
    assert!(
        !(answer.cancelled && answer.success == Some(true)),
        "{came}"
    );
    if answer.unreadable.is_none() {
        // Agents read what the gateway has read.
        let mended = answer.mended.as_deref().unwrap_or(payload);
        let mended: Value = serde_json::from_str(mended).expect(came);
        assert_eq!(mended["success"].as_bool(), answer.success, "{came}");
        assert_eq!(mended["cancelled"] == true, answer.cancelled, "{came}");
    }
    let answer = answer_to_cancel(payload);
    assert!(
        answer.unreadable.is_some()
            || parsed["cancelled"] == answer.cancelled
            || answer.error.is_some(),
        "{came}"
    );
    let json: Json = payload.to_owned().into();
    drop(abp::read_call(&json));
    drop(abp::read_initialize(&parsed));
    true
}

#[test]
fn a_message_that_is_broken_anywhere_is_refused_or_read_alike_by_all_readers() {
    let limits = Limits::default();
    for whole in WHOLE {
        read_by_all(whole, &limits);
    }
    let more: u64 = std::env::var("CAPHOST_FUZZ").map_or(1, |it| it.parse().expect("a number"));
    let mut taken = 0;
    for seed in 1..=40_000 * more {
        let mut dice = Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        taken += usize::from(read_by_all(&broken(&mut dice), &limits));
    }
    // So the changes do not only make nonsense.
    assert!(taken > 2_000, "{taken}");
}

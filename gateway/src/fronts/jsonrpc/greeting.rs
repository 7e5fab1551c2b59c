//! `initialize`: the peer's name and version, and the features of both sides.

use serde_json::{Value, json};

use crate::wire::clipped;
use caphost::call::Error;
use caphost::dialect::json_rpc::{WAYS, Way};

/// The only version of ACP that supports caphost's own methods.
const ACP_VERSION: u32 = 1;
/// How many characters of a peer's name and version are kept.
const MAX_NAME: usize = 128;

/// A peer's description of itself.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Greeting {
    /// The peer's name.
    pub name: String,
    /// The peer's version.
    pub version: String,
    /// Whether the peer wants to hear of cancels by others.
    pub notices: bool,
    /// Whether the peer wants to hear when the capabilities change.
    pub changes: bool,
    /// How the peer takes questions of apps.
    pub takes: Takes,
    /// How the peer is told that a question needs no answer any more, if it wants to be told.
    pub cancels: Option<&'static Way>,
    /// Whether the peer speaks ACP.
    acp: bool,
}

/// How a peer takes questions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Takes {
    /// It takes none.
    #[default]
    Nothing,
    /// Any question, as `_elicitation/request`.
    Any,
    /// Forms, as ACP's `elicitation/create`.
    Forms,
}

impl Takes {
    /// Reads what a peer has declared as `elicitation`. ACP has a member for each kind of question.
    pub fn read(declared: &Value, is_acp: bool) -> Self {
        let is_declared = match declared {
            Value::Null => false,
            Value::Bool(declared) => *declared,
            _ => true,
        };
        let says = |kind: &str| !declared[kind].is_null();
        match is_declared {
            true if is_acp && says("form") => Takes::Forms,
            // An ACP client that opens addresses only takes no forms.
            true if is_acp && says("url") => Takes::Nothing,
            true => Takes::Any,
            false => Takes::Nothing,
        }
    }
}

impl Default for Greeting {
    /// The greeting of a peer that has not sent `initialize`.
    fn default() -> Self {
        Greeting {
            name: "JSON-RPC peer".into(),
            version: "unknown".into(),
            notices: false,
            changes: false,
            takes: Takes::Nothing,
            cancels: None,
            acp: false,
        }
    }
}

impl Greeting {
    /// The parameters that are read.
    pub const READ: &[&str] = &[
        "clientInfo.name",
        "clientInfo.version",
        "capabilities.cancellation.notifications",
        "capabilities.cancellation.request",
        "capabilities._capabilities.listChanged",
        "capabilities.elicitation.form",
        "capabilities.elicitation.url",
        "clientCapabilities.cancellation.notifications",
        "clientCapabilities.cancellation.request",
        "clientCapabilities._capabilities.listChanged",
        "clientCapabilities.elicitation.form",
        "clientCapabilities.elicitation.url",
        "protocolVersion",
    ];

    /// Reads the parameters of `initialize`. ACP has a number as `protocolVersion`, and `clientCapabilities`.
    /// LSP has `capabilities`. No parameter is required.
    pub fn read(params: Option<&Value>) -> Result<Self, Error<Value>> {
        let unsaid = Greeting::default();
        let Some(params) = params else {
            return Ok(unsaid);
        };
        if !params.is_object() {
            return Err(Error::invalid_params("The parameters are an object"));
        }
        let client = &params["clientInfo"];
        let text = |key: &str| Some(clipped(client[key].as_str()?, MAX_NAME).to_string());
        let places = [&params["capabilities"], &params["clientCapabilities"]];
        let cancels = |what: &str| places.iter().any(|it| it["cancellation"][what] == true);
        let acp = params["protocolVersion"].is_number();
        let takes = places.map(|it| Takes::read(&it["elicitation"], acp));
        let takes = takes.into_iter().find(|it| *it != Takes::Nothing);
        let way = if acp { "ACP v1" } else { "LSP 3.17" };
        let way = WAYS.iter().find(|it| it.dialect == way);
        Ok(Greeting {
            name: text("name").unwrap_or(unsaid.name),
            version: text("version").unwrap_or(unsaid.version),
            notices: cancels("notifications"),
            changes: (places.iter()).any(|it| it["_capabilities"]["listChanged"] == true),
            takes: takes.unwrap_or_default(),
            cancels: way.filter(|_| cancels("request")),
            acp,
        })
    }

    /// The result of `initialize`.
    pub fn answer(&self) -> Value {
        let ours = json!({ "name": "caphost", "version": env!("CARGO_PKG_VERSION") });
        let capabilities = json!({ "cancellation": { "request": true } });
        if !self.acp {
            return json!({ "capabilities": capabilities, "serverInfo": ours });
        }
        json!({
            "protocolVersion": ACP_VERSION,
            "agentCapabilities": capabilities,
            "agentInfo": ours,
            "authMethods": [],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_acp_client() {
        let params = json!({
            "protocolVersion": 1,
            "clientCapabilities": { "fs": {}, "cancellation": { "notifications": true }, "elicitation": { "form": {} } },
            "clientInfo": { "name": "editor", "version": "2" },
        });
        let greeting = Greeting::read(Some(&params)).unwrap();
        assert_eq!((&*greeting.name, &*greeting.version), ("editor", "2"));
        assert!(greeting.notices);
        assert_eq!((greeting.takes, greeting.cancels), (Takes::Forms, None));
        let answer = greeting.answer();
        assert_eq!(answer["protocolVersion"], 1);
        assert_eq!(answer["agentCapabilities"]["cancellation"]["request"], true);
    }

    #[test]
    fn an_lsp_client() {
        let params = json!({
            "processId": 1, "rootUri": null, "clientInfo": { "name": "x".repeat(1_000) },
            "capabilities": { "cancellation": { "request": true }, "_capabilities": { "listChanged": true } },
        });
        let greeting = Greeting::read(Some(&params)).unwrap();
        assert_eq!(greeting.name.len(), MAX_NAME);
        assert!(!greeting.notices, "it did not ask for them");
        assert!(greeting.changes);
        assert_eq!(greeting.takes, Takes::Nothing);
        let way = greeting.cancels.map(|way| (way.method, way.id));
        assert_eq!(way, Some(("$/cancelRequest", "id")));
        let capabilities = &greeting.answer()["capabilities"];
        assert_eq!(
            *capabilities,
            json!({ "cancellation": { "request": true } })
        );
    }

    #[test]
    fn nothing_is_required_but_an_object() {
        for nothing in [None, Some(json!({})), Some(json!({ "clientInfo": 7 }))] {
            assert_eq!(Greeting::read(nothing.as_ref()), Ok(Greeting::default()));
        }
        assert!(Greeting::read(Some(&json!([1]))).is_err());
    }
}

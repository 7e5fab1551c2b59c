//! Questions of apps to a peer: the requests, and the peer's answers.
//!
//! The page's own JSON-RPC does the same, see `src/web/js/json-rpc/own.js`.

use serde_json::{Value, json};

use super::greeting::Takes;
use super::peer::Peer;
use crate::broker::Event;
use crate::broker::calls::RunId;
use crate::fronts::mcp::questions as mcp;
use crate::gateway::calls::Call;
use crate::wire::json_rpc::{Answered, Id, code, notification};
use caphost::call::Code;

/// The request of an app's question, with the app's own words as its parameters.
const OURS: &str = "_elicitation/request";
/// The same in ACP, for forms.
const ACPS: &str = "elicitation/create";

impl Peer {
    /// Asks the peer a question about a call of the request `id`.
    pub fn ask(&self, call: &Call, id: &Id, number: u64, request: Value) {
        let not_asked = |why: &str| call.answer(number, &mcp::not_asked(why));
        let (method, params) = match self.greeted().takes {
            Takes::Nothing => return not_asked("The peer takes no questions"),
            Takes::Any => (OURS, request),
            Takes::Forms => {
                let Some(mut form) = mcp::form(&request) else {
                    return not_asked("The peer takes forms only");
                };
                form["mode"] = "form".into();
                form["requestId"] = id.value().clone();
                (ACPS, form)
            }
        };
        self.asked.lock().insert((call.id, number));
        let id = mcp::id_of(call.id, number);
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
    }

    /// A question needs no answer any more.
    pub fn withdraw(&self, run: RunId, number: u64) {
        let was_open = self.asked.lock().remove(&(run, number));
        if let (true, Some(way)) = (was_open, self.greeted().cancels) {
            let params = json!({ way.id: mcp::id_of(run, number) });
            self.send(&notification(way.method, params));
        }
    }

    /// The questions about a call need no answers any more.
    pub fn withdraw_all(&self, run: RunId) {
        let asked = self.asked.lock();
        let open: Vec<u64> = (asked.iter().filter(|(of, _)| *of == run))
            .map(|(_, number)| *number)
            .collect();
        drop(asked);
        for number in open {
            self.withdraw(run, number);
        }
    }

    /// The peer answers a request of the gateway. An answer to anything but an open question counts for nothing.
    pub fn answered(&self, id: &Id, answered: Answered<'_>) {
        let Some((run, question)) = mcp::read_id(id.value()) else {
            return;
        };
        if self.asked.lock().remove(&(run, question)) {
            let payload = match self.greeted().takes {
                Takes::Forms => mcp::payload_of(answered),
                Takes::Any | Takes::Nothing => payload_of(answered),
            };
            self.hub.handle(Event::Answer {
                run,
                question,
                payload: &payload,
            });
        }
    }
}

/// The payload of an `elicitation/response` for the answer to [`OURS`].
fn payload_of(answered: Answered<'_>) -> String {
    let read = |text: &str| serde_json::from_str::<Value>(text).unwrap_or_default();
    if let Some(result) = answered.result.map(read) {
        return json!({ "success": true, "data": result["data"] }).to_string();
    }
    let error = answered.error.map(read).unwrap_or_default();
    let number = error["code"].as_i64();
    let is = |code: i32| number == Some(i64::from(code));
    if is(code::CANCELLED) {
        let metadata = json!({ "stop": "abandoned" });
        let payload = json!({ "success": false, "cancelled": true, "metadata": metadata });
        return payload.to_string();
    }
    let unsaid = match is(code::METHOD_NOT_FOUND) {
        true => Code::NOT_SUPPORTED,
        false => Code::OPERATION_FAILED,
    };
    let said = error["data"]["code"].as_str().unwrap_or(unsaid.as_str());
    let message = error["message"].as_str();
    let message = message.unwrap_or("The agent did not answer the question");
    let retryable = Code::from(said.to_string()).retryable();
    let error = json!({ "code": said, "message": message, "retryable": retryable });
    json!({ "success": false, "error": error }).to_string()
}

#[cfg(test)]
mod tests;

//! The ABP envelope as JSON text: `{ type, id?, agent?, timestamp, payload }`.

mod envelope;
mod kind;
mod reading;
mod reply;
mod scan;
mod stop;

use serde_json::Value;

use caphost::call::Error;

pub use envelope::{Envelope, Refusal, Subject, check_bounds};
pub use kind::Request;
pub use reading::{Incoming, check, mended, mended_bytes, read_value};
pub use reply::{AGENT_CLOSED, Header, Outgoing, cancel_not_confirmed, error_json, failed};
pub use scan::{members, text_of};
pub use stop::{Said, said, with_stop};

/// An error of the gateway's own, its details as JSON.
pub type Failure = Error<Box<Value>>;

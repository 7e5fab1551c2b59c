//! RAP, the Reactive Agent Protocol: tools are called over HTTP, and results are delivered to a callback URL.
//!
//! | module | contents |
//! |---|---|
//! | [`wire`] | the messages: toolset, invocation, callbacks and notifications |
//! | `egress` | restrictions for URLs that a stranger has chosen |
//! | [`names`] | identifiers and tool names of peers |
//! | [`server`] | the tool server: apps as tools |
//! | [`runtime`] | the runtime: other servers' tools as capabilities of apps |
//!
//! Sources: `PROTOCOLS.md` section 2, and the RAP documents "Tool Cancellation Notification" and
//! "Thread Closure Notification".

mod egress;
pub mod names;
pub mod runtime;
pub mod server;
pub mod wire;

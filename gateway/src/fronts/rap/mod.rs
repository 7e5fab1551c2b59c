//! RAP, the Reactive Agent Protocol: tools are called over HTTP, and results are delivered to a callback URL.
//!
//! | module | what it knows |
//! |---|---|
//! | [`wire`] | the messages: toolset, invocation, callbacks, notifications |
//! | `egress` | where requests may go whose URL a stranger has chosen |
//! | [`names`] | identifiers and tool names, as they may come from a peer |
//! | [`server`] | apps as tools: the tool server |
//! | [`runtime`] | other servers' tools, as capabilities of apps |
//!
//! Sources: `PROTOCOLS.md` section 2, and the RAP documents "Tool Cancellation Notification" and
//! "Thread Closure Notification".

mod egress;
pub mod names;
pub mod runtime;
pub mod server;
pub mod wire;

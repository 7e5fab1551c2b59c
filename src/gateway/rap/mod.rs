//! RAP, the Reactive Agent Protocol: tools called over HTTP, results delivered to a callback URL.
//!
//! | module | what it knows |
//! |---|---|
//! | [`wire`] | the messages: toolset, invocation, callbacks, notifications |
//! | [`names`] | identifiers and tool names, as they may come from a peer |
//!
//! Sources: `PROTOCOLS.md` section 2, and the RAP documents "Tool Cancellation Notification" and
//! "Thread Closure Notification".

pub mod names;
pub mod wire;

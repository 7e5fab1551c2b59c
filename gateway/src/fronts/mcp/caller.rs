//! The sender of a request, to whom its session belongs.

use std::sync::Arc;

use serde::Serialize;

use super::wanted::Wanted;
use crate::tokens::Identity;

/// The sender of a request, and the app that the request is for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
pub struct Caller {
    /// The identity of the sender.
    pub identity: Identity,
    /// The app id in the path, or the only app of the token. Without either, all apps are meant.
    pub app: Option<Arc<str>>,
    /// The tools that the client wants, if not all.
    pub tools: Option<Wanted>,
    /// Whether arguments that are texts are read as the schema wants.
    pub coerce: bool,
}

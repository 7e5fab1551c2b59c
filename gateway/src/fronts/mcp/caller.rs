//! Whose requests are served.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::tokens::Identity;

/// Who sends a request, and for which app.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Deserialize, Serialize)]
pub struct Caller {
    /// Who.
    pub identity: Identity,
    /// The app id in the path, or the only one its token is for; the only app connected, if there
    /// is neither.
    pub app: Option<Arc<str>>,
}

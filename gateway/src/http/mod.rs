//! HTTP around the routes of the fronts: the listener, TLS, access, limits, headers, health, metrics and
//! files.

pub(crate) mod answers;
pub(crate) mod connections;
pub(crate) mod guard;
pub(crate) mod headers;
pub(crate) mod health;
pub(crate) mod limits;
pub(crate) mod pages;
pub(crate) mod places;
pub(crate) mod rate;
mod tls;

pub use guard::parse_origin;
pub use headers::{DEFAULT_CONTENT_SECURITY_POLICY, FrameAncestors};
pub use limits::HttpLimits;
pub use tls::{Tls, TlsOptions};

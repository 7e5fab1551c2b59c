//! Response bodies that keep a value while they are sent.

use axum::body::Body;
use http_body_util::BodyExt;

/// The body unchanged. `kept` is dropped together with it.
pub(crate) fn keep<T: Send + 'static>(body: Body, kept: T) -> Body {
    Body::new(body.map_err(move |error| {
        // The closure owns what it names, even if it is never called.
        let _ = &kept;
        error
    }))
}

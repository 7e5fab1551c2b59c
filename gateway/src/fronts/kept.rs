//! Response bodies that keep something for as long as they are sent.

use axum::body::Body;
use http_body_util::BodyExt;

/// The body unchanged. `kept` is dropped together with it.
pub(crate) fn keep<T: Send + 'static>(body: Body, kept: T) -> Body {
    Body::new(body.map_err(move |error| {
        // What the closure names it owns, whether it is called or not.
        let _ = &kept;
        error
    }))
}

//! The runs: as JSON at `/api/runs`, and for people at `/runs`.

pub mod api;
pub mod page;

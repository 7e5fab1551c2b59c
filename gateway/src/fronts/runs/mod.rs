//! The runs: as JSON at `/api/runs`, and for people at `/runs`.

pub mod api;
mod list;
pub mod page;
#[cfg(test)]
mod tests;

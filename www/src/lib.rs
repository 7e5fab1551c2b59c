//! The demo app: capabilities that do the real thing, in Rust, and can be stopped at any moment.
//!
//! Each capability is a plain async function in a room of its own, `run(params, …, pace)`. It knows
//! nothing of the browser: it takes its turns from a [`pace::Pace`], so it is tested natively.
//!
//! | module | capability |
//! |---|---|
//! | [`markdown`] | `convert.markdownToHtml` |
//! | [`pdf`] | `export.pdf` |
//! | [`summary`] | `ai.summarize` |
//! | [`picture`] | `image.process` |
//! | [`archive`] | `export.archive` |

#[cfg(target_arch = "wasm32")]
mod app;
pub mod archive;
pub mod binary;
pub mod failure;
pub mod markdown;
pub mod pace;
pub mod pdf;
pub mod picture;
#[cfg(test)]
mod schemas;
pub mod stages;
pub mod summary;

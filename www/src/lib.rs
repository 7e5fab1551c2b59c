//! The demo app: capabilities that do real work in Rust and can be stopped at any moment.
//!
//! Each capability is a plain async function in a module of its own, `run(params, …, pace)`. It
//! knows nothing about the browser. It yields through a [`pace::Pace`], so it can be tested
//! natively.
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

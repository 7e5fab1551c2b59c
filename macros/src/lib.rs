#![doc = include_str!("../README.md")]
#![deny(missing_docs)]
#![forbid(unsafe_code)]

mod expand;
mod function;
mod options;
#[cfg(test)]
mod tests;

use proc_macro::TokenStream;

/// Turns a function into a capability. See `caphost::capability`.
#[proc_macro_attribute]
pub fn capability(options: TokenStream, function: TokenStream) -> TokenStream {
    expand::capability(options.into(), function.into()).into()
}

//! The frozen sets of requirements. A number keeps its meaning: a rule that changes gets a new number.

use crate::options::Dialect;
use crate::requirement::Requirement;

pub mod abp;
pub mod contextforge;
pub mod jsonrpc;
pub mod mcp;
pub mod rap;

/// A requirement, with its scenario.
macro_rules! requirement {
    ($id:literal, $level:ident, $sentence:literal, $source:expr, $scenario:path) => {
        $crate::requirement::Requirement {
            id: $id,
            level: $crate::requirement::Level::$level,
            sentence: $sentence,
            source: $source,
            scenario: |cx| futures_util::FutureExt::boxed($scenario(cx)),
        }
    };
}
pub(crate) use requirement;

/// Where the requirements stand that no source has.
pub const OURS: &str =
    "https://github.com/caphost/caphost/blob/main/docs/conformance.md#what-only-we-require";

/// The requirements of a dialect.
pub fn of(dialect: Dialect) -> &'static [Requirement] {
    match dialect {
        Dialect::Abp => abp::REQUIREMENTS,
        Dialect::Mcp => mcp::REQUIREMENTS,
        Dialect::Jsonrpc => jsonrpc::REQUIREMENTS,
        Dialect::Rap => rap::REQUIREMENTS,
        Dialect::Contextforge => contextforge::REQUIREMENTS,
    }
}

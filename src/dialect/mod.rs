//! What page and gateway both have to know of the protocols. The page's copies of the tables are written
//! by the tests in `written`.

/// Constants of one type, each with its meaning, and a table of them for the page's copy.
macro_rules! constants {
    ($type:ty: $($name:ident = $value:expr, $meaning:literal;)*) => {
        $(#[doc = $meaning] pub const $name: $type = $value;)*

        /// The name, value and meaning of each.
        #[cfg(test)]
        pub(in crate::dialect) const TABLE: &[(&str, $type, &str)] =
            &[$((stringify!($name), $name, $meaning),)*];
    };
}

pub mod answers;
pub mod delivery;
pub mod events;
pub mod json_rpc;
pub mod mcp;
pub mod pauses;
#[cfg(test)]
pub(crate) mod written;

//! How a peer writes it: values to events, and back.
//!
//! A dialect is written over [`Value`], for the JSON of the gateway. In a page JavaScript reads and
//! writes its own values, in `src/web/js/`: read property by property from Rust, each would be a call
//! across the boundary.

pub mod abp;
pub mod jsonrpc;
mod value;

pub use value::{Value, shape};

/// At most so many characters of what a peer has written, from its beginning.
pub(crate) fn clipped(text: &str, characters: usize) -> &str {
    let end = text.char_indices().nth(characters);
    end.and_then(|(at, _)| text.get(..at)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clips_by_characters() {
        assert_eq!(clipped("naïve 漢字", 3), "naï");
        assert_eq!(clipped("漢字", 1), "漢");
        assert_eq!(clipped("漢字", 2), "漢字");
        assert_eq!(clipped("", 2), "");
        assert_eq!(clipped("a", 0), "");
    }
}

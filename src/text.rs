//! Text without the standard library's formatting, which weighs more than all of this crate's
//! messages together.

/// A number in decimal digits.
pub(crate) fn decimal(mut number: u32) -> String {
    let mut digits = Vec::new();
    loop {
        digits.insert(0, b'0' + (number % 10) as u8);
        number /= 10;
        if number == 0 {
            break;
        }
    }
    digits.into_iter().map(char::from).collect()
}

/// The number that decimal digits, and nothing else, stand for.
pub(crate) fn parse_decimal(text: &str) -> Option<u32> {
    let mut number = 0_u32;
    for digit in text.bytes() {
        let value = u32::from(digit.wrapping_sub(b'0'));
        if value > 9 {
            return None;
        }
        number = number.checked_mul(10)?.checked_add(value)?;
    }
    (!text.is_empty()).then_some(number)
}

/// At most so many characters of a text, from its beginning.
pub(crate) fn clipped(text: &str, characters: usize) -> &str {
    let mut left = characters;
    for (at, byte) in text.bytes().enumerate() {
        // Every character begins with one byte that is no continuation.
        if byte & 0xc0 != 0x80 {
            if left == 0 {
                return text.get(..at).unwrap_or(text);
            }
            left -= 1;
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals() {
        for number in [0, 7, 10, 4_294_967_295] {
            assert_eq!(decimal(number), number.to_string());
            assert_eq!(parse_decimal(&number.to_string()), Some(number));
        }
        for text in ["", "-1", "+1", " 1", "1.0", "4294967296", "99999999999"] {
            assert_eq!(parse_decimal(text), None, "{text}");
        }
    }

    #[test]
    fn clips_by_characters() {
        assert_eq!(clipped("naïve 漢字", 3), "naï");
        assert_eq!(clipped("漢字", 1), "漢");
        assert_eq!(clipped("漢字", 2), "漢字");
        assert_eq!(clipped("", 2), "");
        assert_eq!(clipped("a", 0), "");
    }
}

//! Finds existing names that are close to an unknown name.

/// How many names are suggested, and among how many names they are searched.
const SAID: usize = 3;
const LOOKED_AT: usize = 1024;
/// The length above which a name is not taken for a typing mistake.
const LONGEST: usize = 64;
/// The number of bytes that may differ, for names of any length.
const MOST: usize = 4;

/// The names that `name` may stand for, the nearest first: a few letters differ in one place, or
/// `name` is the end of them. Not generic, and without the sort and search functions of the standard
/// library, which are large in a page.
pub fn near(name: &str, names: &mut dyn Iterator<Item = &str>) -> Vec<String> {
    let name = name.as_bytes();
    let mut found = [(usize::MAX, None); SAID];
    if name.is_empty() || name.len() > LONGEST {
        return Vec::new();
    }
    for it in names.take(LOOKED_AT) {
        let most = (name.len() / 3).clamp(1, MOST);
        let end = it
            .as_bytes()
            .strip_suffix(name)
            .is_some_and(|it| matches!(it.last(), Some(b'.' | b'_')));
        let far = match end {
            true => most,
            false => differ(name, it.as_bytes()),
        };
        let mut next = (far, Some(it));
        if far <= most {
            for place in &mut found {
                if next.0 < place.0 {
                    std::mem::swap(place, &mut next);
                }
            }
        }
    }
    let mut said = Vec::new();
    for it in found.iter().filter_map(|it| it.1) {
        said.push(String::from(it));
    }
    said
}

/// The number of bytes that differ in one place: the rest of the longer name, without the common
/// beginning and the common end of both names.
fn differ(one: &[u8], other: &[u8]) -> usize {
    let same = |it: &(&u8, &u8)| it.0.eq_ignore_ascii_case(it.1);
    let begin = one.iter().zip(other).take_while(same).count();
    let end = one.iter().rev().zip(other.iter().rev());
    let both = begin + end.take_while(same).count();
    one.len().max(other.len()) - both.min(one.len()).min(other.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(name: &str) -> Vec<String> {
        let names = ["math.sum", "math.sub", "text.words", "export.pdf"];
        near(name, &mut names.into_iter())
    }

    #[test]
    fn a_name_that_is_misspelt_has_the_right_one_said() {
        assert_eq!(of("math.summ"), ["math.sum", "math.sub"]);
        assert_eq!(of("Text.Word"), ["text.words"]);
        assert_eq!(of("exprot.pdf"), ["export.pdf"]);
    }

    #[test]
    fn the_end_of_a_name_has_the_whole_said() {
        assert_eq!(of("words"), ["text.words"]);
        assert_eq!(
            near("words", &mut ["text_words"].into_iter()),
            ["text_words"]
        );
    }

    #[test]
    fn a_name_that_is_like_none_has_none_said() {
        assert_eq!(of("weather"), [""; 0]);
        assert_eq!(of(""), [""; 0]);
        assert_eq!(of(&"math.sum".repeat(9)), [""; 0]);
    }
}

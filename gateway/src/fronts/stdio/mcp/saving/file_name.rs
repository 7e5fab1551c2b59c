//! The name under which a file of an app is saved. The app chooses the name, so nothing in it is trusted.

/// The most bytes of a name. File systems take 255; the rest is for a number.
const MOST_BYTES: usize = 200;
/// The most bytes of a name's ending that stay when the name is too long.
const MOST_OF_ENDING: usize = 20;
/// The name of a file without a usable one.
const NAMELESS: &str = "file";

/// A name for one file in a folder: without the parts of a path, without control characters and characters that
/// change the direction of text, and usable on all systems. A name never begins with a dot, so no file is hidden.
pub fn safe_name(said: Option<&str>) -> String {
    let said = said.unwrap_or_default();
    let last = said
        .rsplit(['/', '\\'])
        .find(|part| !part.trim().is_empty());
    let shown: String = last
        .unwrap_or_default()
        .chars()
        .filter(|it| !it.is_control() && !is_invisible(*it))
        .map(|it| if r#"<>:"|?*"#.contains(it) { '_' } else { it })
        .collect();
    let name = shown.trim_start_matches(|it: char| it == '.' || it.is_whitespace());
    let name = name.trim_end_matches(|it: char| it == '.' || it.is_whitespace());
    let name = shortened(name);
    match name {
        name if name.is_empty() => NAMELESS.into(),
        name if is_device(&name) => format!("_{name}"),
        name => name,
    }
}

/// The name with a number before its ending: `report-2.pdf`. The first file has no number.
pub fn numbered(name: &str, number: u32) -> String {
    let (stem, ending) = split(name);
    match number {
        1 => name.into(),
        number => format!("{stem}-{number}{ending}"),
    }
}

/// The name before its ending, and the ending with its dot, which may be empty.
fn split(name: &str) -> (&str, &str) {
    match name.rfind('.') {
        Some(at) if at > 0 && name.len() - at <= MOST_OF_ENDING => name.split_at(at),
        _ => (name, ""),
    }
}

fn shortened(name: &str) -> String {
    if name.len() <= MOST_BYTES {
        return name.into();
    }
    let (stem, ending) = split(name);
    let ends = 0..=MOST_BYTES - ending.len();
    let end = ends.rev().find(|at| stem.is_char_boundary(*at));
    format!("{}{ending}", stem[..end.unwrap_or(0)].trim_end())
}

/// Whether the character is shown as nothing, breaks a line, or changes the direction of text.
fn is_invisible(it: char) -> bool {
    matches!(
        it,
        '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}'
    )
}

/// Whether Windows takes the name for a device.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or_default();
    let stem = stem.trim_end().to_ascii_uppercase();
    let is_numbered = |of: &str| {
        let number = stem.strip_prefix(of).map(str::as_bytes);
        matches!(number, Some([b'1'..=b'9']))
    };
    matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL") || is_numbered("COM") || is_numbered("LPT")
}

#[cfg(test)]
mod tests;

//! The names of capabilities as tools. `src/web/js/json-rpc/tool-names.js` gives the same names in a page;
//! the vectors of `tests/conformance/jsonrpc/mcp.json` hold both.

use std::collections::{HashMap, HashSet};

use super::capability_info::plain;

/// Characters of a tool's name: as many as every interface of a model accepts.
const MAX_TOOL_NAME: usize = 64;

/// The tool name of each capability, in the order of `names`. `None` means the capability's own name. A tool
/// name is unique and has 1 to 64 letters, digits, `_` and `-`. The same set of capabilities always gets the
/// same tool names, in any order. A capability's name that already fits stays. Any other name is made plain;
/// if the result is too long, empty or taken, a hash is added.
pub fn tool_names(names: &[&str]) -> Box<[Option<Box<str>>]> {
    let plain_names: Vec<String> = names.iter().map(|name| plain(name).collect()).collect();
    let mut alike: HashMap<&str, usize> = HashMap::new();
    for name in &plain_names {
        *alike.entry(name).or_default() += 1;
    }
    let stays = |at: usize| plain_names[at] == names[at] && is_fit(names[at]);
    let is_alone = |at: usize| alike[&*plain_names[at]] == 1 && is_fit(&plain_names[at]);
    let mut taken: HashSet<String> = HashSet::new();
    let mut given: Box<[Option<Box<str>>]> = vec![None; names.len()].into();
    let mut rest = Vec::new();
    for (at, name) in plain_names.iter().enumerate() {
        match (stays(at), is_alone(at)) {
            (true, _) => drop(taken.insert(name.clone())),
            (_, true) => {
                taken.insert(name.clone());
                given[at] = Some(name.as_str().into());
            }
            _ => rest.push(at),
        }
    }
    rest.sort_by_key(|at| names[*at]);
    for at in rest {
        let name = told_apart(&plain_names[at], names[at], &taken);
        taken.insert(name.clone());
        given[at] = Some(name.into());
    }
    given
}

/// The most bytes that the tool name of a capability of that name takes.
pub fn name_bytes(name: &str) -> usize {
    match plain(name).eq(name.chars()) && is_fit(name) {
        true => 0,
        false => MAX_TOOL_NAME,
    }
}

fn is_fit(name: &str) -> bool {
    name.len() <= MAX_TOOL_NAME && name.contains(|it: char| it.is_ascii_alphanumeric())
}

/// A plain name with a hash of the original name; with a longer hash, if that is taken.
fn told_apart(plain: &str, name: &str, taken: &HashSet<String>) -> String {
    let mut salted = name.to_string();
    loop {
        let hash = format!("{:08x}", fnv1a(salted.as_bytes()));
        let beginning = match plain.contains(|it: char| it.is_ascii_alphanumeric()) {
            true => &plain[..plain.len().min(MAX_TOOL_NAME - 1 - hash.len())],
            false => "tool",
        };
        let found = format!("{beginning}_{hash}");
        if !taken.contains(&found) {
            return found;
        }
        salted.push('+');
    }
}

/// The hash FNV-1a of 32 bits, which is short to write in any language.
fn fnv1a(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash, byte| {
        (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(names: &[&str]) -> Vec<String> {
        let given = tool_names(names);
        let given = given.iter().zip(names);
        given
            .map(|(it, own)| it.as_deref().unwrap_or(own).to_string())
            .collect()
    }

    #[test]
    fn names_are_unique_and_every_client_takes_them() {
        let (long, longer) = ("x".repeat(80), format!("{}y", "x".repeat(79)));
        let names = [
            "a.b",
            "a_b",
            "a b",
            "export.pdf",
            "画像",
            "文書",
            "画",
            "...",
            &long,
            &longer,
            "é",
            "already-fine_1",
        ];
        let given = named(&names);
        let unique: HashSet<_> = given.iter().collect();
        assert_eq!(unique.len(), names.len(), "{given:?}");
        for name in &given {
            let is_plain = |it: char| it.is_ascii_alphanumeric() || it == '_' || it == '-';
            assert!(
                (1..=64).contains(&name.len()) && name.chars().all(is_plain),
                "{name}"
            );
        }
        assert_eq!(given[1], "a_b", "what is fine stays");
        assert_eq!(given[3], "export_pdf");
        assert_eq!(given[11], "already-fine_1");
        assert!(given[0].starts_with("a_b_") && given[4].starts_with("tool_"));
    }

    #[test]
    fn the_order_changes_no_name() {
        let names = ["a.b", "a b", "a/b", "文書", "画像"];
        let mut turned = names;
        turned.reverse();
        let mut other = named(&turned);
        other.reverse();
        assert_eq!(named(&names), other);
    }

    #[test]
    fn a_name_that_is_anothers_hash_is_told_apart() {
        let first = named(&["a.b", "a b"]);
        let names = ["a.b", "a b", &*first[0]];
        let given = named(&names);
        assert_eq!(given[2], first[0]);
        assert_ne!(given[0], first[0]);
    }
}

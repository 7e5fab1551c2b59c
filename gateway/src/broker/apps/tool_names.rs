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
mod tests;

//! Writes a copy of the core in which each mutation of `mutations.rs` can be switched on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[path = "mutations.rs"]
#[allow(dead_code)]
mod mutations;

const FOLDERS: [&str; 5] = ["call", "dialect", "offers", "session", "agent"];

fn main() {
    let source = Path::new(&env::var("CARGO_MANIFEST_DIR").unwrap()).join("../../src");
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let mut changes: BTreeMap<&str, Vec<(usize, &mutations::Mutation)>> = BTreeMap::new();
    for (number, it) in mutations::MUTATIONS.iter().enumerate() {
        changes.entry(it.file).or_default().push((number + 1, it));
    }
    let mut root = String::new();
    for folder in FOLDERS {
        println!("cargo::rerun-if-changed=../../src/{folder}");
        copy(&source, &out, folder, &mut changes);
        let file = out.join(folder).join("mod.rs");
        root += &format!(
            "#[path = {file:?}]\n#[allow(dead_code, unused, clippy::all)]\npub mod {folder};\n"
        );
    }
    assert!(changes.is_empty(), "no such file: {:?}", changes.keys());
    println!("cargo::rerun-if-changed=mutations.rs");
    fs::write(out.join("core.rs"), root).unwrap();
}

fn copy(
    source: &Path,
    out: &Path,
    folder: &str,
    changes: &mut BTreeMap<&str, Vec<(usize, &mutations::Mutation)>>,
) {
    fs::create_dir_all(out.join(folder)).unwrap();
    for entry in fs::read_dir(source.join(folder)).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let file = format!("{folder}/{name}");
        if source.join(&file).is_dir() {
            copy(source, out, &file, changes);
            continue;
        }
        let mut text = fs::read_to_string(source.join(&file)).unwrap();
        // The unit tests of the core run elsewhere.
        text = text.replace("#[cfg(test)]", "#[cfg(any())]");
        for (number, it) in changes.remove(&*file).unwrap_or_default() {
            let found = text.matches(it.from).count();
            assert_eq!(found, 1, "in {file}, this must stand once:\n{}", it.from);
            let to = it
                .to
                .replace("MUTANT", &format!("crate::mutated({number})"));
            text = text.replace(it.from, &to);
        }
        fs::write(out.join(&file), text).unwrap();
    }
}

//! The sets of requirements are frozen: a rule that changes gets a new number.

use std::fs;
use std::path::Path;

use caphost_conformance::options::Dialect;
use caphost_conformance::requirements;
use clap::ValueEnum;

/// A published requirement may get a better scenario, and nothing else. To add requirements, run with `CAPHOST_UPDATE_SETS=1`.
#[test]
fn published_requirements_keep_their_numbers_levels_and_words() {
    for dialect in Dialect::value_variants() {
        let lines = requirements::of(*dialect).iter().map(|it| {
            format!(
                "{} {} {} <{}>\n",
                it.id,
                it.level.word(),
                it.sentence,
                it.source
            )
        });
        let now = lines.collect::<String>();
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("sets/{}.txt", dialect.word()));
        if std::env::var_os("CAPHOST_UPDATE_SETS").is_some() {
            fs::write(&path, &now).expect("the folder is there");
        }
        let published = fs::read_to_string(&path).expect("each dialect has a published set");
        assert_eq!(published.replace("\r\n", "\n"), now, "{}", path.display());
    }
}

#[test]
fn numbers_count_from_one_and_each_has_a_source() {
    for dialect in Dialect::value_variants() {
        for (at, it) in requirements::of(*dialect).iter().enumerate() {
            assert!(it.id.ends_with(&format!("-C-{:02}", at + 1)), "{}", it.id);
            assert!(it.source.starts_with("https://"), "{}", it.id);
            assert!(it.sentence.ends_with('.'), "{}", it.id);
        }
    }
}

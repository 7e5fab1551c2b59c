use super::*;
use crate::call::Error;
use crate::dialect::written::{head, holds};

/// `never-started` as `neverStarted`.
fn camel(word: &str) -> String {
    let mut parts = word.split('-');
    let first = parts.next().unwrap().to_owned();
    parts.fold(first, |name, part| {
        name + &part[..1].to_uppercase() + &part[1..]
    })
}

fn numbered<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let members = words.enumerate();
    let members = members.map(|(number, word)| format!("{}: {number}", camel(word)));
    members.collect::<Vec<_>>().join(", ")
}

#[test]
fn the_page_has_the_same_numbers() {
    let about = "The numbers by which JavaScript and Rust name things to each other.";
    let source = "src/web/host/numbers.rs";
    let stops = numbered(Stop::ALL.into_iter().map(Stop::as_str));
    let steps = Step::ALL.into_iter().map(Step::as_str);
    let steps = numbered(steps.chain(["none"]));
    let states = STATES.map(|state| format!("'{state}'")).join(", ");
    let text = format!(
        "{}\n/** How far a call was seen to stop. */\nexport const STOP = {{ {stops} }};\n\n\
             /** The step of a stop that has reached a handler. */\nexport const STEP = {{ {steps} }};\n",
        head(about, source)
    );
    holds("workers/numbers.js", &text);
    let about = "The end states of a call, by the numbers that Rust has for them.";
    let text = format!("{}export const STATES = [{states}];\n", head(about, source));
    holds("states.js", &text);
}

#[test]
fn each_number_stands_for_what_the_page_means() {
    let failed = Error::<()>::new("X", "");
    let outcomes = [
        Outcome::Completed(()),
        Outcome::Failed(failed),
        Outcome::Cancelled(Stop::Dropped),
    ];
    let states = outcomes.map(|it| STATES[state(&it) as usize]);
    assert_eq!(states, STATES);
    assert_eq!(stop(4), Some(Stop::Abandoned));
    assert_eq!(stop(5), None);
    assert_eq!(step(1), Some(Step::Flag));
    assert_eq!(step(Step::ALL.len() as u32), None);
}

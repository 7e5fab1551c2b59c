//! The numbers by which JavaScript and the host's half name things to each other. The copy in
//! JavaScript, `states.js` and `workers/numbers.js`, is written from this file by a test.

use crate::call::{Outcome, Step, Stop};

/// The end states of a call, as observers see them.
#[cfg(test)]
const STATES: [&str; 3] = ["completed", "failed", "cancelled"];

/// The number of the state in which a call has ended.
pub(super) fn state<P>(outcome: &Outcome<P>) -> u32 {
    match outcome {
        Outcome::Completed(_) => 0,
        Outcome::Failed(_) => 1,
        Outcome::Cancelled(_) => 2,
    }
}

/// How far a call was seen to stop.
pub(super) fn stop(number: u32) -> Option<Stop> {
    Stop::ALL.get(number as usize).copied()
}

/// The step of a stop that has reached a handler. `None` if no step has, because the rest of the handler
/// runs in the page.
pub(super) fn step(number: u32) -> Option<Step> {
    Step::ALL.get(number as usize).copied()
}

#[cfg(test)]
mod tests {
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
}

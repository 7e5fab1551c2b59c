//! Each mutation of the core breaks a rule, and is noticed.

use std::cell::Cell;

include!(concat!(env!("OUT_DIR"), "/core.rs"));

#[path = "../checker/mod.rs"]
#[allow(dead_code)]
mod checker;
#[path = "../mutations.rs"]
#[allow(dead_code)]
mod mutations;

use checker::explore::{Report, explore, walk};
use checker::scope::Scope;
use mutations::MUTATIONS;

thread_local! {
    static MUTATED: Cell<usize> = const { Cell::new(0) };
}

/// Whether that mutation is switched on.
fn mutated(number: usize) -> bool {
    MUTATED.get() == number
}

/// At random first, as many mutations are noticed in some way or other by almost any run.
fn look(scope: &Scope) -> Report {
    let report = walk(scope, 1, 300);
    match report.broken {
        Some(_) => report,
        None => explore(scope, 10_000),
    }
}

#[test]
fn every_mutation_is_noticed() {
    let scopes = checker::scopes::small();
    // Without a mutation nothing is broken.
    for scope in &scopes {
        assert!(look(scope).broken.is_none(), "{}", scope.name);
    }
    let mut missed = Vec::new();
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    for (at, mutation) in MUTATIONS.iter().enumerate() {
        MUTATED.set(at + 1);
        // An assertion of the core notices too.
        let caught = scopes.iter().find_map(|scope| {
            let found = std::panic::catch_unwind(|| look(scope));
            match found {
                Ok(report) => report
                    .broken
                    .map(|broken| (scope.name, broken.rule, broken.run)),
                Err(_) => Some((scope.name, "an assertion of the core", Vec::new())),
            }
        });
        MUTATED.set(0);
        match caught {
            Some((scope, rule, run)) => {
                println!("{}\n    {scope}: {rule}\n    {run:?}", mutation.says)
            }
            None => missed.push(mutation.says),
        }
    }
    std::panic::set_hook(hook);
    assert!(
        missed.is_empty(),
        "{} of {} missed: {missed:#?}",
        missed.len(),
        MUTATIONS.len()
    );
}

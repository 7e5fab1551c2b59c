//! The rules of a call hold in every interleaving.

use caphost::{agent, call, dialect, offers, session};

#[path = "../checker/mod.rs"]
mod checker;

use std::time::Instant;

use checker::explore::{Report, explore, explore_with, walk};
use checker::scope::Scope;
use checker::scopes;

/// Fails with the rule that was broken and a short run that breaks the rule.
fn holds(scope: &Scope, report: &Report, began: Instant) {
    let Report {
        states,
        steps,
        ends,
        deepest,
        ..
    } = report;
    let took = began.elapsed();
    println!(
        "{}: {states} states, {steps} steps, {ends} ends, {deepest} deep, {took:.1?}",
        scope.name
    );
    if let Some(broken) = &report.broken {
        panic!("{}: {}\n{:?}", scope.name, broken.rule, broken.run);
    }
}

/// How many states and runs are gone through at most, `CAPHOST_MODEL` times as many as otherwise.
fn more() -> usize {
    let more = std::env::var("CAPHOST_MODEL").ok();
    more.map_or(1, |it| it.parse().expect("CAPHOST_MODEL is a number"))
}

#[test]
fn every_rule_holds_in_every_interleaving_of_small_scopes() {
    for scope in scopes::small() {
        let began = Instant::now();
        let report = explore(&scope, 2_000_000);
        holds(&scope, &report, began);
        assert!(!report.cut_short, "{}: too large", scope.name);
    }
}

#[test]
fn every_rule_holds_in_random_runs_of_large_scopes() {
    for (seed, scope) in (1..).zip(scopes::large()) {
        let began = Instant::now();
        let report = walk(&scope, seed, 4_000 * more());
        holds(&scope, &report, began);
    }
}

/// Minutes each: only with `CAPHOST_MODEL`, by 10 for all of it.
#[test]
fn every_rule_holds_in_every_interleaving_of_two_agents_with_three_calls() {
    let most = if more() > 1 {
        more() * 1_000_000
    } else {
        20_000
    };
    for scope in scopes::whole() {
        let began = Instant::now();
        let report = explore(&scope, most);
        holds(&scope, &report, began);
        println!(
            "    {}",
            if report.cut_short {
                "cut short"
            } else {
                "whole"
            }
        );
    }
}

/// What counts as the same state is the same: without this, states are found that were thought known.
#[test]
fn merging_states_loses_none() {
    for scope in scopes::tiny() {
        let began = Instant::now();
        let (merged, all) = (
            explore(&scope, 500_000),
            explore_with(&scope, 500_000, false),
        );
        holds(&scope, &all, began);
        assert_eq!(merged.states, all.states, "{}", scope.name);
        assert!(
            all.steps > 2 * merged.steps,
            "{}: {} steps",
            scope.name,
            all.steps
        );
    }
}

//! Goes through everything that can happen. The core cannot be copied, so each run is made again from
//! its beginning: a run is the list of what has happened.

use std::rc::Rc;

use rustc_hash::FxHashSet;

use super::event::Event;
use super::rules::{broken, nothing_waits_for_ever};
use super::scope::Scope;
use super::world::World;

/// What was found.
#[derive(Debug, Default)]
pub struct Report {
    pub states: usize,
    pub steps: usize,
    /// Runs that came to an end.
    pub ends: usize,
    pub deepest: usize,
    /// The bound of states was met, so not everything was seen.
    pub cut_short: bool,
    pub broken: Option<Broken>,
}

/// A rule, and a short run that breaks it.
#[derive(Debug)]
pub struct Broken {
    pub rule: &'static str,
    pub run: Vec<Event>,
}

/// Everything that can happen in that scope, up to so many states.
pub fn explore(scope: &Scope, most: usize) -> Report {
    explore_with(scope, most, true)
}

/// Does the same. Without `merge`, states are gone through as often as there are ways to them.
pub fn explore_with(scope: &Scope, most: usize, merge: bool) -> Report {
    let scope = Rc::new(scope.clone());
    let mut report = Report::default();
    let mut seen = FxHashSet::default();
    let mut run: Vec<Event> = Vec::new();
    // What is still to be tried after each step of the run.
    let mut open: Vec<Vec<Event>> = Vec::new();
    let mut world = World::new(&scope);
    seen.insert(world.digest());
    open.push(world.events());
    let mut at = 0;
    loop {
        let Some(untried) = open.last_mut() else {
            report.states = seen.len();
            return report;
        };
        let Some(event) = untried.pop() else {
            open.pop();
            run.pop();
            continue;
        };
        // `at` is how far the world has come; it cannot go back.
        if at != run.len() {
            world = again(&scope, &run);
        }
        world.apply(event);
        run.push(event);
        at = run.len();
        report.steps += 1;
        report.deepest = report.deepest.max(run.len());
        if let Some(rule) = broken(&mut world) {
            report.states = seen.len();
            report.broken = Some(shorten(&scope, rule, run));
            return report;
        }
        let news = seen.insert(world.digest());
        if !news && merge {
            run.pop();
            at = usize::MAX;
            continue;
        }
        let events = world.events();
        // The run may end here, and then nobody may be left waiting.
        if events.iter().all(|event| event.is_optional()) {
            report.ends += 1;
            world.rest();
            at = usize::MAX;
            if let Some(rule) = broken(&mut world).or_else(|| nothing_waits_for_ever(&mut world)) {
                report.states = seen.len();
                report.broken = Some(shorten(&scope, rule, run));
                return report;
            }
        }
        open.push(events);
        if seen.len() >= most {
            report.states = seen.len();
            report.cut_short = true;
            return report;
        }
    }
}

/// Runs at random, so many of them.
pub fn walk(scope: &Scope, seed: u64, runs: usize) -> Report {
    let scope = Rc::new(scope.clone());
    let mut report = Report::default();
    let mut random = Random(seed.max(1));
    for _ in 0..runs {
        let mut world = World::new(&scope);
        let mut run = Vec::new();
        loop {
            let events = world.events();
            let may_end = events.iter().all(|event| event.is_optional());
            let ends = may_end && (events.is_empty() || random.below(8) == 0);
            let rule = if ends {
                world.rest();
                broken(&mut world).or_else(|| nothing_waits_for_ever(&mut world))
            } else {
                let event = events[random.below(events.len())];
                world.apply(event);
                run.push(event);
                report.steps += 1;
                broken(&mut world)
            };
            if let Some(rule) = rule {
                report.broken = Some(shorten(&scope, rule, run));
                return report;
            }
            if ends {
                break;
            }
        }
        report.ends += 1;
        report.deepest = report.deepest.max(run.len());
    }
    report
}

/// The same numbers for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

fn again(scope: &Rc<Scope>, run: &[Event]) -> World {
    let mut world = World::new(scope);
    for event in run {
        world.apply(*event);
    }
    world
}

/// Leaves out what the rule does not need to break.
fn shorten(scope: &Rc<Scope>, rule: &'static str, mut run: Vec<Event>) -> Broken {
    let mut place = run.len();
    while place > 0 {
        place -= 1;
        let mut shorter = run.clone();
        shorter.remove(place);
        if breaks(scope, &shorter) == Some(rule) {
            run = shorter;
            place = place.min(run.len());
        }
    }
    Broken { rule, run }
}

/// The rule that a run breaks, if each of its events can happen in turn.
fn breaks(scope: &Rc<Scope>, run: &[Event]) -> Option<&'static str> {
    let mut world = World::new(scope);
    for event in run {
        if !world.events().contains(event) {
            return None;
        }
        world.apply(*event);
        if let Some(rule) = broken(&mut world) {
            return Some(rule);
        }
    }
    world.rest();
    broken(&mut world).or_else(|| nothing_waits_for_ever(&mut world))
}

impl World {
    /// Lets all that is under way arrive, and time pass, until nothing more happens.
    pub fn rest(&mut self) {
        for _ in 0..500 {
            let Some(event) = self.next_at_rest() else {
                return;
            };
            self.left.ticks = 1;
            self.apply(event);
            if broken(self).is_some() {
                return;
            }
        }
        self.oddity = Some("11: nothing ever waits for ever: the world does not come to rest");
    }

    fn next_at_rest(&mut self) -> Option<Event> {
        if self.wake {
            return Some(Event::Turn);
        }
        for agent in 0..self.sides.len() {
            let side = &self.sides[agent];
            let of = agent as u8;
            if side.flush {
                return Some(Event::Flush(of));
            } else if !side.up.is_empty() {
                return Some(Event::Up(of));
            } else if !side.down.is_empty() {
                return Some(Event::Down(of));
            } else if side.cut && side.connection.is_some() {
                return Some(Event::HostNotices(of));
            } else if side.cut && !side.noticed && !side.closed {
                return Some(Event::AgentNotices(of));
            } else if side.lost && side.connection.is_none() && !side.closed {
                return Some(Event::Reconnect(of));
            }
        }
        let ends = (0..self.calls.len()).find(|call| self.calls[*call].runs());
        if let Some(call) = ends {
            let how = super::facts::HandlerEnd::Returned;
            return Some(Event::End(call as u8, how, false));
        }
        let mut next = self.host.next_deadline().map(|at| (at, Event::HostTick));
        for agent in 0..self.sides.len() {
            let at = self.sides[agent].state.next_deadline();
            if let Some(at) = at.filter(|at| next.is_none_or(|(other, _)| *at < other)) {
                next = Some((at, Event::AgentTick(agent as u8)));
            }
        }
        next.map(|(_, event)| event)
    }
}

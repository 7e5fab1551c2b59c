//! When two states are the same: everything that was seen is the same, but for the names of equal calls
//! and equal agents.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::world::{Down, World};

fn hash(value: impl Hash) -> u64 {
    let mut hasher = FxHasher::default();
    value.hash(&mut hasher);
    // Spreads the bits, as these hashes are compared and hashed again.
    let mixed = hasher.finish() ^ (hasher.finish() >> 32);
    mixed.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
}

impl World {
    /// The digest of this state.
    pub fn digest(&mut self) -> u64 {
        let mut local = vec![0; self.calls.len()];
        // Those that a call has made come later, and belong to it.
        for call in (0..self.calls.len()).rev() {
            let facts = &self.calls[call];
            let below = self.child_of(call).map(|child| local[child]);
            local[call] = hash((facts, facts.since(self.now), below));
        }
        let mut ranks = vec![0_u8; self.calls.len()];
        let mut agents = Vec::new();
        for agent in 0..self.sides.len() {
            let mut roots: Vec<usize> = self.roots(agent).collect();
            roots.sort_by_key(|call| (self.calls[*call].wanted, local[*call]));
            for (rank, call) in roots.iter().enumerate() {
                ranks[*call] = rank as u8;
                if let Some(child) = self.child_of(*call) {
                    ranks[child] = 64 + rank as u8;
                }
            }
            let calls: Vec<u64> = roots.iter().map(|call| local[*call]).collect();
            agents.push((self.digest_of_side(agent, &ranks), calls));
        }
        let mut order: Vec<usize> = (0..agents.len()).collect();
        order.sort_by_key(|agent| (self.scope.agents[*agent].clone(), hash(&agents[*agent])));
        let place = |call: u8| {
            let agent = usize::from(self.calls[usize::from(call)].agent);
            let agent = order.iter().position(|it| *it == agent);
            (agent, ranks[usize::from(call)])
        };
        let in_flight = |call: &&u8| self.calls[usize::from(**call)].in_flight();
        let taken: Vec<_> = self
            .taken
            .iter()
            .filter(in_flight)
            .copied()
            .map(place)
            .collect();
        let few = self.scope.remembered < 10;
        let ended = self.ended.iter().filter(|_| few).copied();
        let ended: Vec<_> = ended.map(place).collect();
        let sides: Vec<_> = order.iter().map(|agent| &agents[*agent]).collect();
        let next = self.host.next_deadline().map(|at| (at - self.now) as i32);
        hash((self.wake, self.left, taken, ended, sides, next))
    }

    fn digest_of_side(&mut self, agent: usize, ranks: &[u8]) -> u64 {
        let now = self.now;
        let next = self.sides[agent].state.next_deadline();
        let next = next.map(|at| (at - now) as i32);
        let side = &self.sides[agent];
        let up = side.up.iter().map(|it| named(it.what, ranks));
        let down = side.down.iter().map(|it| match *it {
            Down::Called(_, what, told) => hash((0, named(what, ranks), told)),
            Down::Cancelled(_, what, said) => hash((1, named(what, ranks), said)),
            Down::Over => 2,
            Down::Ended(call, _) => hash((3, ranks[usize::from(call)])),
            Down::Progress(call) => hash((4, ranks[usize::from(call)])),
        });
        let (up, down): (Vec<_>, Vec<_>) = (up.collect(), down.collect());
        let shut = side.shut_at.map(|at| (now - at) as i32);
        let flags = [
            side.over,
            side.flush,
            side.cut,
            side.noticed,
            side.lost,
            side.shutting,
            side.closed,
            side.connection.is_some(),
        ];
        hash((up, down, flags, side.session, shut, next))
    }
}

/// A request by the rank of its call.
fn named(what: super::world::What, ranks: &[u8]) -> u64 {
    use super::world::What::*;
    match what {
        Call(call) => hash((0, ranks[usize::from(call)])),
        Reuse(call) => hash((1, ranks[usize::from(call)])),
        Ask(call, number) => hash((2, ranks[usize::from(call)], number)),
        Quiet(call) => hash((3, ranks[usize::from(call)])),
        Shutdown => 4,
    }
}

//! What is known by callId.

use std::mem;

use super::CallId;

/// Values by callId: a hash table with linear probing.
///
/// The hash is a plain one. Somebody who makes ids collide slows down a session of their own, whose
/// number of ids is bounded.
#[derive(Debug)]
pub(super) struct IdMap<V> {
    /// A power of two of them, or none; at least a quarter is free.
    slots: Vec<Option<(CallId, V)>>,
    len: usize,
}

impl<V: Copy> IdMap<V> {
    pub const fn new() -> Self {
        IdMap {
            slots: Vec::new(),
            len: 0,
        }
    }

    /// Where an id is, or the free slot it would go to; `None` while there are no slots.
    fn slot(&self, id: &str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash(id) & mask;
        while let Some((other, _)) = &self.slots[at] {
            if other.as_str() == id {
                break;
            }
            at = (at + 1) & mask;
        }
        Some(at)
    }

    /// The id as it was inserted, and its value.
    pub fn get(&self, id: &str) -> Option<&(CallId, V)> {
        self.slots[self.slot(id)?].as_ref()
    }

    /// Sets the value of an id.
    pub fn insert(&mut self, id: CallId, value: V) {
        if self.len * 4 >= self.slots.len() * 3 {
            let size = (self.slots.len() * 2).max(16);
            let mut wider = Vec::new();
            wider.resize_with(size, || None);
            let held = mem::replace(&mut self.slots, wider);
            for entry in held.into_iter().flatten() {
                self.put(entry);
            }
        }
        if self.put((id, value)).is_none() {
            self.len += 1;
        }
    }

    fn put(&mut self, entry: (CallId, V)) -> Option<(CallId, V)> {
        let at = self.slot(entry.0.as_str())?;
        self.slots[at].replace(entry)
    }

    /// Forgets an id.
    pub fn remove(&mut self, id: &str) {
        let Some(mut hole) = self.slot(id).filter(|at| self.slots[*at].is_some()) else {
            return;
        };
        self.len -= 1;
        self.slots[hole] = None;
        // Whoever was pushed past the hole moves up, so that probing finds it.
        let mask = self.slots.len() - 1;
        let mut at = hole;
        loop {
            at = (at + 1) & mask;
            let Some((other, _)) = &self.slots[at] else {
                return;
            };
            let home = hash(other.as_str()) & mask;
            if at.wrapping_sub(home) & mask >= at.wrapping_sub(hole) & mask {
                self.slots.swap(hole, at);
                hole = at;
            }
        }
    }
}

/// FNV-1a.
fn hash(id: &str) -> usize {
    let mut hash = 0x811c_9dc5_u32;
    for byte in id.bytes() {
        hash = (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    }
    hash as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn agrees_with_the_standard_map() {
        let (mut map, mut model) = (IdMap::new(), HashMap::new());
        let mut random = 1_u32;
        for step in 0..50_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let name = format!("call-{}", random >> 20);
            if random & 3 == 0 {
                map.insert(CallId::parse(&name).unwrap(), step);
                model.insert(name, step);
            } else {
                map.remove(&name);
                model.remove(&name);
            }
            assert_eq!(map.len, model.len());
        }
        assert!(!model.is_empty());
        for index in 0..4_096 {
            let name = format!("call-{index}");
            assert_eq!(map.get(&name).map(|it| it.1), model.get(&name).copied());
        }
    }
}

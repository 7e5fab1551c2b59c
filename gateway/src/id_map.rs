//! Maps by ids that the gateway itself has given out.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// A map by ids of the gateway's own. No peer chooses them, so nothing is gained by hashing them in
/// a way that nobody can foresee.
pub type IdMap<K, V> = HashMap<K, V, BuildHasherDefault<IdHasher>>;

/// Spreads numbers that count up, or are random already.
#[derive(Clone, Copy, Debug, Default)]
pub struct IdHasher(u64);

impl Hasher for IdHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
    }

    fn write_u64(&mut self, number: u64) {
        // Fibonacci hashing; the map looks at the high bits and at the low ones.
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::hash::{BuildHasher, BuildHasherDefault};

    use super::*;

    #[test]
    fn numbers_that_count_up_are_spread() {
        let hasher = BuildHasherDefault::<IdHasher>::default();
        let hashes: Vec<u64> = (0..1_000u64).map(|id| hasher.hash_one(id)).collect();
        for shift in [0, 57] {
            let seen: HashSet<_> = hashes.iter().map(|hash| (hash >> shift) & 127).collect();
            assert!(seen.len() > 100, "{} of 128 at bit {shift}", seen.len());
        }
    }
}

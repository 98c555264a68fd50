//! Numbers by pairs.

use std::collections::HashMap;

/// A number, not 0, for each pair of some; found at once unless there are very many.
#[derive(Debug)]
pub(crate) struct Pairs {
    seconds: u64,
    /// By `first * seconds + second`; 0 where there is none.
    dense: Vec<u32>,
    /// The same, where there are too many to have a place for each.
    sparse: HashMap<u64, u32>,
}

/// Pairs that have a place each: those of 8192 with one another.
const MOST: u64 = 1 << 26;

impl Pairs {
    pub fn new(firsts: u32, seconds: u32) -> Pairs {
        let seconds = u64::from(seconds);
        let pairs = u64::from(firsts) * seconds;
        let dense = if pairs <= MOST { vec![0; pairs as usize] } else { Vec::new() };
        Pairs { seconds, dense, sparse: HashMap::new() }
    }

    /// The number of a pair, 0 if it has none.
    #[inline]
    pub fn get(&self, first: u32, second: u32) -> u32 {
        let pair = u64::from(first) * self.seconds + u64::from(second);
        match self.dense.get(pair as usize) {
            Some(&number) => number,
            None => self.sparse.get(&pair).copied().unwrap_or(0),
        }
    }

    pub fn set(&mut self, first: u32, second: u32, number: u32) {
        let pair = u64::from(first) * self.seconds + u64::from(second);
        match self.dense.get_mut(pair as usize) {
            Some(place) => *place = number,
            None => {
                self.sparse.insert(pair, number);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_and_many_pairs_have_their_numbers() {
        for (firsts, seconds) in [(3, 5), (70_000, 70_000)] {
            let mut pairs = Pairs::new(firsts, seconds);
            pairs.set(1, 4, 7);
            pairs.set(2, 0, 8);
            let found = [(1, 4), (2, 0), (0, 4), (1, 0)].map(|(a, b)| pairs.get(a, b));
            assert_eq!(found, [7, 8, 0, 0]);
        }
    }
}

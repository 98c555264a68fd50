//! One seed, many named streams.
//!
//! The generator is xoshiro256++ and the samplers are our own: a published result must give the
//! same bytes in ten years, and general-purpose libraries change theirs between releases.

use serde::{Deserialize, Serialize};

/// The number from which all randomness of an experiment follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream of one consumer, for example `("arrivals", host)`.
    ///
    /// Streams with different names or indices are independent of each other.
    pub fn stream(self, name: &str, index: u64) -> Stream {
        let mut state = Mix(self.0);
        let mut key = state.next();
        for byte in name.bytes() {
            key = Mix(key ^ u64::from(byte)).next();
        }
        // The length separates ("a", ..) from ("a\0", ..) whatever the index.
        let mut state = Mix(Mix(key ^ (name.len() as u64)).next() ^ index);
        Stream { s: [state.next(), state.next(), state.next(), state.next()] }
    }

    /// The seed of a part that owns randomness of its own, for example one point of a sweep.
    pub fn child(self, name: &str, index: u64) -> Seed {
        Seed(self.stream(name, index).next_u64())
    }
}

/// SplitMix64: spreads one number over many.
struct Mix(u64);

impl Mix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

/// A reproducible sequence of draws (xoshiro256++).
#[derive(Debug, Clone)]
pub struct Stream {
    s: [u64; 4],
}

impl Stream {
    /// 64 random bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.s;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// A whole number below `bound`, without bias (Lemire's method).
    ///
    /// # Panics
    /// If `bound` is zero: there is no number below it.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "a draw needs at least one outcome");
        let mut wide = u128::from(self.next_u64()) * u128::from(bound);
        if (wide as u64) < bound {
            let threshold = bound.wrapping_neg() % bound;
            while (wide as u64) < threshold {
                wide = u128::from(self.next_u64()) * u128::from(bound);
            }
        }
        (wide >> 64) as u64
    }

    /// A number in `[0, 1)` with 53 random bits.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        (self.next_u64() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// True with probability `p`.
    #[inline]
    pub fn chance(&mut self, p: f64) -> bool {
        self.unit() < p
    }

    /// An exponentially distributed number with the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u lies in (0, 1]: the logarithm is finite.
        -mean * (1.0 - self.unit()).ln()
    }

    /// Puts a slice in random order (Fisher-Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            items.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_xoshiro::Xoshiro256PlusPlus;
    use rand_xoshiro::rand_core::{Rng, SeedableRng};

    #[test]
    fn agrees_with_the_published_generator() {
        let mut ours = Seed(42).stream("x", 7);
        let mut bytes = [0; 32];
        for (chunk, word) in bytes.chunks_mut(8).zip(ours.s) {
            chunk.copy_from_slice(&word.to_le_bytes());
        }
        let mut oracle = Xoshiro256PlusPlus::from_seed(bytes);
        for _ in 0..1000 {
            assert_eq!(ours.next_u64(), oracle.next_u64());
        }
    }

    #[test]
    fn draws_are_pinned() {
        let mut stream = Seed(1).stream("arrivals", 0);
        let drawn: Vec<u64> = (0..6).map(|_| stream.below(100)).collect();
        assert_eq!(drawn, [62, 47, 48, 74, 5, 57], "a change here changes every published result");
    }

    #[test]
    fn streams_do_not_share_numbers() {
        let first = |name, index| Seed(1).stream(name, index).next_u64();
        let all = [first("a", 0), first("a", 1), first("b", 0), first("ab", 0), first("a\0", 0)];
        for (i, x) in all.iter().enumerate() {
            assert!(!all[i + 1..].contains(x));
        }
        assert_ne!(Seed(1).stream("a", 0).next_u64(), Seed(2).stream("a", 0).next_u64());
    }

    #[test]
    fn samplers_have_the_right_means() {
        let mut stream = Seed(3).stream("means", 0);
        let n = 100_000;
        let mean = (0..n).map(|_| stream.exponential(50.0)).sum::<f64>() / f64::from(n);
        assert!((mean - 50.0).abs() < 0.8, "{mean}");
        let mut counts = [0u32; 7];
        (0..n).for_each(|_| counts[stream.below(7) as usize] += 1);
        assert!(counts.iter().all(|&c| (c as i32 - n / 7).abs() < 600), "{counts:?}");
    }

    #[test]
    fn shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..100).collect();
        Seed(1).stream("shuffle", 0).shuffle(&mut items);
        assert_ne!(items, (0..100).collect::<Vec<_>>());
        items.sort_unstable();
        assert_eq!(items, (0..100).collect::<Vec<_>>());
    }
}

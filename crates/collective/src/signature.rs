//! What all ranks must agree on in a collective operation, as a number that fits into a message.

use crate::{Layout, Operation};
use std::fmt::{self, Write};

/// What all ranks must agree on when they call a collective operation: the operation, its algorithm
/// with its keys, the root, the lengths of blocks, and what combines. Each has its own bits, so
/// that two ranks whose signatures differ can say what they disagree on.
///
/// | bits | what |
/// |---|---|
/// | 0 to 5 | the number of the operation, in the order of [`Operation::all`] |
/// | 6 to 11 | the number of its algorithm, in the order of [`Operation::algorithms`] |
/// | 12 to 19 | a digest of the algorithm's keys |
/// | 20 to 35 | the root; 0 without one |
/// | 36 to 51 | a digest of the lengths; 0 where a rank knows its own alone |
/// | 52 to 63 | a digest of what combines; 0 if nothing does |
///
/// Equal signatures do not prove that ranks agree: of two lengths that differ one in 65,536 pairs
/// has the same digest. The length of each message, which its receiver knows, is checked beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Signature(pub u64);

/// The first thing that two ranks do not agree on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Disagreement {
    /// They call different operations.
    #[error("it calls {found}, this rank calls {expected}")]
    Operation {
        /// What the other rank calls.
        found: &'static str,
        /// What this rank calls.
        expected: &'static str,
    },
    /// They use different algorithms.
    #[error("it uses {found} as the algorithm of {operation}, this rank uses {expected}")]
    Algorithm {
        /// The operation of both.
        operation: &'static str,
        /// That of the other rank.
        found: &'static str,
        /// That of this rank.
        expected: &'static str,
    },
    /// They use other keys of the same algorithm, such as the length of segments.
    #[error("it uses other keys of the algorithm {algorithm} of {operation} than this rank")]
    Keys {
        /// The operation of both.
        operation: &'static str,
        /// The algorithm of both.
        algorithm: &'static str,
    },
    /// They name different roots.
    #[error("its root of {operation} is rank {found}, that of this rank is rank {expected}")]
    Root {
        /// The operation of both.
        operation: &'static str,
        /// That of the other rank.
        found: u16,
        /// That of this rank.
        expected: u16,
    },
    /// They name different lengths.
    #[error("it calls {operation} with other lengths than this rank")]
    Lengths {
        /// The operation of both.
        operation: &'static str,
    },
    /// They combine differently.
    #[error("it calls {operation} with another reduction or type than this rank")]
    Reduction {
        /// The operation of both.
        operation: &'static str,
    },
}

/// A field of a signature: its lowest bit and its width.
#[derive(Clone, Copy)]
struct Field(u32, u32);

const OPERATION: Field = Field(0, 6);
const ALGORITHM: Field = Field(6, 6);
const KEYS: Field = Field(12, 8);
const ROOT: Field = Field(20, 16);
const LENGTHS: Field = Field(36, 16);
const REDUCTION: Field = Field(52, 12);

impl Signature {
    /// Of an operation with blocks of these lengths.
    ///
    /// `reduction` is a number by which the caller knows what combines, and elements of which type;
    /// 0 where nothing does. A size in the operation does not count, the layout does: ranks give
    /// the same layout, or one of the same lengths that lie elsewhere. [`Layout::Only`], and
    /// `None` where each rank has lengths of its own, are not compared.
    pub fn new(operation: &Operation, layout: Option<&Layout>, reduction: u64) -> Signature {
        let number = |name: &str, names: &[&str]| {
            names.iter().position(|known| *known == name).expect("it declares itself") as u64
        };
        let operations = Operation::all().map(|operation| operation.name());
        let algorithms: Vec<&str> = operation.algorithms().iter().map(|a| a.name).collect();
        let mut keys = Digest::new();
        operation.write_keys(&mut keys).expect("a digest takes everything");
        let reduction = if reduction == 0 { 0 } else { Digest::of(&[reduction]) };
        let fields = [
            (OPERATION, number(operation.name(), &operations)),
            (ALGORITHM, number(operation.algorithm().name, &algorithms)),
            (KEYS, keys.folded()),
            (ROOT, operation.root().unwrap_or(0).into()),
            (LENGTHS, layout.map_or(0, lengths)),
            (REDUCTION, reduction),
        ];
        let put = |all, (Field(first, width), value): (Field, u64)| {
            all | (value & ((1 << width) - 1)) << first
        };
        Signature(fields.into_iter().fold(0, put))
    }

    /// What the rank that has sent the other signature disagrees on, if it does.
    pub fn disagreement(self, found: Signature) -> Option<Disagreement> {
        let differs = |field| self.get(field) != found.get(field);
        let name = |signature: Signature| {
            let all = Operation::all();
            all.get(signature.get(OPERATION) as usize)
                .map_or("an unknown operation", Operation::name)
        };
        let operation = name(self);
        let algorithm = |signature: Signature| {
            let known = Operation::all().get(signature.get(OPERATION) as usize).and_then(|known| {
                known.algorithms().get(signature.get(ALGORITHM) as usize).copied()
            });
            known.map_or("an unknown one", |declaration| declaration.name)
        };
        Some(match () {
            () if differs(OPERATION) => {
                Disagreement::Operation { found: name(found), expected: operation }
            }
            () if differs(ROOT) => Disagreement::Root {
                operation,
                found: found.get(ROOT) as u16,
                expected: self.get(ROOT) as u16,
            },
            // Other lengths may have led to another algorithm.
            () if differs(LENGTHS) => Disagreement::Lengths { operation },
            () if differs(ALGORITHM) => Disagreement::Algorithm {
                operation,
                found: algorithm(found),
                expected: algorithm(self),
            },
            () if differs(KEYS) => Disagreement::Keys { operation, algorithm: algorithm(self) },
            () if differs(REDUCTION) => Disagreement::Reduction { operation },
            () => return None,
        })
    }

    fn get(self, Field(first, width): Field) -> u64 {
        self.0 >> first & ((1 << width) - 1)
    }
}

/// A digest of lengths, whatever lies where.
fn lengths(layout: &Layout) -> u64 {
    match layout {
        Layout::Only { .. } => 0,
        Layout::Equal(length) | Layout::Held { length, .. } => Digest::of(&[1, *length]),
        // The algorithm decides how many.
        Layout::Parts { whole, .. } => Digest::of(&[2, *whole]),
        Layout::Packed(ends) => {
            let mut digest = Digest::new();
            let mut begin = 0;
            for &end in ends {
                digest.put(end - begin);
                begin = end;
            }
            digest.folded()
        }
        Layout::Spread(ranges) => {
            let mut digest = Digest::new();
            ranges.iter().for_each(|range| digest.put(range.end - range.start));
            digest.folded()
        }
    }
}

/// FNV-1a.
struct Digest(u64);

impl Digest {
    fn new() -> Digest {
        Digest(0xcbf2_9ce4_8422_2325)
    }

    /// The digest of these, folded.
    fn of(numbers: &[u64]) -> u64 {
        let mut digest = Digest::new();
        numbers.iter().for_each(|&number| digest.put(number));
        digest.folded()
    }

    fn put(&mut self, number: u64) {
        number.to_le_bytes().into_iter().for_each(|byte| self.byte(byte));
    }

    fn byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
    }

    /// With what all bits say in the lowest ones.
    fn folded(&self) -> u64 {
        let half = self.0 ^ self.0 >> 32;
        half ^ half >> 16
    }
}

impl Write for Digest {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        text.bytes().for_each(|byte| self.byte(byte));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algorithm::{AllGather, AllReduce, Broadcast, Gather};
    use crosstie_units::Bytes;

    const SIZE: Bytes = Bytes::new(1);

    fn all_reduce(algorithm: AllReduce) -> Operation {
        Operation::AllReduce { algorithm, size: SIZE, combine: None }
    }

    fn broadcast(algorithm: Broadcast, root: u32) -> Operation {
        Operation::Broadcast { algorithm, root, size: SIZE }
    }

    /// What the second signature disagrees on, told at a rank that has the first.
    fn told(mine: Signature, other: Signature) -> String {
        mine.disagreement(other).expect("they differ").to_string()
    }

    #[test]
    fn ranks_are_told_what_they_disagree_on() {
        let vector = |whole| Layout::Parts { whole, parts: 4 };
        let of = |operation: Operation, layout: &Layout, reduction| {
            Signature::new(&operation, Some(layout), reduction)
        };
        let ring = of(all_reduce(AllReduce::Ring {}), &vector(100), 7);
        assert_eq!(ring.disagreement(of(all_reduce(AllReduce::Ring {}), &vector(100), 7)), None);
        let linear = of(all_reduce(AllReduce::Linear {}), &vector(100), 7);
        let expected = "it uses linear as the algorithm of all-reduce, this rank uses ring";
        assert_eq!(told(ring, linear), expected);
        let lengths = "it calls all-reduce with other lengths than this rank";
        for other in [AllReduce::Ring {}, AllReduce::Linear {}] {
            assert_eq!(told(ring, of(all_reduce(other), &vector(101), 7)), lengths);
        }
        let other = of(all_reduce(AllReduce::Ring {}), &vector(100), 8);
        assert_eq!(
            told(ring, other),
            "it calls all-reduce with another reduction or type than this rank"
        );
        let binomial = of(broadcast(Broadcast::Binomial {}, 3), &vector(100), 0);
        assert_eq!(told(ring, binomial), "it calls broadcast, this rank calls all-reduce");
        let rooted = of(broadcast(Broadcast::Binomial {}, 40_000), &vector(100), 0);
        assert_eq!(
            told(binomial, rooted),
            "its root of broadcast is rank 40000, that of this rank is rank 3"
        );
        let chain = |segment| Broadcast::Chain { segment: Bytes::new(segment) };
        let [short, long] = [8, 9].map(|s| of(broadcast(chain(s), 0), &vector(100), 0));
        assert_eq!(
            told(short, long),
            "it uses other keys of the algorithm chain of broadcast than this rank"
        );
        let made_up = Signature(u64::MAX);
        assert_eq!(
            told(ring, made_up),
            "it calls an unknown operation, this rank calls all-reduce"
        );
        // The number of a known operation with that of an algorithm which it does not have.
        let made_up = Signature(linear.0 | 63 << 6);
        assert_eq!(
            told(ring, made_up),
            "it uses an unknown one as the algorithm of all-reduce, this rank uses ring"
        );
    }

    #[test]
    fn lengths_count_wherever_they_lie() {
        let gather = Operation::AllGather { algorithm: AllGather::Ring {}, size: SIZE };
        let of = |layout: &Layout| Signature::new(&gather, Some(layout), 0);
        let packed = Layout::packed([3, 0, 5]);
        assert_eq!(of(&packed), of(&Layout::Spread(vec![9..12, 0..0, 2..7])));
        assert_ne!(of(&packed), of(&Layout::packed([0, 3, 5])));
        // A rank that knows its own length alone agrees with all ranks.
        let rooted = Operation::Gather { algorithm: Gather::Linear {}, root: 0, size: SIZE };
        let only = Layout::Only { block: 2, length: 5 };
        assert_eq!(
            Signature::new(&rooted, Some(&only), 0).disagreement(Signature::new(&rooted, None, 0)),
            None
        );
    }

    #[test]
    fn every_operation_and_algorithm_has_its_number() {
        let mut all: Vec<u64> = Vec::new();
        for operation in Operation::all() {
            assert!(operation.algorithms().len() < 1 << ALGORITHM.1);
            all.push(Signature::new(&operation, None, 0).0);
        }
        assert!(all.len() < 1 << OPERATION.1);
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), Operation::all().len());
    }
}

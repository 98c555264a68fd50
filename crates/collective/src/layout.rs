//! How long blocks are, and where they lie in a buffer.

use crate::Run;
use std::ops::Range;

/// The lengths of blocks, and where each lies in a buffer. A program of any lengths is bound to
/// one when it is played.
///
/// Lengths are counted in bytes, or in whatever a block must not be cut within, such as elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Layout {
    /// All blocks have this length, and follow each other.
    Equal(u64),
    /// Block i of k covers i n / k to (i + 1) n / k of the n of a vector.
    Parts {
        /// n.
        whole: u64,
        /// k, at least 1.
        parts: u32,
    },
    /// Blocks of any lengths follow each other: block i ends at the i-th of these, which never
    /// decrease. [`Layout::packed`] makes them of lengths.
    Packed(Vec<u64>),
    /// Block i lies here, with gaps and in any order.
    Spread(Vec<Range<u64>>),
    /// The rank knows one block alone, which is its whole buffer: that of a rank that gives a
    /// block of unequal ones to a root, or gets one.
    Only {
        /// Which.
        block: u32,
        /// Its length.
        length: u64,
    },
    /// The rank has room for these blocks alone, of one length, one run behind the other: that of a
    /// rank that passes on blocks of others. [`Program::touched`](crate::Program::touched) tells
    /// which they are.
    Held {
        /// The length of a block.
        length: u64,
        /// Which, in ascending order, none behind the end of the one before.
        runs: Vec<Run>,
    },
}

impl Layout {
    /// Blocks of these lengths, one behind the other.
    pub fn packed(lengths: impl IntoIterator<Item = u64>) -> Layout {
        let ends = lengths.into_iter().scan(0u64, |end, length| {
            *end = end.checked_add(length)?;
            Some(*end)
        });
        Layout::Packed(ends.collect())
    }

    /// The length of blocks.
    ///
    /// # Panics
    /// If there are no such blocks.
    pub fn length(&self, run: Run) -> u64 {
        match self {
            Layout::Equal(length) => length.saturating_mul(run.count().into()),
            Layout::Spread(ranges) => {
                let ranges = &ranges[run.first as usize..run.end as usize];
                ranges.iter().map(|range| range.end - range.start).sum()
            }
            Layout::Held { length, .. } => length.saturating_mul(run.count().into()),
            _ if run.count() == 0 => 0,
            Layout::Parts { .. } | Layout::Packed(_) | Layout::Only { .. } => {
                self.begin(run.end) - self.begin(run.first)
            }
        }
    }

    /// Where blocks lie, in their order: one range unless they are spread.
    ///
    /// # Panics
    /// If there are no such blocks.
    pub fn ranges(&self, run: Run) -> impl Iterator<Item = Range<u64>> {
        let (whole, spread) = match self {
            Layout::Spread(ranges) => (None, &ranges[run.first as usize..run.end as usize]),
            _ if run.count() == 0 => (None, &[][..]),
            _ => (Some(self.begin(run.first)..self.begin(run.end)), &[][..]),
        };
        whole.into_iter().chain(spread.iter().cloned())
    }

    /// Where a block begins, of those that follow each other.
    fn begin(&self, block: u32) -> u64 {
        match *self {
            Layout::Equal(length) => length.saturating_mul(block.into()),
            Layout::Parts { whole, parts } => match u64::from(block).checked_mul(whole) {
                Some(product) => product / u64::from(parts),
                // It is at most the whole.
                None => (u128::from(block) * u128::from(whole) / u128::from(parts)) as u64,
            },
            Layout::Packed(ref ends) => block.checked_sub(1).map_or(0, |last| ends[last as usize]),
            Layout::Only { block: only, length } => match block.checked_sub(only) {
                Some(0) => 0,
                Some(1) => length,
                _ => panic!("this rank knows block {only} alone, not block {block}"),
            },
            Layout::Held { length, ref runs } => {
                // The run that it is in, or that it ends.
                let at = runs.partition_point(|run| run.first <= block);
                let before: u32 = runs[..at].iter().map(|run| run.count()).sum();
                let run = at.checked_sub(1).map(|at| runs[at]).filter(|run| block <= run.end);
                let run = run.unwrap_or_else(|| panic!("this rank has no room for block {block}"));
                length.saturating_mul(u64::from(before - (run.end - block)))
            }
            Layout::Spread(ref ranges) => ranges[block as usize].start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(first: u32, end: u32) -> Run {
        Run { first, end }
    }

    fn ranges(layout: &Layout, first: u32, end: u32) -> Vec<(u64, u64)> {
        layout.ranges(run(first, end)).map(|range| (range.start, range.end)).collect()
    }

    #[test]
    fn blocks_that_follow_each_other_are_one_range() {
        let equal = Layout::Equal(5);
        assert_eq!((equal.length(run(2, 4)), ranges(&equal, 2, 4)), (10, vec![(10, 20)]));
        // The parts of 10 are 3, 3 and 4.
        let parts = Layout::Parts { whole: 10, parts: 3 };
        assert_eq!([0, 1, 2].map(|part| parts.length(run(part, part + 1))), [3, 3, 4]);
        assert_eq!(ranges(&parts, 1, 3), [(3, 10)]);
        let packed = Layout::packed([3, 0, 4]);
        assert_eq!((packed.length(run(1, 3)), ranges(&packed, 0, 2)), (4, vec![(0, 3)]));
        assert_eq!((ranges(&packed, 1, 2), ranges(&packed, 1, 1)), (vec![(3, 3)], vec![]));
        let spread = Layout::Spread(vec![9..12, 4..4, 0..2]);
        assert_eq!((spread.length(run(0, 3)), ranges(&spread, 1, 3)), (5, vec![(4, 4), (0, 2)]));
        let only = Layout::Only { block: 7, length: 6 };
        assert_eq!((only.length(run(7, 8)), ranges(&only, 7, 8)), (6, vec![(0, 6)]));
    }

    #[test]
    fn room_for_some_blocks_is_as_long_as_these() {
        let runs = vec![run(0, 2), run(5, 7), run(9, 10)];
        let held = Layout::Held { length: 3, runs };
        assert_eq!((ranges(&held, 0, 2), ranges(&held, 1, 2)), (vec![(0, 6)], vec![(3, 6)]));
        assert_eq!((ranges(&held, 5, 7), ranges(&held, 9, 10)), (vec![(6, 12)], vec![(12, 15)]));
        assert_eq!(held.length(run(5, 7)), 6);
    }

    #[test]
    fn parts_of_a_vector_of_any_length_add_up() {
        for whole in [0, 1, 63, u64::MAX / 3, u64::MAX] {
            let layout = Layout::Parts { whole, parts: 64 };
            let parts = (0..64).map(|part| u128::from(layout.length(run(part, part + 1))));
            assert_eq!(parts.sum::<u128>(), u128::from(whole));
        }
    }

    #[test]
    #[should_panic(expected = "this rank knows block 7 alone")]
    fn a_rank_does_not_make_up_lengths() {
        Layout::Only { block: 7, length: 6 }.length(run(3, 4));
    }
}

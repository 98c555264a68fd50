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
            Layout::Spread(ref ranges) => ranges[block as usize].start,
        }
    }
}

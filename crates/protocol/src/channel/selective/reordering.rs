//! How long a packet may be overtaken before it is taken for lost.

use crate::channel::SelectiveSpec;

/// The margin for packets that overtake others, in quarters of the smallest round trip.
///
/// A way that has never let a packet overtake another needs none: once packets sent after it have
/// come, it is lost. Where packets have been overtaken there is a margin, and it grows as often as
/// a packet was sent again for nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Reordering {
    /// The least margin, in picoseconds, on a network that is known to lose nothing.
    least: u64,
    quarters: u32,
    /// Losses since something was last sent again for nothing.
    calm: u32,
}

/// The widest margin.
const MOST: u32 = 16;

/// After so many losses without anything sent for nothing the margin is narrow again.
const CALM: u32 = 16;

/// On a way that keeps the order, a packet is lost when one has come that was sent so many later.
pub(super) const LATER: u64 = 3;

impl Reordering {
    pub fn new(spec: &SelectiveSpec) -> Reordering {
        Reordering { least: spec.late.ps(), ..Reordering::default() }
    }

    /// Whether packets keep their order, as far as has been seen.
    #[inline]
    pub fn keeps_order(&self) -> bool {
        self.quarters == 0 && self.least == 0
    }

    /// A packet has come after another that was sent later.
    pub fn overtaken(&mut self) {
        self.quarters = self.quarters.max(1);
    }

    /// A packet was sent again that had come.
    pub fn for_nothing(&mut self) {
        self.quarters = (self.quarters + 1).min(MOST);
        self.calm = 0;
    }

    /// Packets are lost.
    pub fn lost(&mut self) {
        self.calm += 1;
        if self.calm >= CALM {
            (self.quarters, self.calm) = (self.quarters.min(1), 0);
        }
    }

    /// The margin, in picoseconds.
    #[inline]
    pub fn margin(&self, smallest: u64, smoothed: u64) -> u64 {
        let found = (smallest / 4).saturating_mul(u64::from(self.quarters.max(1)));
        found.min(smoothed.max(smallest)).max(self.least)
    }
}

//! Cumulative counters remembered at a few moments, so that the warm-up can be taken out of them.

use super::ledger::Totals;
use crate::network::{ChannelTally, Network};

/// The counters as they stood at the start of a cycle.
pub(super) struct Mark {
    pub cycle: u64,
    pub totals: Totals,
    pub channels: Vec<ChannelTally>,
}

/// At most 32 marks at equal distances; when they are used up, every other one is dropped.
///
/// This is the rule of [`LatencyLog`](crosstie_measure::LatencyLog), so that histograms and
/// counters can be cut at the same moment: a mark is always a border between two segments of a log
/// whose segments started as long as the distance did.
pub(super) struct Marks {
    marks: Vec<Mark>,
    distance: u64,
}

impl Marks {
    const MOST: usize = 32;

    pub fn new(distance: u64) -> Marks {
        Marks { marks: Vec::with_capacity(Marks::MOST), distance }
    }

    /// Remembers the counters at this cycle if a mark is due. To be called at every multiple of
    /// the first distance, from 0.
    pub fn pass(&mut self, cycle: u64, network: &mut dyn Network, totals: Totals) {
        if !cycle.is_multiple_of(self.distance) {
            return;
        }
        if self.marks.len() == Marks::MOST {
            let mut even = false;
            self.marks.retain(|_| {
                even = !even;
                even
            });
            self.distance *= 2;
            if !cycle.is_multiple_of(self.distance) {
                return;
            }
        }
        self.marks.push(Mark { cycle, totals, channels: network.channels() });
    }

    /// The first mark at or after a cycle, or the last one.
    ///
    /// # Panics
    /// If there is none yet.
    pub fn at_or_after(&self, cycle: u64) -> &Mark {
        let index = cycle.div_ceil(self.distance) as usize;
        &self.marks[index.min(self.marks.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ideal::tests::idle;

    #[test]
    fn marks_thin_out_and_stay_within_a_sixteenth_of_the_run() {
        let mut network = idle();
        let mut marks = Marks::new(10);
        for window in 0..1000 {
            let totals = Totals { packets: window, ..Totals::default() };
            marks.pass(10 * window, &mut network, totals);
            assert!(marks.marks.len() <= Marks::MOST);
            let now = 10 * (window + 1);
            for asked in [0, now / 3, now / 2].into_iter().filter(|_| window >= 16) {
                let mark = marks.at_or_after(asked);
                assert_eq!(mark.totals.packets * 10, mark.cycle);
                assert!(mark.cycle >= asked && (mark.cycle - asked) * 16 <= now);
            }
        }
    }
}

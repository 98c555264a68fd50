//! Units of a NIC that do one thing after the other, in the order in which they come up.

use crosstie_units::{Bytes, Rate, Time};

/// Does one thing after the other, in the order in which they come up.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Unit {
    free: Time,
}

impl Unit {
    /// Begins as soon as it is free: from when to when it is busy.
    #[inline]
    pub fn serve(&mut self, now: Time, time: Time) -> (Time, Time) {
        let begin = now.max(self.free);
        self.free = begin + time;
        (begin, self.free)
    }
}

/// The time that `bytes` bytes take.
#[inline]
pub(super) fn passing(rate: Rate, bytes: u32) -> Time {
    rate.time_for(Bytes::new(u64::from(bytes))).expect("the rate of a NIC is no trickle")
}

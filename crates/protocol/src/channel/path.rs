//! What a sender has found out about its way.

use crosstie_units::{Rate, Time};

/// The way between the two ends of a channel on one rail, as the sender sees it. What it has not
/// seen yet is `None`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Path {
    /// How long a packet and its acknowledgement take of late, smoothed.
    pub smoothed: Option<Time>,
    /// The same, at least.
    pub smallest: Option<Time>,
    /// How long packets wait on their way there of late, smoothed.
    pub queue: Option<Time>,
    /// What the way delivers.
    pub rate: Option<Rate>,
    /// What it carries of what is sent next. Who has little to send cannot see what the way would
    /// deliver of more, but how soon that little is there. And the most bytes that have shown
    /// this, one after another.
    pub carries: Option<(Rate, u64)>,
    /// Bytes that may be under way.
    pub window: u64,
    /// Bytes that are.
    pub under_way: u64,
}

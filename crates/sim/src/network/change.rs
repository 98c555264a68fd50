//! What happens to links while a network runs.

use super::Pace;
use crosstie_units::Time;

/// Links that are other from a time on.
///
/// At one instant links change first, and packets begin to cross them then. A packet that is
/// crossing a link when its rate changes goes on as it began. One that is crossing when the link
/// goes down is lost, and so is everything that waits for the link, or comes to it, while it is
/// down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// From when on.
    pub at: Time,
    /// The port whose links they are; rails that share it change together.
    pub port: u32,
    /// The hosts whose links they are, both ways; `None`: all links of the port, those between
    /// switches included.
    pub hosts: Option<Vec<u32>>,
    /// How they are then.
    pub to: Condition,
}

/// How links are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Condition {
    /// As fast as this.
    Pace(Pace),
    /// As fast as they were made.
    OwnPace,
    /// Losing everything.
    Down,
    /// Losing nothing.
    Up,
}

impl Change {
    /// Whether it is about the link of a host.
    pub fn concerns(&self, host: u32) -> bool {
        self.hosts.as_ref().is_none_or(|hosts| hosts.contains(&host))
    }
}

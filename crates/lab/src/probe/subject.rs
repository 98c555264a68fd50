//! What is known of a machine before it is measured.

use super::truth::Truth;
use crosstie_units::Time;
use crosstie_work::Rank;

/// A machine to be measured.
pub(super) struct Subject<'a> {
    /// How many hosts it has.
    pub hosts: u32,
    /// The longest message that is one packet.
    pub payload: u32,
    /// The least that is not filled up.
    pub least: u32,
    /// How many packets a transmit ring holds.
    pub ring: u32,
    /// What a packet of so many bytes takes on the link of a host.
    pub slot: Box<dyn Fn(u32) -> Time + Sync + 'a>,
    /// The hosts of one switch.
    pub here: Vec<Rank>,
    /// Hosts behind other switches.
    pub behind: Vec<Rank>,
    /// How many links of hosts the links between switches are worth.
    pub uplink: usize,
    /// Whether the network can lose packets.
    pub loses: bool,
    /// The most pairs that do not disturb each other otherwise than in the network.
    pub pairs: u32,
    /// The most packets of a ring that are timed together, where it is not longer.
    pub written: u32,
    /// How often packets of a ring, and floods, are timed.
    pub rounds: u32,
    /// How many senders a flood has at most, and packets of each.
    pub flood: (u32, u32),
    /// How often there is a burst of each length, and the length of the longest.
    pub bursts: u32,
    /// See `bursts`.
    pub longest: u32,
    /// How often buffers are looked for, if nothing fits.
    pub tries: u32,
    /// How long all wait before a flood or a burst, for what is on its way.
    pub settle: Time,
    /// How long a burst is waited for beside what it takes on links.
    pub rest: Time,
    /// Whether a packet that leaves a switch is known to keep its place there until it has left.
    pub keeps_leaving: bool,
    /// Whether time is that of a real clock.
    pub live: bool,
    /// What is to be found, where that is known.
    pub truth: Truth<'a>,
}

//! Ways to ranges of hosts: one packet, which switches fork.
//!
//! A packet to a range climbs by tags to a switch above all hosts of the range, as along any route,
//! and from there each switch sends it on by several ports at once, until it has reached every host
//! of the range.

use crate::Tag;
use crosstie_fabric::{HostId, Port};

/// Hosts whose numbers follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HostRange {
    /// The first.
    pub first: HostId,
    /// The last.
    pub last: HostId,
}

impl HostRange {
    /// The hosts in order.
    pub fn hosts(self) -> impl Iterator<Item = HostId> {
        (self.first.0..=self.last.0).map(HostId)
    }

    /// Returns true if the host is one of them.
    pub fn contains(self, host: HostId) -> bool {
        (self.first..=self.last).contains(&host)
    }
}

/// Where a branch of a fork leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Onward {
    /// To a host of the range.
    Host(HostId),
    /// To a switch that forks the packet again: its number in [`Spread::forks`].
    Fork(u32),
}

/// One way out of a switch that forks a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Branch {
    /// The port by which it leaves.
    pub port: Port,
    /// Where that leads.
    pub onward: Onward,
}

/// The way from a host to all hosts of a range.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Spread {
    climb: Vec<Tag>,
    branches: Vec<Branch>,
    /// Where the branches of each fork end.
    ends: Vec<u32>,
}

impl Spread {
    /// Forgets everything, keeping the memory.
    pub fn clear(&mut self) {
        self.climb.clear();
        self.branches.clear();
        self.ends.clear();
    }

    /// Adds the tag for the next switch on the way to the first fork.
    pub fn climb(&mut self, tag: Tag) {
        self.climb.push(tag);
    }

    /// Adds a fork: the first one is where the climb ends.
    ///
    /// # Panics
    /// If it has no branch.
    pub fn fork(&mut self, branches: impl IntoIterator<Item = Branch>) {
        let before = self.branches.len();
        self.branches.extend(branches);
        assert!(self.branches.len() > before, "a fork leads somewhere");
        self.ends.push(self.branches.len() as u32);
    }

    /// One tag for each switch before the first fork.
    pub fn tags(&self) -> &[Tag] {
        &self.climb
    }

    /// How many forks there are.
    pub fn forks(&self) -> u32 {
        self.ends.len() as u32
    }

    /// The branches of a fork, in the order of their ports.
    pub fn branches(&self, fork: u32) -> &[Branch] {
        let fork = fork as usize;
        let begin = fork.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.branches[begin..self.ends[fork] as usize]
    }
}

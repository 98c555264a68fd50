//! What an endpoint has sent and received, counted.

use std::ops::AddAssign;

/// The counts of one endpoint, or of several together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Data packets sent for the first time.
    pub first: u64,
    /// Data packets sent again for a Nack, or because later ones were acknowledged: fast
    /// retransmissions.
    pub fast: u64,
    /// Data packets sent again for a time-out.
    pub timeout: u64,
    /// Packs sent; acknowledgements that ride on data are none.
    pub packs: u64,
    /// Nacks sent.
    pub nacks: u64,
    /// Sacks sent.
    pub sacks: u64,
    /// Packets that the other end has acknowledged.
    pub acknowledged: u64,
    /// Packets delivered: those in order, where others are dropped.
    pub delivered: u64,
    /// Packets dropped because they had come before.
    pub duplicates: u64,
    /// Packets dropped because one before them was missing.
    pub out_of_order: u64,
    /// Packs, Nacks and Sacks that said nothing new, also late ones that rode on data.
    pub stale: u64,
    /// Frames that cannot be: their numbers are of packets that were never sent.
    pub refused: u64,
    /// Frames that could not be read.
    pub corrupt: u64,
}

impl Tally {
    /// Data packets sent.
    pub fn data(&self) -> u64 {
        self.first + self.retransmissions()
    }

    /// Data packets sent again.
    pub fn retransmissions(&self) -> u64 {
        self.fast + self.timeout
    }

    /// Control packets sent.
    pub fn control(&self) -> u64 {
        self.packs + self.nacks + self.sacks
    }
}

impl AddAssign<&Tally> for Tally {
    fn add_assign(&mut self, other: &Tally) {
        // Taken apart in full: a count that is forgotten here does not compile.
        let &Tally {
            first,
            fast,
            timeout,
            packs,
            nacks,
            sacks,
            acknowledged,
            delivered,
            duplicates,
            out_of_order,
            stale,
            refused,
            corrupt,
        } = other;
        self.first += first;
        self.fast += fast;
        self.timeout += timeout;
        self.packs += packs;
        self.nacks += nacks;
        self.sacks += sacks;
        self.acknowledged += acknowledged;
        self.delivered += delivered;
        self.duplicates += duplicates;
        self.out_of_order += out_of_order;
        self.stale += stale;
        self.refused += refused;
        self.corrupt += corrupt;
    }
}

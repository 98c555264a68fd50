//! What meets where it should not: opposing data on a bus, two senders on one NIC.

use super::shipment::fewer;

/// Counts the conflicts that rail schemes are made to avoid [coll, 1].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BusWatch {
    /// Stripes that began to cross a bus while data crossed it the other way.
    pub opposed: u64,
    /// Stripes that began to arrive at a NIC while another was arriving there.
    pub crowded: u64,
    /// Per NIC: stripes crossing the bus outwards and inwards, and stripes arriving.
    reading: Vec<u32>,
    writing: Vec<u32>,
    arriving: Vec<u32>,
}

impl BusWatch {
    pub(super) fn new(nics: u32) -> BusWatch {
        let none = vec![0; nics as usize];
        BusWatch {
            opposed: 0,
            crowded: 0,
            reading: none.clone(),
            writing: none.clone(),
            arriving: none,
        }
    }

    pub(super) fn reads(&mut self, nic: u32) {
        self.reading[nic as usize] += 1;
        self.opposed += u64::from(self.writing[nic as usize] > 0);
    }

    pub(super) fn has_read(&mut self, nic: u32) {
        fewer(&mut self.reading[nic as usize], "what ends reading began to");
    }

    pub(super) fn arrives(&mut self, nic: u32) {
        self.crowded += u64::from(self.arriving[nic as usize] > 0);
        self.arriving[nic as usize] += 1;
    }

    pub(super) fn writes(&mut self, nic: u32) {
        self.writing[nic as usize] += 1;
        self.opposed += u64::from(self.reading[nic as usize] > 0);
    }

    pub(super) fn has_written(&mut self, nic: u32) {
        fewer(&mut self.writing[nic as usize], "what ends writing began to");
    }

    pub(super) fn has_arrived(&mut self, nic: u32) {
        fewer(&mut self.arriving[nic as usize], "what arrives began to");
    }
}

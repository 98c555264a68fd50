//! Systems on which ranks do not share memory.

use std::io;

use super::{Fault, MemoryError};

/// Shared memory with all other ranks of this machine, of which there is none on this system.
#[derive(Debug)]
pub enum Memory {}

impl Memory {
    /// The most bytes of a record.
    pub const LONGEST: usize = (32 << 10) - 8;

    /// Says that there is none.
    pub fn create(_rank: usize, _ranks: usize) -> Result<Memory, MemoryError> {
        Err(MemoryError::Elsewhere)
    }

    /// Says that there is none.
    pub fn with_rings(_rank: usize, _ranks: usize, _ring: usize) -> Result<Memory, MemoryError> {
        Err(MemoryError::Elsewhere)
    }

    /// This rank, within its machine.
    pub fn rank(&self) -> usize {
        match *self {}
    }

    /// How many ranks this machine has.
    pub fn ranks(&self) -> usize {
        match *self {}
    }

    /// What peers have to be told in order to connect.
    pub fn name(&self) -> &str {
        match *self {}
    }

    /// Bytes of each ring into which peers write.
    pub fn ring_size(&self) -> usize {
        match *self {}
    }

    /// Opens the memory of a peer.
    pub fn connect(&mut self, _peer: usize, _name: &str) -> Result<(), MemoryError> {
        match *self {}
    }

    /// Whether a peer is connected.
    pub fn is_connected(&self, _peer: usize) -> bool {
        match *self {}
    }

    /// Takes the names of our files away.
    pub fn unlink(&mut self) {
        match *self {}
    }

    /// Writes a record for a peer.
    pub fn push(&mut self, _peer: usize, _parts: &[&[u8]]) -> bool {
        match *self {}
    }

    /// Shows all records that have come.
    pub fn poll(&mut self, _sink: &mut dyn FnMut(usize, &[u8])) -> usize {
        match *self {}
    }

    /// The first peer that wrote what cannot be, and what.
    pub fn broken(&self) -> Option<(usize, Fault)> {
        match *self {}
    }

    /// What a peer wrote that cannot be.
    pub fn fault(&self, _peer: usize) -> Option<Fault> {
        match *self {}
    }

    /// Copies from the memory of a peer for as long as it grants that.
    pub fn read_granted(
        &self,
        _peer: usize,
        _address: u64,
        _into: &mut [u8],
        _grant: (u64, u64),
    ) -> io::Result<bool> {
        match *self {}
    }

    /// Whether the memory of a peer can be read.
    pub fn can_read(&self, _peer: usize) -> bool {
        match *self {}
    }

    /// Copies from the memory of a peer.
    pub fn read(&self, _peer: usize, _address: u64, _into: &mut [u8]) -> io::Result<()> {
        match *self {}
    }

    /// Whether the process of a peer lives.
    pub fn lives(&self, _peer: usize) -> bool {
        match *self {}
    }

    /// Says that this rank sleeps from now on.
    pub fn about_to_sleep(&mut self) {
        match *self {}
    }

    /// Says that this rank does not sleep any more.
    pub fn awake(&mut self) {
        match *self {}
    }
}

/// A text that no other process has, because none shares memory with this one.
pub fn machine() -> String {
    let mut random = [0; 16];
    match getrandom::fill(&mut random) {
        Ok(()) => random.iter().map(|byte| format!("{byte:02x}")).collect(),
        Err(_) => format!("process {}", std::process::id()),
    }
}

/// Whether two such texts are of processes that run on the same cores: nobody knows.
pub fn shares_cores(one: &str, other: &str) -> bool {
    one == other
}

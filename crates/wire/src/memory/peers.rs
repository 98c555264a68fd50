//! The peers of a rank on its machine.

use std::io;
use std::ops::ControlFlow;
use std::path::PathBuf;

use super::bell::{Bell, Ringer};
use super::folder::{Name, folder, room};
use super::layout::Layout;
use super::lines::Lines;
use super::reading::{Beacon, Reader};
use super::ring::{Consumer, LONGEST, Producer};
use super::segment::{Segment, sweep};
use super::{Fault, MemoryError, sleep};

#[cfg(test)]
mod tests;

/// The most records that are taken from one peer before others have their turn.
const TURN: usize = 64;

/// Shared memory with all other ranks of this machine. Ranks are numbered within the machine here,
/// from 0.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use crosstie_wire::memory::Memory;
/// // In reality each is in a process of its own, and names are exchanged at start-up.
/// let mut ranks = [Memory::create(0, 2)?, Memory::create(1, 2)?];
/// let names = [0, 1].map(|rank| ranks[rank].name().to_owned());
/// ranks[0].connect(1, &names[1])?;
/// ranks[1].connect(0, &names[0])?;
/// ranks.iter_mut().for_each(Memory::unlink);
///
/// assert!(ranks[0].push(1, &[b"ra", b"il"]));
/// let mut found = Vec::new();
/// ranks[1].poll(&mut |peer, record| found.push((peer, record.to_vec())));
/// assert_eq!(found, [(0, b"rail".to_vec())]);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Memory {
    rank: usize,
    ranks: usize,
    folder: PathBuf,
    name: Name,
    segment: Segment,
    bell: Bell,
    /// Whether the file of the bell has its name.
    bell_named: bool,
    /// What peers look for when they read our memory; it has to stay where it is.
    _beacon: Beacon,
    inbound: Vec<Consumer<Lines>>,
    /// Where in our segment the next mark of each ring will be.
    watched: Vec<usize>,
    outbound: Vec<Option<Outbound>>,
    /// Where records are copied before anybody looks at them.
    copy: Box<[u8; LONGEST]>,
    broken: Option<(usize, Fault)>,
    /// Whether something was written for somebody and it has not been looked whether it sleeps.
    unrung: bool,
}

/// What we have of a peer.
#[derive(Debug)]
struct Outbound {
    producer: Producer<Lines>,
    bell: Ringer,
    /// How its memory is read, if that works.
    reader: Option<Reader>,
    /// Whether the last record found no room.
    starved: bool,
    /// The same for this one.
    unrung: bool,
    segment: Segment,
}

impl Memory {
    /// The most bytes of a record.
    pub const LONGEST: usize = LONGEST;

    /// Makes the memory in which the other `ranks - 1` ranks of this machine write for this one,
    /// with rings of a size that suits their number.
    pub fn create(rank: usize, ranks: usize) -> Result<Memory, MemoryError> {
        Memory::with_rings(rank, ranks, Layout::usual_ring(ranks, room(&folder())))
    }

    /// As [`Memory::create`], with rings of so many bytes: a power of two from 64 KiB to 4 MiB.
    /// Where there is no room for them, they are smaller.
    pub fn with_rings(rank: usize, ranks: usize, ring: usize) -> Result<Memory, MemoryError> {
        let layout = Layout::new(rank, ranks, ring)?;
        let folder = folder();
        sweep(&folder);
        let name = Name::random()?;
        let beacon = Beacon::light()?;
        let segment = Segment::create(&folder, &name, layout, &beacon)?;
        let path = name.bell(&folder);
        let bell = Bell::create(&path).map_err(|source| MemoryError::Create { path, source })?;
        let inbound: Vec<_> = (0..ranks - 1).map(|slot| segment.consumer(slot)).collect();
        let watched = inbound.iter().map(watched).collect();
        let outbound = (0..ranks).map(|_| None).collect();
        Ok(Memory {
            rank,
            ranks,
            folder,
            name,
            segment,
            bell,
            bell_named: true,
            _beacon: beacon,
            inbound,
            watched,
            outbound,
            copy: Box::new([0; LONGEST]),
            broken: None,
            unrung: false,
        })
    }

    /// This rank, within its machine.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many ranks this machine has.
    pub fn ranks(&self) -> usize {
        self.ranks
    }

    /// What peers have to be told in order to connect.
    pub fn name(&self) -> &str {
        self.name.as_str()
    }

    /// Bytes of each ring into which peers write.
    pub fn ring_size(&self) -> usize {
        self.segment.layout().ring()
    }

    /// Opens the memory of a peer by the name that it told.
    pub fn connect(&mut self, peer: usize, name: &str) -> Result<(), MemoryError> {
        if peer >= self.ranks || peer == self.rank {
            return Err(MemoryError::Rank { found: peer, ranks: self.ranks });
        }
        let name = Name::parse(name)
            .ok_or_else(|| MemoryError::Name { found: name.chars().take(64).collect() })?;
        let segment = Segment::open(&self.folder, &name, peer, self.ranks)?;
        let path = name.bell(&self.folder);
        let bell =
            Ringer::open(&path).map_err(|source| MemoryError::Open { path, peer, source })?;
        let reader = Some(segment.reader()).filter(Reader::works);
        let producer = segment.producer(self.rank)?;
        let outbound = Outbound { producer, bell, reader, starved: false, unrung: false, segment };
        self.outbound[peer] = Some(outbound);
        Ok(())
    }

    /// Whether [`Memory::connect`] was successful for a peer.
    pub fn is_connected(&self, peer: usize) -> bool {
        self.outbound.get(peer).is_some_and(Option::is_some)
    }

    /// Takes the names of our files away. To be called when all peers have connected; dropping this
    /// does it too.
    pub fn unlink(&mut self) {
        if std::mem::take(&mut self.bell_named) {
            let _ = std::fs::remove_file(self.name.bell(&self.folder));
        }
        self.segment.unlink();
    }

    /// Writes a record for a peer, put together from its parts; `false` if there is no room now. It
    /// wakes the peer if that sleeps.
    ///
    /// # Panics
    /// If the peer is not connected, or the record is longer than [`Memory::LONGEST`].
    #[inline]
    pub fn push(&mut self, peer: usize, parts: &[&[u8]]) -> bool {
        let pushed = self.push_quietly(peer, parts);
        self.wake();
        pushed
    }

    /// The same, but wakes nobody until [`Memory::wake`] is called, which has to be before long: to
    /// look whether somebody sleeps takes until what was written is in memory, and there may be
    /// something to do meanwhile.
    #[inline]
    pub fn push_quietly(&mut self, peer: usize, parts: &[&[u8]]) -> bool {
        let outbound = connected_mut(&mut self.outbound, peer);
        if !outbound.producer.try_push(parts) {
            outbound.starved = true;
            if let Some(fault) = outbound.producer.fault() {
                self.broken.get_or_insert((peer, fault));
            }
            return false;
        }
        outbound.starved = false;
        outbound.unrung = true;
        self.unrung = true;
        true
    }

    /// Wakes those for whom something was written since, if they sleep.
    #[inline]
    pub fn wake(&mut self) {
        if std::mem::take(&mut self.unrung) {
            for outbound in self.outbound.iter_mut().flatten() {
                if std::mem::take(&mut outbound.unrung) {
                    outbound.wake();
                }
            }
        }
    }

    /// Whether [`Memory::poll`] would find nothing, and nobody has to be told of room.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        let starving = sleep::may_starve(self.segment.word(Layout::starving()));
        !starving && self.segment.first_set(&self.watched).is_none()
    }

    /// Shows all records that have come, with the peers they are from, and says how many these
    /// were. Those of a peer come in the order in which it wrote them. A peer that writes
    /// without end does not keep others waiting.
    pub fn poll(&mut self, sink: &mut dyn FnMut(usize, &[u8])) -> usize {
        self.poll_turns(&mut |peer, record| {
            sink(peer, record);
            ControlFlow::Continue(())
        })
    }

    /// The same, but the turn of a peer is over when the sink says so: just to look whether there
    /// is another record takes until the line in which it would be has come from its producer.
    #[inline]
    pub fn poll_turns(&mut self, sink: &mut dyn FnMut(usize, &[u8]) -> ControlFlow<()>) -> usize {
        let mut count = 0;
        let mut slot = 0;
        while let Some(next) = self.segment.first_set(&self.watched[slot..]) {
            slot += next;
            count += self.take_turn(slot, sink);
            slot += 1;
        }
        if sleep::anybody_starves(self.segment.word(Layout::starving())) {
            self.tell_of_room();
        }
        count
    }

    fn take_turn(
        &mut self,
        slot: usize,
        sink: &mut dyn FnMut(usize, &[u8]) -> ControlFlow<()>,
    ) -> usize {
        let peer = self.segment.layout().peer(slot);
        let ring = &mut self.inbound[slot];
        let mut count = 0;
        let mut flow = ControlFlow::Continue(());
        while count < TURN
            && flow.is_continue()
            && ring.pop(&mut self.copy, |record| flow = sink(peer, record))
        {
            count += 1;
        }
        if let Some(fault) = ring.fault() {
            self.broken.get_or_insert((peer, fault));
        }
        self.watched[slot] = watched(ring);
        count
    }

    /// Wakes those who sleep because their rings to us were full.
    #[cold]
    fn tell_of_room(&mut self) {
        for slot in 0..self.inbound.len() {
            if sleep::wanted(self.segment.word(Layout::want(slot))) {
                let peer = self.segment.layout().peer(slot);
                if let Some(outbound) = &self.outbound[peer] {
                    outbound.wake();
                }
            }
        }
    }

    /// The first peer that wrote what cannot be, and what; none of its records come any more.
    pub fn broken(&self) -> Option<(usize, Fault)> {
        self.broken
    }

    /// What a peer wrote that cannot be, if it did.
    pub fn fault(&self, peer: usize) -> Option<Fault> {
        let outbound = self.outbound.get(peer).and_then(Option::as_ref);
        let written = outbound.and_then(|outbound| outbound.producer.fault());
        let rings = self.inbound.iter().enumerate();
        let mut read = rings.filter(|&(slot, _)| self.segment.layout().peer(slot) == peer);
        written.or_else(|| read.find_map(|(_, ring)| ring.fault()))
    }

    /// Whether [`Memory::read`] works for a peer; this was tried when it was connected.
    pub fn can_read(&self, peer: usize) -> bool {
        self.outbound.get(peer).and_then(Option::as_ref).is_some_and(|peer| peer.reader.is_some())
    }

    /// Copies from the memory of a peer, from an address that it told. The peer must not change
    /// these bytes meanwhile.
    ///
    /// An error of the kind `Unsupported` means that this peer cannot be read; others, that it has
    /// ended or that there is nothing at this address.
    pub fn read(&self, peer: usize, address: u64, into: &mut [u8]) -> io::Result<()> {
        let outbound = self.outbound.get(peer).and_then(Option::as_ref);
        let reader = outbound.and_then(|outbound| outbound.reader);
        reader.ok_or(io::ErrorKind::Unsupported)?.read(address, into)
    }

    /// The same while the peer [grants](super::Grant) it, by an address and a number that it told;
    /// `false` if it does not any more: then what was copied may be anything.
    pub fn read_granted(
        &self,
        peer: usize,
        address: u64,
        into: &mut [u8],
        (grant, number): (u64, u64),
    ) -> io::Result<bool> {
        let outbound = self.outbound.get(peer).and_then(Option::as_ref);
        let reader = outbound.and_then(|outbound| outbound.reader);
        let found =
            reader.ok_or(io::ErrorKind::Unsupported)?.read_and_then(address, into, grant)?;
        Ok(found == number)
    }

    /// Whether the process of a peer lives, as far as can be told. This is a system call.
    pub fn lives(&self, peer: usize) -> bool {
        let outbound = self.outbound.get(peer).and_then(Option::as_ref);
        outbound.is_none_or(|outbound| outbound.segment.owner_lives())
    }

    /// Says that this rank sleeps from now on. After this, call [`Memory::poll`] once more, and
    /// [`Memory::push`] for whatever found no room; only if there is nothing in either, wait
    /// for [`Memory::bell`]. Then call [`Memory::awake`].
    pub fn about_to_sleep(&mut self) {
        sleep::announce(self.segment.word(Layout::asleep()));
        for outbound in self.outbound.iter().flatten().filter(|outbound| outbound.starved) {
            let slot = outbound.segment.layout().slot(self.rank);
            let [want, starving] = [Layout::want(slot), Layout::starving()];
            sleep::starve(outbound.segment.word(want), outbound.segment.word(starving));
        }
    }

    /// Says that this rank does not sleep any more, so that nobody rings its bell for nothing.
    pub fn awake(&mut self) {
        sleep::awake(self.segment.word(Layout::asleep()));
    }

    /// What wakes this rank.
    pub fn bell(&self) -> &Bell {
        &self.bell
    }
}

/// Removes what killed ranks have left of their memory.
pub fn sweep_up() {
    sweep(&folder());
}

impl Drop for Memory {
    fn drop(&mut self) {
        self.unlink();
    }
}

impl Outbound {
    /// Rings the bell of the peer if it sleeps.
    #[inline]
    fn wake(&self) {
        if sleep::must_ring(self.segment.word(Layout::asleep())) {
            self.bell.ring();
        }
    }
}

#[inline]
fn connected_mut(outbound: &mut [Option<Outbound>], peer: usize) -> &mut Outbound {
    match outbound.get_mut(peer) {
        Some(Some(outbound)) => outbound,
        _ => panic!("rank {peer} of this machine is connected before anything is written for it"),
    }
}

/// Where in our segment the next mark of a ring will be.
fn watched(ring: &Consumer<Lines>) -> usize {
    ring.ground().place(ring.line())
}

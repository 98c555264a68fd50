//! Where things are in a segment.
//!
//! | from byte | is |
//! |---|---|
//! | 0 | what the segment is: nothing of it changes |
//! | 128 | whether its owner sleeps, and whether somebody starves |
//! | 256 | for each ring, 128 bytes: its head, whether its producer wants room, and whose it is |
//! | a multiple of 64 KiB | the rings, one after the other |
//!
//! What is written by different ranks is 128 bytes apart, because processors fetch lines in pairs.

use super::MemoryError;
use super::ring::LINE;

/// The smallest ring, in bytes: two of the longest records.
pub(super) const SMALLEST_RING: usize = 64 << 10;

/// The largest ring, in bytes.
pub(super) const LARGEST_RING: usize = 4 << 20;

/// The ring of few ranks, in bytes. Measured from 64 KiB to 1 MiB: smaller ones are slower (64 KiB:
/// 40 ns instead of 28 for a record of 8 bytes, 8.7 GB/s instead of 10 in records of 16 KiB), and
/// larger ones are not faster.
const USUAL_RING: usize = 256 << 10;

/// What rings of a segment may take together before they become smaller.
const USUAL_RINGS: usize = 4 << 20;

/// The most ranks of one machine.
pub(super) const MOST_RANKS: usize = 1024;

/// What the first bytes of a segment are.
pub(super) const MAGIC: u64 = u64::from_le_bytes(*b"crossti1");

const SPREAD: usize = 128;
const RINGS: usize = 64 << 10;

/// How many rings a segment has, and of what size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Layout {
    ranks: usize,
    owner: usize,
    ring: usize,
}

impl Layout {
    /// That of a rank of a machine, with rings of so many bytes.
    pub(super) fn new(owner: usize, ranks: usize, ring: usize) -> Result<Layout, MemoryError> {
        if !(2..=MOST_RANKS).contains(&ranks) {
            return Err(MemoryError::Ranks { found: ranks });
        }
        if owner >= ranks {
            return Err(MemoryError::Rank { found: owner, ranks });
        }
        if !ring.is_power_of_two() || !(SMALLEST_RING..=LARGEST_RING).contains(&ring) {
            return Err(MemoryError::Ring { found: ring });
        }
        Ok(Layout { ranks, owner, ring })
    }

    /// The usual size of a ring between so many ranks, where the folder of shared memory holds so
    /// many bytes. Those of all ranks take half of it at most, as far as they can: containers
    /// often have very little.
    pub(super) fn usual_ring(ranks: usize, room: u64) -> usize {
        let mut ring = USUAL_RING;
        let of_one = |ring| ring * ranks.saturating_sub(1);
        let of_all = |ring| (of_one(ring) as u64).saturating_mul(ranks as u64);
        while ring > SMALLEST_RING && (of_one(ring) > USUAL_RINGS || of_all(ring) > room / 2) {
            ring /= 2;
        }
        ring
    }

    /// Ranks of the machine.
    pub(super) fn ranks(&self) -> usize {
        self.ranks
    }

    /// Who reads the rings.
    pub(super) fn owner(&self) -> usize {
        self.owner
    }

    /// Bytes of a ring.
    pub(super) fn ring(&self) -> usize {
        self.ring
    }

    /// Lines of a ring.
    pub(super) fn lines(&self) -> u32 {
        (self.ring / LINE) as u32
    }

    /// Bytes of the segment.
    pub(super) fn size(&self) -> usize {
        self.ring_of_slot(self.ranks - 1)
    }

    /// The number of the ring into which a peer writes; the owner has none.
    pub(super) fn slot(&self, peer: usize) -> usize {
        assert!(peer < self.ranks && peer != self.owner, "rank {peer} is a peer of {}", self.owner);
        if peer < self.owner { peer } else { peer - 1 }
    }

    /// Who writes into a ring.
    pub(super) fn peer(&self, slot: usize) -> usize {
        if slot < self.owner { slot } else { slot + 1 }
    }

    /// Where the count of lines of a ring begins. Rings that nobody has used yet would otherwise
    /// all be looked at in the same few lines of the caches, which hold no more than 12 or 16
    /// at such distances.
    pub(super) fn start(&self, slot: usize) -> u32 {
        slot as u32 & (self.lines() - 1)
    }

    /// The magic.
    pub(super) const fn magic() -> usize {
        0
    }

    /// How many ranks there are.
    pub(super) const fn ranks_word() -> usize {
        8
    }

    /// Who the owner is.
    pub(super) const fn owner_word() -> usize {
        12
    }

    /// The size of a ring.
    pub(super) const fn ring_word() -> usize {
        16
    }

    /// The process of the owner.
    pub(super) const fn process() -> usize {
        20
    }

    /// Where the owner's beacon is in its own memory.
    pub(super) const fn beacon_address() -> usize {
        24
    }

    /// What the owner's beacon says.
    pub(super) const fn beacon() -> usize {
        32
    }

    /// Whether the owner sleeps.
    pub(super) const fn asleep() -> usize {
        SPREAD
    }

    /// Whether the producer of any ring wants room.
    pub(super) const fn starving() -> usize {
        SPREAD + 4
    }

    /// The head of a ring.
    pub(super) fn head(slot: usize) -> usize {
        2 * SPREAD + slot * SPREAD
    }

    /// Whether the producer of a ring wants room.
    pub(super) fn want(slot: usize) -> usize {
        Layout::head(slot) + 4
    }

    /// Whether a ring has its producer.
    pub(super) fn claim(slot: usize) -> usize {
        Layout::head(slot) + 8
    }

    /// The lines of a ring.
    pub(super) fn ring_of_slot(&self, slot: usize) -> usize {
        let heads = Layout::head(self.ranks - 1);
        heads.next_multiple_of(RINGS) + slot * self.ring
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_overlaps_and_all_is_inside() {
        for ranks in [2, 3, 64, 600, MOST_RANKS] {
            let layout =
                Layout::new(ranks / 2, ranks, Layout::usual_ring(ranks, u64::MAX)).unwrap();
            let mut end = Layout::beacon() + 8;
            assert!(end <= Layout::asleep() && Layout::starving() + 4 <= Layout::head(0));
            for slot in 0..ranks - 1 {
                assert!(Layout::head(slot) >= end);
                end = Layout::claim(slot) + 4;
            }
            for slot in 0..ranks - 1 {
                assert!(layout.ring_of_slot(slot) >= end);
                end = layout.ring_of_slot(slot) + layout.ring();
            }
            assert_eq!(layout.size(), end);
        }
    }

    #[test]
    fn every_peer_has_a_ring_of_its_own() {
        let layout = Layout::new(2, 5, SMALLEST_RING).unwrap();
        assert_eq!([0, 1, 3, 4].map(|peer| layout.slot(peer)), [0, 1, 2, 3]);
        assert_eq!([0, 1, 2, 3].map(|slot| layout.peer(slot)), [0, 1, 3, 4]);
    }

    #[test]
    fn rings_become_smaller_before_there_are_too_many_of_them() {
        assert_eq!(Layout::usual_ring(2, u64::MAX), 256 << 10);
        assert_eq!(Layout::usual_ring(17, u64::MAX), 256 << 10);
        assert_eq!(Layout::usual_ring(18, u64::MAX), 128 << 10);
        assert_eq!(Layout::usual_ring(64, u64::MAX), SMALLEST_RING);
        assert_eq!(Layout::usual_ring(MOST_RANKS, u64::MAX), SMALLEST_RING);
        // A container has 64 MiB unless it is given more.
        assert_eq!(Layout::usual_ring(8, 64 << 20), 256 << 10);
        assert_eq!(Layout::usual_ring(16, 64 << 20), 128 << 10);
        assert_eq!(Layout::usual_ring(2, 0), SMALLEST_RING);
    }

    #[test]
    fn what_cannot_be_is_refused() {
        assert!(matches!(Layout::new(0, 1, SMALLEST_RING), Err(MemoryError::Ranks { found: 1 })));
        assert!(Layout::new(0, MOST_RANKS + 1, SMALLEST_RING).is_err());
        assert!(matches!(Layout::new(2, 2, SMALLEST_RING), Err(MemoryError::Rank { .. })));
        for ring in [0, 32 << 10, 65 << 10, 96 << 10, 8 << 20] {
            assert!(matches!(Layout::new(0, 2, ring), Err(MemoryError::Ring { .. })), "{ring}");
        }
    }
}

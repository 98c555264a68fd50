//! Address translation and protection.
//!
//! A process grants parts of its memory: which partners may do what there. Whatever comes in for an
//! address is checked against the grants before a byte moves; what is not granted is a
//! [`Violation`], and nothing is read or written. Translations are kept in a small, fully
//! associative TLB; one that is not there is fetched from tables in memory.

use crosstie_units::Time;
use std::ops::RangeInclusive;

/// The number of a process in its job: its VPID.
pub type Process = u32;

/// Where memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// In the host, behind the bus.
    Main,
    /// On the NIC.
    Elan,
}

/// What is to be done with memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read it.
    Read,
    /// Write it.
    Write,
}

/// A stretch of virtual memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// Its first address.
    pub start: u32,
    /// Its length.
    pub bytes: u32,
}

impl Stretch {
    /// Returns true if all of another lies in it.
    #[inline]
    pub fn covers(&self, other: &Stretch) -> bool {
        let end = |stretch: &Stretch| u64::from(stretch.start) + u64::from(stretch.bytes);
        self.start <= other.start && end(other) <= end(self)
    }
}

/// A part of a process's memory, and what its partners may do there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grant {
    /// Whose memory it is.
    pub process: Process,
    /// Which part.
    pub stretch: Stretch,
    /// Where it is.
    pub memory: Memory,
    /// True if partners may read it.
    pub read: bool,
    /// True if partners may write it.
    pub write: bool,
    /// The processes that may do so.
    pub partners: RangeInclusive<Process>,
}

/// Why an access is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Violation {
    /// No grant covers the addresses.
    #[error("nothing is granted there")]
    Unmapped,
    /// The memory may not be read, or not be written.
    #[error("that is not among its rights")]
    Rights,
    /// The partner is not among those it is granted to.
    #[error("it is not granted to this partner")]
    Partner,
    /// No route leads to the process.
    #[error("no route leads there")]
    Route,
}

/// What a TLB is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TlbSpec {
    /// Translations that it keeps.
    pub entries: u32,
    /// Bytes of a page; a power of two.
    pub page: u32,
    /// What it takes to fetch one that is not there.
    pub miss: Time,
}

/// The grants of the processes of a node, and the TLB of its NIC.
#[derive(Debug, Clone)]
pub(super) struct Mmu {
    grants: Vec<Grant>,
    tlb: TlbSpec,
    /// The translations kept, the latest used last.
    kept: Vec<(Process, u32)>,
    pub misses: u64,
}

impl Mmu {
    pub fn new(tlb: TlbSpec, grants: Vec<Grant>) -> Mmu {
        Mmu { grants, tlb, kept: Vec::with_capacity(tlb.entries as usize), misses: 0 }
    }

    /// Where the memory is that a partner wants to read or write, if it may.
    pub fn check(
        &self,
        process: Process,
        partner: Process,
        stretch: Stretch,
        access: Access,
    ) -> Result<Memory, Violation> {
        let mut closest = Violation::Unmapped;
        let mine = |grant: &&Grant| grant.process == process && grant.stretch.covers(&stretch);
        for grant in self.grants.iter().filter(mine) {
            let may = match access {
                Access::Read => grant.read,
                Access::Write => grant.write,
            };
            match (may, grant.partners.contains(&partner)) {
                (true, true) => return Ok(grant.memory),
                (false, _) if closest == Violation::Unmapped => closest = Violation::Rights,
                (true, false) => closest = Violation::Partner,
                (false, _) => {}
            }
        }
        Err(closest)
    }

    /// What it takes to translate the addresses of a packet, which lie in two pages at most.
    pub fn translate(&mut self, process: Process, stretch: Stretch) -> Time {
        let page = |address: u32| address / self.tlb.page;
        let last = stretch.start.saturating_add(stretch.bytes.saturating_sub(1));
        let (first, last) = (page(stretch.start), page(last));
        (first..=last).fold(Time::ZERO, |time, page| time + self.fetch(process, page))
    }

    fn fetch(&mut self, process: Process, page: u32) -> Time {
        let entry = (process, page);
        match self.kept.iter().position(|kept| *kept == entry) {
            Some(place) => {
                self.kept[place..].rotate_left(1);
                Time::ZERO
            }
            None => {
                if self.kept.len() == self.tlb.entries as usize {
                    self.kept.remove(0);
                }
                self.kept.push(entry);
                self.misses += 1;
                self.tlb.miss
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TLB: TlbSpec = TlbSpec { entries: 16, page: 8192, miss: Time::from_ns(100) };

    fn grant(process: Process, start: u32, bytes: u32) -> Grant {
        let stretch = Stretch { start, bytes };
        let (memory, partners) = (Memory::Main, 0..=u32::MAX);
        Grant { process, stretch, memory, read: true, write: true, partners }
    }

    #[test]
    fn what_is_not_granted_is_refused_with_the_reason() {
        let own = grant(1, 1000, 1000);
        let mmu = |grants| Mmu::new(TLB, grants);
        let inside = Stretch { start: 1500, bytes: 500 };
        let check = |mmu: &Mmu, stretch| mmu.check(1, 7, stretch, Access::Write);
        assert_eq!(check(&mmu(vec![own.clone()]), inside), Ok(Memory::Main));
        let beyond = Stretch { start: 1500, bytes: 501 };
        assert_eq!(check(&mmu(vec![own.clone()]), beyond), Err(Violation::Unmapped));
        let other = mmu(vec![grant(2, 0, u32::MAX)]);
        assert_eq!(check(&other, inside), Err(Violation::Unmapped));
        let read_only = mmu(vec![Grant { write: false, ..own.clone() }]);
        assert_eq!(check(&read_only, inside), Err(Violation::Rights));
        let for_others = mmu(vec![Grant { partners: 0..=6, ..own }]);
        assert_eq!(check(&for_others, inside), Err(Violation::Partner));
    }

    #[test]
    fn the_end_of_the_address_space_is_no_way_around_a_grant() {
        let mmu = Mmu::new(TLB, vec![grant(0, u32::MAX - 10, 10)]);
        let stretch = |start, bytes| Stretch { start, bytes };
        assert!(mmu.check(0, 0, stretch(u32::MAX - 10, 10), Access::Read).is_ok());
        for (start, bytes) in [(u32::MAX, u32::MAX), (u32::MAX - 10, 11), (0, u32::MAX), (5, 1)] {
            let found = mmu.check(0, 0, stretch(start, bytes), Access::Read);
            assert_eq!(found, Err(Violation::Unmapped), "{start} {bytes}");
        }
    }

    #[test]
    fn sixteen_pages_are_kept_and_the_one_not_used_for_longest_goes() {
        let mut mmu = Mmu::new(TLB, Vec::new());
        let mut touch = |page: u32| mmu.translate(3, Stretch { start: page * 8192, bytes: 8 });
        assert!((0..16).all(|page| touch(page) == TLB.miss));
        assert!((0..16).all(|page| touch(page) == Time::ZERO));
        assert_eq!(
            (touch(0), touch(16), touch(0), touch(1)),
            (Time::ZERO, TLB.miss, Time::ZERO, TLB.miss)
        );
        let across = Stretch { start: 31 * 8192 - 4, bytes: 8 };
        assert_eq!(mmu.translate(3, across), TLB.miss + TLB.miss);
    }

    proptest! {
        /// A byte by byte reading of the same rules.
        #[test]
        fn an_access_is_allowed_if_and_only_if_one_grant_allows_every_byte(
            grants in prop::collection::vec(
                (0..2u32, 0..40u32, 0..40u32, any::<bool>(), any::<bool>(), 0..3u32, 0..3u32), 0..6),
            process in 0..2u32, partner in 0..3u32, start in 0..60u32, bytes in 0..30u32,
            write: bool,
        ) {
            let grants: Vec<Grant> = grants.into_iter().map(|(process, start, bytes, read, write, first, more)| Grant {
                process,
                stretch: Stretch { start, bytes },
                memory: Memory::Elan,
                read,
                write,
                partners: first..=first + more,
            }).collect();
            let allows = |grant: &Grant| {
                let bytes_inside = (start..start + bytes).all(|at| {
                    (grant.stretch.start..grant.stretch.start + grant.stretch.bytes).contains(&at)
                });
                let begins = (grant.stretch.start..=grant.stretch.start + grant.stretch.bytes).contains(&start);
                grant.process == process && bytes_inside && begins
                    && (if write { grant.write } else { grant.read })
                    && grant.partners.clone().any(|other| other == partner)
            };
            let expected = grants.iter().any(allows);
            let access = if write { Access::Write } else { Access::Read };
            let found = Mmu::new(TLB, grants).check(process, partner, Stretch { start, bytes }, access);
            prop_assert_eq!(found.is_ok(), expected);
        }
    }
}

//! How the ranks of a job come to raw endpoints that know each other.

use crosstie_launch::Job;

use super::origin::Origin;
use super::pool::Pool;
use super::{Endpoint, RawError};
use crate::datagram::HEAD;
use crate::memory::{machine, shares_cores};
use crate::rail::agree::{Agreed, agree, numbered};
use crate::rail::meeting::{self, Introduction, Joins, key_of};
use crate::rail::offer::Offer;
use crate::rail::udp::Udp;
use crate::rail::{Device, Providers, RailError};

/// How endpoints are made. All ranks of a job should have the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawOptions {
    /// The rail, by device or address; of several with commas between, the first that joins all
    /// ranks. `None`: the first of all.
    pub rails: Option<String>,
    /// How many frames the transmit ring holds.
    pub ring: u32,
    /// How many frames the pool holds; fewer where frames are so long that it would have more than
    /// 256 MiB.
    pub pool: u32,
}

impl RawOptions {
    /// The fewest and the most frames of a ring or a pool.
    pub const FRAMES: std::ops::RangeInclusive<u32> = 8..=65_536;

    fn check(&self) -> Result<(), RawError> {
        for (what, found) in [("ring", self.ring), ("pool", self.pool)] {
            if !RawOptions::FRAMES.contains(&found) {
                let (least, most) = RawOptions::FRAMES.into_inner();
                return Err(RawError::Frames { what, found, least, most });
            }
        }
        Ok(())
    }
}

impl Default for RawOptions {
    fn default() -> RawOptions {
        RawOptions { rails: None, ring: 32, pool: 1024 }
    }
}

/// The most bytes of a pool.
const POOL: usize = 256 << 20;

impl Endpoint {
    /// The endpoint of this rank, once all ranks of the job have come here. Its partner is the next
    /// rank.
    pub fn open(job: &mut Job, options: &RawOptions) -> Result<Endpoint, RawError> {
        options.check()?;
        let rank = job.rank();
        if u16::try_from(job.size()).is_err() {
            return Err(RawError::TooMany { found: job.size() });
        }
        let key = key_of(job)?;
        let found = Providers::default().choose(options.rails.as_deref())?;
        let reading = Origin::reading();
        let mine =
            Introduction { machine: machine(), note: reading.0.to_string(), offers: found.clone() };
        let everybody: Vec<Introduction> = meeting::introduce::<RawError>(job, &mine)?;
        let begin = everybody[0].note.parse().map_err(|_| RailError::Odd { rank: 0 })?;
        let machines = numbered(everybody.iter().map(|other| &other.machine[..]));
        let beside: Vec<bool> =
            everybody.iter().map(|other| shares_cores(&other.machine, &mine.machine)).collect();
        let offers: Vec<Vec<Offer>> = everybody.into_iter().map(|other| other.offers).collect();
        let rails = agree(&offers, &machines)?;
        let rail = rails.into_iter().find(Agreed::joins_all).ok_or(RawError::NoRail)?;
        let used = &found[rail.offers[rank].ok_or(RawError::NoRail)?];
        let device = Device { longest: rail.longest, ..used.device.clone() };
        let opened = Udp::open(&device, used.is_crowded(&found))?;
        let failed = |cause| {
            let Device { name, station, .. } = device.clone();
            RailError::Open { name, station, cause }
        };
        let longest = rail.longest - HEAD;
        // A byte more tells what is too long.
        let slot = longest + HEAD + 1;
        let frames = (options.pool as usize).min(POOL / slot);
        let mut udp = opened.with_ring(options.ring).map_err(failed)?;
        udp.make_room(frames as u32, longest + HEAD).map_err(failed)?;
        let ranks = (0..job.size()).map(Some).collect();
        meeting::connect::<RawError>(job, vec![Joins { driver: Some(&mut udp), ranks }])?;
        let origin = if beside[0] { Origin::at(begin, reading) } else { Origin::now() };
        Ok(Endpoint::new(rank, key, udp, Pool::new(frames, slot), longest, origin, beside))
    }
}

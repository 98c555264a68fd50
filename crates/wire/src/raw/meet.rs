//! How the ranks of a job come to raw endpoints that know each other.

use crosstie_launch::Job;
use crosstie_protocol::channel::Seq;

use super::origin::Origin;
use super::pool::Pool;
use super::sequence::Sequence;
use super::socket::RawSocket;
use super::{Endpoint, RawCount, RawError};
use crate::comm::connect::key_of;
use crate::datagram::HEAD;
use crate::memory::machine;
use crate::rail::find::{self, Card, Offer};
use crate::rail::heads;

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

/// The longest packet of IP.
const MESSAGE: usize = 65_535;

/// The most bytes of a pool.
const POOL: usize = 256 << 20;

/// What a rank tells of itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Told {
    machine: String,
    clock: u64,
    offers: Vec<Offer>,
}

impl Told {
    pub(super) fn write(&self) -> String {
        format!("{}\n{}\n{}", self.machine, self.clock, find::write(&self.offers))
    }

    pub(super) fn read(bytes: &[u8]) -> Option<Told> {
        let (machine, rest) = std::str::from_utf8(bytes).ok()?.split_once('\n')?;
        let (clock, offers) = rest.split_once('\n')?;
        let (machine, clock) = (machine.to_owned(), clock.parse().ok()?);
        Some(Told { machine, clock, offers: find::read(offers)? })
    }

    /// Whether another is on the same running system, though it may be on another host of a box.
    fn shares_clock(&self, other: &Told) -> bool {
        let system = |told: &Told| told.machine.split('/').next().map(str::to_owned);
        system(self) == system(other)
    }
}

impl Endpoint {
    /// The endpoint of this rank, once all ranks of the job have come here. Its partner is the next
    /// rank.
    pub fn open(job: &mut Job, options: &RawOptions) -> Result<Endpoint, RawError> {
        options.check()?;
        let (rank, size) = (job.rank(), job.size());
        let (Ok(own), Ok(_)) = (u16::try_from(rank), u16::try_from(size)) else {
            return Err(RawError::TooMany { found: size });
        };
        let key = key_of(job)?;
        let mut cards = find::cards(options.rails.as_deref())?;
        if cards.is_empty() {
            // Enough for ranks of one machine.
            cards = find::cards(Some("127.0.0.1")).unwrap_or_default();
        }
        let opened = cards.iter().map(|card| open(card, &cards, options));
        let (mut sockets, offers): (Vec<RawSocket>, Vec<Offer>) =
            opened.collect::<Result<Vec<_>, RawError>>()?.into_iter().unzip();
        let reading = Origin::reading();
        let mine = Told { machine: machine(), clock: reading.0, offers };
        let everybody = job.exchange(mine.write().as_bytes())?;
        let read =
            |(rank, bytes): (usize, &Vec<u8>)| Told::read(bytes).ok_or(RawError::Odd { rank });
        let everybody: Vec<Told> =
            everybody.iter().enumerate().map(read).collect::<Result<_, RawError>>()?;
        let machines = find::numbered(everybody.iter().map(|told| &told.machine[..]));
        let offers: Vec<Vec<Offer>> = everybody.iter().map(|told| told.offers.clone()).collect();
        let rail = find::agree(&offers, &machines)?.into_iter().next().ok_or(RawError::NoRail)?;
        let card = &cards[rail.offers[rank]];
        let longest = rail.mtu.min(MESSAGE).saturating_sub(heads(card.address) + HEAD);
        // A byte more tells what is too long.
        let slot = longest + HEAD + 1;
        let frames = (options.pool as usize).min(POOL / slot);
        let mut socket = sockets.swap_remove(rail.offers[rank]);
        let failed = |cause| failed(card, cause);
        socket.make_room(frames as u32, longest + HEAD).map_err(failed)?;
        let beside = |told: &Told| told.shares_clock(&mine);
        let origin = match beside(&everybody[0]) {
            true => Origin::at(everybody[0].clock, reading),
            false => Origin::now(),
        };
        let address = |(other, address)| (other != rank).then_some(address);
        Ok(Endpoint {
            rank: own,
            key,
            socket,
            peers: rail.addresses.iter().copied().enumerate().map(address).collect(),
            longest,
            partner: if rank + 1 < size { own + 1 } else { 0 },
            numbers: vec![Seq(0); size],
            sequences: vec![Sequence::default(); size],
            pool: Pool::new(frames, slot),
            out: Vec::with_capacity(longest + HEAD),
            count: RawCount::default(),
            origin,
            beside: everybody.iter().map(beside).collect(),
        })
    }
}

fn failed(card: &Card, cause: std::io::Error) -> RawError {
    RawError::Open { name: card.device.clone(), address: card.address, cause }
}

/// A socket at a card, and what to tell others of it.
fn open(card: &Card, all: &[Card], options: &RawOptions) -> Result<(RawSocket, Offer), RawError> {
    let crowded = all.iter().filter(|other| other.shares_network(card)).count() > 1;
    let device = crowded.then_some(&card.device[..]);
    let socket = RawSocket::bind(card.address, device, options.ring);
    let socket = socket.map_err(|cause| failed(card, cause))?;
    let port = socket.address().map_err(|cause| failed(card, cause))?.port();
    Ok((socket, Offer { card: card.clone(), port }))
}

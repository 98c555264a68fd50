//! How the ranks of a job find each other.

use crosstie_launch::{Job, StartError};

use super::{CommError, Options};
use crate::cores::Cores;
use crate::key::Key;
use crate::memory::{Memory, machine, shares_cores};
use crate::rail::find::{self, Card, Offer};
use crate::rail::{Rail, Udp};
use crate::rank::{Rank, RankSpec};

/// A rank's connections to the others.
pub(super) struct Connected {
    /// Rails and memory to all of them.
    pub engine: Rank,
    /// How many ranks share a core with it, itself included.
    pub ranks_each: u32,
    /// How many ranks there are per core if all run on one machine, and 1 otherwise. All ranks
    /// compute the same value, so that they choose the same algorithms by it.
    pub ranks_per_core: u32,
    /// The machine of each rank, by a number.
    pub machines: Vec<usize>,
}

/// The key by which ranks know each other's datagrams. It is another one each time all ranks have
/// exchanged something, so that nothing is taken for new that was under way when ranks of the same
/// job last spoke.
pub(crate) fn key_of(job: &mut Job) -> Result<Key, StartError> {
    let secret = job.secret()?;
    Ok(Key::numbered(*secret.bytes(), job.exchanges()))
}

/// Connects a rank to all others.
pub(super) fn connect(job: &mut Job, options: &Options) -> Result<Connected, CommError> {
    let (rank, size) = (job.rank(), job.size());
    let (Ok(own), Ok(all)) = (u16::try_from(rank), u16::try_from(size)) else {
        return Err(CommError::TooMany { found: size });
    };
    let key = key_of(job)?;
    let mut cards = match size {
        1 => Vec::new(),
        _ => find::cards(options.rails.as_deref())?,
    };
    if cards.is_empty() && size > 1 {
        // Enough for ranks of one machine.
        cards = find::cards(Some("127.0.0.1")).unwrap_or_default();
    }
    let crowded = |card: &Card| cards.iter().filter(|other| other.shares_network(card)).count() > 1;
    let open = |card: &Card| {
        let device = crowded(card).then_some(&card.device[..]);
        let failed =
            |cause| CommError::Rail { name: card.device.clone(), address: card.address, cause };
        let rail = Udp::bind(&card.device, card.address, device, card.mtu).map_err(failed)?;
        let port = rail.address().map_err(failed)?.port();
        Ok((rail, Offer { card: card.clone(), port }))
    };
    let opened = cards.iter().map(open).collect::<Result<Vec<_>, CommError>>()?;
    let (mut rails, offers): (Vec<Udp>, Vec<Offer>) = opened.into_iter().unzip();

    let here = if options.memory { machine() } else { format!("{} rank {rank}", machine()) };
    let cores = Cores::allowed();
    let mine = format!("{here}\n{}\n{}", cores.write(), find::write(&offers));
    let everybody = job.exchange(mine.as_bytes())?;
    let read = |(rank, bytes): (usize, &Vec<u8>)| {
        let text = std::str::from_utf8(bytes).map_err(|_| CommError::Odd { rank })?;
        let mut parts = text.splitn(3, '\n');
        let mut part = || parts.next().ok_or(CommError::Odd { rank });
        let (machine, cores, offers) = (part()?, part()?, part()?);
        let cores = Cores::read(cores).ok_or(CommError::Odd { rank })?;
        let offers = find::read(offers).ok_or(CommError::Odd { rank })?;
        Ok((machine.to_owned(), cores, offers))
    };
    let everybody: Vec<(String, Cores, Vec<Offer>)> =
        everybody.iter().enumerate().map(read).collect::<Result<_, CommError>>()?;
    let machines = find::numbered(everybody.iter().map(|(machine, ..)| &machine[..]));

    let own_machine = &everybody[rank].0;
    let beside = everybody.iter().filter(|(machine, ..)| shares_cores(machine, own_machine));
    let beside: Vec<_> = beside.map(|(_, cores, _)| cores).collect();
    let ranks_each = cores.ranks_each(&beside);
    let ranks_per_core = if beside.len() == size { Cores::ranks_per_core(&beside) } else { 1 };

    let memory = neighbours(job, &machines)?;
    let apart = machines.iter().any(|&machine| machine != machines[rank]);
    let mut used: Vec<Box<dyn Rail>> = Vec::new();
    if apart {
        let offers: Vec<Vec<Offer>> = everybody.into_iter().map(|(.., offers)| offers).collect();
        // Without memory, ranks of one machine meet at its own addresses.
        let meeting = if options.memory { machines.clone() } else { vec![0; size] };
        let agreed = find::agree(&offers, &meeting)?;
        let mut free: Vec<Option<Udp>> = rails.drain(..).map(Some).collect();
        for rail in agreed {
            let Some(mut udp) = free[rail.offers[rank]].take() else { continue };
            let to = |(other, address)| (other != rank).then_some(address);
            let peers: Vec<_> = rail.addresses.iter().copied().enumerate().map(to).collect();
            let longest = rail.mtu - (cards[rail.offers[rank]].mtu - udp.longest()).min(rail.mtu);
            udp.reach(&peers, longest);
            used.push(Box::new(udp));
        }
    }
    let count = used.len().max(1);
    let policies = options.policy.policies(size.max(2) as u32, count as u32).map_err(|error| {
        CommError::Allocation { ranks: size, rails: count, cause: error.to_string() }
    })?;
    let spec = RankSpec {
        rank: own,
        size: all,
        key,
        profile: options.profile(),
        injection: options.injection,
    };
    let engine = Rank::new(spec, &policies, used, memory)?;
    Ok(Connected { engine, ranks_each, ranks_per_core, machines })
}

/// The memory that ranks of this machine share, and the place of each rank there.
type Shared = (Memory, Vec<Option<usize>>);

/// Connects the ranks of this machine.
fn neighbours(job: &mut Job, machines: &[usize]) -> Result<Option<Shared>, CommError> {
    let rank = job.rank();
    let alone = |machine: usize| machines.iter().filter(|&&other| other == machine).count() == 1;
    if machines.iter().all(|&machine| alone(machine)) {
        return Ok(None);
    }
    let here: Vec<usize> =
        (0..machines.len()).filter(|&other| machines[other] == machines[rank]).collect();
    let place = here.iter().position(|&other| other == rank).unwrap_or(0);
    let mut memory = match here.len() {
        1 => None,
        count => Some(Memory::create(place, count)?),
    };
    let name = memory.as_ref().map_or("", Memory::name).to_owned();
    let names = job.exchange(name.as_bytes())?;
    if let Some(memory) = &mut memory {
        for (place, &other) in here.iter().enumerate().filter(|&(_, &other)| other != rank) {
            let odd = |_| CommError::Odd { rank: other };
            memory.connect(place, std::str::from_utf8(&names[other]).map_err(odd)?)?;
        }
    }
    job.fence()?;
    Ok(memory.map(|mut memory| {
        memory.unlink();
        let place = |other: usize| here.iter().position(|&here| here == other && other != rank);
        let places = (0..machines.len()).map(place).collect();
        (memory, places)
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_of_one_job_until_ranks_exchange_something() {
        let alone = || Job::joined_by(|_| None).unwrap();
        let (mut job, mut other) = (alone(), alone());
        let key = key_of(&mut job).unwrap();
        assert_eq!(key_of(&mut job).unwrap(), key);
        assert_ne!(key_of(&mut other).unwrap(), key);
        job.exchange(b"").unwrap();
        assert_ne!(key_of(&mut job).unwrap(), key);
    }
}

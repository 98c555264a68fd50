//! How the ranks of a job find each other.

use crosstie_launch::Job;

use super::{CommError, Options};
use crate::cores::Cores;
use crate::datagram::Address;
use crate::memory::{self, Memory, machine, shares_cores};
use crate::rail::absent::Absent;
use crate::rail::agree::{agree, numbered, spare};
use crate::rail::meeting::{self, Introduction, Joins, key_of};
use crate::rail::offer::Offer;
use crate::rail::{Rail, RailError};
use crate::rank::lookout::{Lookout, Slot};
use crate::rank::{Rank, RankSpec};

/// A rank's connections to the others.
pub(crate) struct Connected {
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

/// Connects a rank to all others.
pub(crate) fn connect(job: &mut Job, options: &Options) -> Result<Connected, CommError> {
    let (rank, size) = (job.rank(), job.size());
    let (Ok(own), Ok(all)) = (u16::try_from(rank), u16::try_from(size)) else {
        return Err(CommError::TooMany { found: size });
    };
    let key = key_of(job)?;
    let (found, missing) = match size {
        1 => Default::default(),
        _ => options.providers.present(options.rails.as_deref())?,
    };
    for missing in missing {
        eprintln!("crosstie: rank {rank}: {missing}; it is used when it appears");
    }
    let here = options.memory.then(memory::offer);
    let mine = Introduction {
        machine: machine(),
        note: Cores::allowed().write(),
        offers: found.iter().cloned().chain(here).collect(),
    };
    let everybody: Vec<Introduction> = meeting::introduce::<CommError>(job, &mine)?;
    let (ranks_each, ranks_per_core) = company(rank, &everybody)?;
    let machines = numbered(everybody.iter().map(|other| &other.machine[..]));
    // Shared memory is no rail, but offered among them.
    let split = |other: Introduction| other.offers.into_iter().partition(memory::is_offer);
    let (local, offers): (Vec<Vec<Offer>>, Vec<Vec<Offer>>) =
        everybody.into_iter().map(split).unzip();
    let neighbours = neighbours(&local, rank);
    let apart = neighbours.len() < size;

    let (mut agreed, mut rails) = (Vec::new(), Vec::<Box<dyn Rail>>::new());
    let mut networks: Vec<(String, String)> = Vec::new();
    if apart {
        // Without memory, ranks of one machine meet at its own stations.
        let meeting = if options.memory { machines.clone() } else { vec![0; size] };
        agreed = agree(&offers, &meeting)?;
        for rail in &agreed {
            let (kind, network) = rail.network(&offers);
            networks.push((kind.to_owned(), network.to_owned()));
            rails.push(match rail.offers[rank] {
                Some(which) => options.providers.open(which, &found, rail.longest)?,
                None => Box::new(Absent::new(network, rail.longest)),
            });
        }
        if let Some(longest) = agreed.iter().map(|rail| rail.longest).min() {
            for mut rail in spare(&offers, &meeting, &agreed, longest) {
                let (size, rails_then) = (size.max(2) as u32, agreed.len() as u32 + 1);
                if options.policy.policies(size, rails_then).is_err() {
                    break;
                }
                let (kind, network) = rail.network(&offers);
                rails.push(Box::new(Absent::new(network, longest)));
                networks.push((kind.to_owned(), network.to_owned()));
                rail.offers.fill(None);
                agreed.push(rail);
            }
        }
    }
    let memory = (neighbours.len() > 1).then(|| {
        let place = neighbours.iter().position(|&other| other == rank).unwrap_or(0);
        Memory::create(place, neighbours.len()).map_err(RailError::from)
    });
    let mut memory = memory.transpose()?;
    let mut slots = Vec::new();
    if size > 1 {
        let mut drivers: Vec<Joins<'_>> = Vec::new();
        for (driver, rail) in rails.iter_mut().zip(&agreed) {
            let has = |other: usize| rail.offers[other].is_some();
            let ranks = (0..size).map(|other| has(other).then_some(other)).collect();
            drivers.push(Joins { driver: has(rank).then_some(&mut **driver), ranks });
        }
        drivers.extend(memory.as_mut().map(|driver| {
            let ranks = neighbours.iter().copied().map(Some).collect();
            Joins { driver: Some(driver), ranks }
        }));
        let addresses = meeting::connect::<CommError>(job, drivers)?;
        for (place, rail) in agreed.iter().enumerate() {
            let device = rail.offers[rank].map(|which| found[which].device.clone());
            let address = device.as_ref().and_then(|_| Address::new(&addresses[rank][place]));
            let peer = |other: usize| {
                let there = other != rank && rail.offers[other].is_some();
                there.then(|| addresses[other].get(place).cloned()).flatten()
            };
            let peers = (0..size).map(peer).collect();
            let (network, longest) = (networks[place].clone(), rail.longest);
            slots.push(Slot { network, longest, device, address, peers });
        }
    }
    // No rank needs names of shared memory any more once all have come here.
    if (0..size).any(|other| self::neighbours(&local, other).len() > 1) {
        job.fence()?;
    }
    let memory = memory.map(|mut memory| {
        memory.unlink();
        let place = |other: usize| neighbours.iter().position(|&at| at == other && other != rank);
        (memory, (0..size).map(place).collect())
    });

    let count = rails.len().max(1);
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
    let mut engine = Rank::new(spec, &policies, rails, memory)?;
    for (number, rail) in (0u8..).zip(&agreed) {
        for other in (0..all).filter(|&other| other != own && !rail.joins(rank, other.into())) {
            engine.has_no_way(other, number);
        }
    }
    if apart {
        let devices = (options.providers.clone(), options.rails.clone());
        engine.look_out_by(Lookout::new(own, devices, &found, slots));
    }
    Ok(Connected { engine, ranks_each, ranks_per_core, machines })
}

/// The ranks that shared memory joins, this one among them.
fn neighbours(local: &[Vec<Offer>], rank: usize) -> Vec<usize> {
    let network = |rank: usize| local[rank].first().map(Offer::network);
    let joins = |&other: &usize| {
        other == rank || (network(rank).is_some() && network(other) == network(rank))
    };
    (0..local.len()).filter(joins).collect()
}

/// How many ranks share a core with this one, and how many there are per core; see [`Connected`].
fn company(rank: usize, everybody: &[Introduction]) -> Result<(u32, u32), RailError> {
    let read = |(rank, other): (usize, &Introduction)| {
        Cores::read(&other.note).ok_or(RailError::Odd { rank })
    };
    let cores: Vec<Cores> = everybody.iter().enumerate().map(read).collect::<Result<_, _>>()?;
    let beside = everybody.iter().zip(&cores);
    let own_machine = &everybody[rank].machine;
    let beside = beside.filter(|(other, _)| shares_cores(&other.machine, own_machine));
    let beside: Vec<&Cores> = beside.map(|(_, cores)| cores).collect();
    let all_here = beside.len() == everybody.len();
    let per_core = if all_here { Cores::ranks_per_core(&beside) } else { 1 };
    Ok((cores[rank].ranks_each(&beside), per_core))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_the_ranks_of_one_network_of_memory() {
        let on = |machine: &str| {
            let mut offer = memory::offer();
            machine.clone_into(&mut offer.device.network);
            vec![offer]
        };
        let local = [on("a"), on("b"), on("a"), vec![], vec![]];
        let all: Vec<Vec<usize>> = (0..5).map(|rank| neighbours(&local, rank)).collect();
        assert_eq!(all, [vec![0, 2], vec![1], vec![0, 2], vec![3], vec![4]]);
    }
}

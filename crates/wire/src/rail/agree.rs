//! Which devices of all ranks are a rail.
//!
//! Each rank *offers* its devices. A rail is a network in which devices of at least two machines
//! are. All ranks number them alike: those that join all ranks come first. A rank without a device
//! in a rail has an [`Absent`](super::absent::Absent) driver there.
//!
//! What hosts keep for themselves (the bridges of containers, say) is no rail: there several
//! machines have the same station. Of several devices that a rank has in one network the first is
//! part of a rail with the first of each other rank, the second with the second, and so on: one for
//! which no other machine has a partner is not used.
//!
//! Where two machines share no network, routers may join them: then the first devices of all that
//! are routed are a rail, and the second ones if all ranks have named as many, and so on.

use std::collections::BTreeMap;

use super::RailError;
use super::offer::Offer;
use super::provider::{MOST, names};

/// The most networks of one machine for which ranks keep a number.
const SPARE: usize = 2;

/// A rail as all ranks see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// Which of its offers each rank uses; `None`: it has no device there.
    pub offers: Vec<Option<usize>>,
    /// The most bytes of a datagram between any two.
    pub longest: usize,
}

impl Agreed {
    fn new(chosen: Vec<Option<usize>>, offers: &[Vec<Offer>]) -> Agreed {
        let mut rail = Agreed { offers: chosen, longest: 0 };
        rail.longest = rail.used(offers).map(|(_, offer)| offer.device.longest).min().unwrap_or(0);
        rail
    }

    /// The ranks that have a device there, and these.
    fn used<'a>(&self, offers: &'a [Vec<Offer>]) -> impl Iterator<Item = (usize, &'a Offer)> {
        let all = self.offers.iter().zip(offers).enumerate();
        all.filter_map(|(rank, (chosen, offers))| Some((rank, &offers[(*chosen)?])))
    }

    /// Returns true if all ranks have a device there.
    pub fn joins_all(&self) -> bool {
        self.offers.iter().all(Option::is_some)
    }

    /// Returns true if both ranks have a device there.
    pub fn joins(&self, one: usize, other: usize) -> bool {
        self.offers[one].is_some() && self.offers[other].is_some()
    }

    /// Returns true if no two machines have the same station: those do not meet.
    fn meets(&self, offers: &[Vec<Offer>], machines: &[usize]) -> bool {
        let mut stations = BTreeMap::new();
        let mut used = self.used(offers);
        used.all(|(rank, offer)| {
            *stations.entry(&offer.device.station).or_insert(machines[rank]) == machines[rank]
        })
    }

    /// The kind of its devices and the network, in which the first of them is.
    pub fn network<'a>(&self, offers: &'a [Vec<Offer>]) -> (&'a str, &'a str) {
        self.used(offers).next().map_or(("", ""), |(_, offer)| offer.network())
    }
}

/// Machines by numbers: equal names have equal ones.
pub fn numbered<'a>(names: impl Iterator<Item = &'a str>) -> Vec<usize> {
    let mut numbers = BTreeMap::new();
    names
        .map(|name| {
            let next = numbers.len();
            *numbers.entry(name).or_insert(next)
        })
        .collect()
}

/// The rails of a job, from what each rank offers. All ranks find the same. `machines` tells ranks
/// of one machine by equal numbers; where all are equal, any two ranks are to be joined if any are.
pub fn agree(offers: &[Vec<Offer>], machines: &[usize]) -> Result<Vec<Agreed>, RailError> {
    let apart = machines.iter().any(|machine| *machine != machines[0]);
    let are_apart = |one: usize, other: usize| !apart || machines[one] != machines[other];
    let unjoined = |rails: &[Agreed]| {
        let pairs = (0..offers.len()).flat_map(|other| (0..other).map(move |one| (one, other)));
        let mut pairs = pairs.filter(|&(one, other)| are_apart(one, other));
        pairs.find(|&(one, other)| !rails.iter().any(|rail| rail.joins(one, other)))
    };
    let mut rails: Vec<Agreed> = networks(offers)
        .into_iter()
        .map(|chosen| Agreed::new(chosen, offers))
        .filter(|rail| {
            let ranks: Vec<usize> = rail.used(offers).map(|(rank, _)| rank).collect();
            let joins = ranks.iter().skip(1).any(|&rank| are_apart(ranks[0], rank));
            (joins || rail.joins_all()) && rail.meets(offers, machines)
        })
        .collect();
    // Those that join all ranks come first; the sort is stable.
    rails.sort_by_key(|rail| !rail.joins_all());
    rails.truncate(MOST);
    let Some(pair) = unjoined(&rails) else { return Ok(rails) };
    let routed = by_place(offers, machines);
    match (routed.is_empty(), rails.is_empty() && !apart) {
        (false, _) => Ok(routed),
        // Ranks of one machine without any device.
        (true, true) => Ok(rails),
        (true, false) => {
            let devices = |rank: usize| names(offers[rank].iter().map(|offer| &offer.device));
            let (one, rank) = pair;
            Err(RailError::Apart { one, first: devices(one), rank, other: devices(rank) })
        }
    }
}

/// Networks of one machine, the first few of all: no rank uses them, but all ranks keep a number
/// behind those of their rails for each, in case that a device of another machine comes there.
/// Their datagrams have up to `longest` bytes, as those of the rails.
pub fn spare(
    offers: &[Vec<Offer>],
    machines: &[usize],
    rails: &[Agreed],
    longest: usize,
) -> Vec<Agreed> {
    let is_spare = |network: &Agreed| {
        let mut all = network.used(offers).map(|(rank, _)| rank);
        let Some(first) = all.next() else { return false };
        let used = rails.iter().any(|rail| rail.offers[first] == network.offers[first]);
        !used && all.all(|rank| machines[rank] == machines[first])
    };
    networks(offers)
        .into_iter()
        .map(|chosen| Agreed { longest, offers: chosen })
        .filter(is_spare)
        .take(SPARE.min(MOST - rails.len()))
        .collect()
}

/// The networks of all offers, in the order in which ranks offer them: which offer each rank has
/// there. Those of several devices in a network are told apart by their places among these.
fn networks(offers: &[Vec<Offer>]) -> Vec<Vec<Option<usize>>> {
    let mut numbers = BTreeMap::new();
    let mut all: Vec<Vec<Option<usize>>> = Vec::new();
    for (rank, offered) in offers.iter().enumerate() {
        let mut places = BTreeMap::new();
        for (which, offer) in offered.iter().enumerate() {
            let place: &mut usize = places.entry(offer.network()).or_default();
            let number = *numbers.entry((offer.network(), *place)).or_insert(all.len());
            *place += 1;
            if number == all.len() {
                all.push(vec![None; offers.len()]);
            }
            all[number][rank] = Some(which);
        }
    }
    all
}

/// The devices of all ranks by place, where routers join them.
fn by_place(offers: &[Vec<Offer>], machines: &[usize]) -> Vec<Agreed> {
    let routed = |offers: &Vec<Offer>| -> Vec<usize> {
        (0..offers.len()).filter(|&which| offers[which].device.routed).collect()
    };
    let routed: Vec<Vec<usize>> = offers.iter().map(routed).collect();
    let least = routed.iter().map(Vec::len).min().unwrap_or(0);
    let alike = routed.iter().all(|routed| routed.len() == least);
    let one_kind = |rail: &Agreed| {
        let mut kinds = rail.used(offers).map(|(_, offer)| &offer.provider);
        let first = kinds.next();
        kinds.all(|kind| Some(kind) == first)
    };
    (0..if alike { least } else { least.min(1) })
        .map(|place| routed.iter().map(|routed| Some(routed[place])).collect())
        .map(|chosen| Agreed::new(chosen, offers))
        .filter(|rail| one_kind(rail) && rail.meets(offers, machines))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rail::Device;

    /// Offers of a kind: names, stations and networks. The last byte of a station is the rank's.
    fn offers(kind: &str, devices: &[(&str, &str, &str)]) -> Vec<Offer> {
        let offer = |&(name, station, network): &(&str, &str, &str)| Offer {
            provider: kind.to_owned(),
            device: Device {
                name: name.to_owned(),
                station: station.to_owned(),
                network: network.to_owned(),
                routed: kind == "udp",
                longest: 1472,
            },
        };
        devices.iter().map(offer).collect()
    }

    #[test]
    fn rails_are_the_networks_in_which_all_have_a_device() {
        let bridge = ("docker0", "172.17.0.1", "172.17.0.0");
        let mut all = [
            offers("udp", &[("e0", "a.1", "a"), ("e1", "b.1", "b"), ("e2", "c.1", "c")]),
            offers("udp", &[("x", "c.2", "c"), ("y", "a.2", "a"), bridge]),
            offers("udp", &[bridge, ("p", "a.3", "a"), ("q", "c.3", "c")]),
        ];
        all[1][1].device.longest = 1000;
        let rails = agree(&all, &[0, 1, 2]).unwrap();
        let chosen: Vec<_> = rails.iter().map(|rail| (rail.offers.clone(), rail.longest)).collect();
        let all = |which: [usize; 3]| which.map(Some).to_vec();
        assert_eq!(chosen, [(all([0, 1, 1]), 1000), (all([2, 0, 2]), 1472)]);
    }

    #[test]
    fn networks_of_some_ranks_are_rails_behind_those_of_all() {
        let x = |rank: u8| ("e0", format!("x.{rank}"), "x");
        let y = |rank: u8| ("e1", format!("y.{rank}"), "y");
        let own = || ("docker0", "172.17.0.1".to_owned(), "172.17.0.0");
        let of = |devices: &[(&str, String, &str)]| {
            let devices =
                devices.iter().map(|(name, station, network)| (*name, &station[..], *network));
            offers("udp", &devices.collect::<Vec<_>>())
        };
        // A network with one machine is none, nor is one where two have the same station.
        let all = [
            of(&[y(1), own(), x(1)]),
            of(&[x(2), ("e9", "z.2".into(), "z"), own()]),
            of(&[x(3), y(3)]),
        ];
        let rails = agree(&all, &[0, 1, 2]).unwrap();
        let chosen: Vec<_> = rails.iter().map(|rail| rail.offers.clone()).collect();
        assert_eq!(chosen, [vec![Some(2), Some(0), Some(0)], vec![Some(0), None, Some(1)]]);
        assert_eq!((rails[1].network(&all).1, rails[1].joins_all()), ("y", false));
        // No network joins all, but one does any two.
        let ring = [
            of(&[x(1), y(1)]),
            of(&[y(2), ("e2", "z.2".into(), "z")]),
            of(&[("e2", "z.3".into(), "z"), x(3)]),
        ];
        assert_eq!(agree(&ring, &[0, 1, 2]).unwrap().len(), 3);
        // Of two ranks on a machine none needs a rail to the other.
        let line = [of(&[x(1)]), of(&[x(2), y(2)]), of(&[x(2), y(2)])];
        assert_eq!(agree(&line, &[0, 1, 1]).unwrap().len(), 1, "y has one machine");
        let mut apart = [of(&[x(1)]), of(&[x(2), y(2)]), of(&[y(3)])];
        assert_eq!(agree(&apart, &[0, 1, 2]).unwrap()[0].offers, vec![Some(0); 3], "by routers");
        apart.iter_mut().flatten().for_each(|offer| offer.device.routed = false);
        let error = agree(&apart, &[0, 1, 2]).unwrap_err().to_string();
        assert!(error.contains("rank 0 and rank 2") && error.contains("e1 (y.3)"), "{error}");
        assert_eq!(agree(&apart, &[0, 1, 0]).unwrap().len(), 2, "ranks 0 and 2 have memory");
    }

    #[test]
    fn networks_of_one_machine_are_spare_unless_a_rail_uses_their_device() {
        let own = ("docker0", "172.17.0.1", "172.17.0.0");
        let all = [
            offers("udp", &[("e0", "x.1", "x"), own, ("e1", "y.1", "y")]),
            offers("udp", &[("e0", "x.1", "x"), own, ("e1", "y.1", "y")]),
            offers("udp", &[own, ("e0", "x.2", "x"), ("e2", "z.2", "z")]),
        ];
        let machines = [0, 0, 1];
        let rails = agree(&all, &machines).unwrap();
        let spare = |all: &[Vec<Offer>], rails: &[Agreed]| -> Vec<String> {
            let spare = super::spare(all, &machines, rails, 1472);
            spare.iter().map(|rail| rail.network(all).1.to_owned()).collect()
        };
        assert_eq!((rails.len(), spare(&all, &rails)), (1, vec!["y".to_owned(), "z".to_owned()]));
        let routed = [("a.1", "a"), ("a.1", "a"), ("b.1", "b")];
        let routed = routed.map(|(station, network)| offers("udp", &[("e0", station, network)]));
        let rails = agree(&routed, &machines).unwrap();
        assert_eq!((rails.len(), spare(&routed, &rails)), (1, vec![]));
    }

    #[test]
    fn what_a_machine_keeps_for_itself_is_no_rail() {
        let own = offers("udp", &[("docker0", "172.17.0.1", "172.17.0.0")]);
        assert_eq!(agree(&[own.clone(), own.clone()], &[0, 0]).unwrap().len(), 1);
        let error = agree(&[own.clone(), own], &[0, 1]).unwrap_err();
        assert!(error.to_string().contains("docker0 (172.17.0.1)"), "{error}");
        let none = agree(&[vec![], vec![]], &[0, 1]).unwrap_err();
        assert!(none.to_string().contains("rank 0 has none"), "{none}");
        assert_eq!(agree(&[vec![], vec![]], &[0, 0]).unwrap(), []);
    }

    #[test]
    fn two_devices_in_one_network_are_two_rails() {
        let one = |rank: u8| {
            let stations = [format!("a.{rank}"), format!("a.1{rank}")];
            offers("udp", &[("e0", &stations[0], "a"), ("e1", &stations[1], "a")])
        };
        let rails = agree(&[one(1), one(2)], &[0, 1]).unwrap();
        let chosen = |rails: &[Agreed]| -> Vec<Vec<Option<usize>>> {
            rails.iter().map(|rail| rail.offers.clone()).collect()
        };
        assert_eq!(chosen(&rails), [[Some(0); 2], [Some(1); 2]]);
        // The first ones pair up where a rank has only one.
        let mut three = [one(1), one(2), one(3)];
        three[1].pop();
        let rails = agree(&three, &[0, 1, 2]).unwrap();
        assert_eq!(chosen(&rails), [vec![Some(0); 3], vec![Some(1), None, Some(1)]]);
        assert_eq!(agree(&three[..2], &[0, 1]).unwrap().len(), 1, "nobody is there to meet");
    }

    #[test]
    fn routers_join_devices_by_place() {
        let a = offers("udp", &[("e0", "a.1", "a"), ("e1", "b.1", "b")]);
        let b = offers("udp", &[("e0", "c.1", "c"), ("e1", "d.1", "d")]);
        assert_eq!(agree(&[a.clone(), b.clone()], &[0, 1]).unwrap().len(), 2);
        let c = offers("udp", &[("e0", "e.1", "e")]);
        assert_eq!(agree(&[a.clone(), b, c], &[0, 1, 2]).unwrap().len(), 1);
        // Not those that no router knows.
        let d = offers("toy", &[("e0", "f.1", "f"), ("e1", "g.1", "g")]);
        assert!(agree(&[d.clone(), a.clone()], &[0, 1]).is_err());
        let mixed = [d, offers("udp", &[("e2", "h.1", "h")])].concat();
        assert_eq!(agree(&[mixed, a], &[0, 1]).unwrap()[0].offers, [Some(2), Some(0)]);
    }

    #[test]
    fn devices_of_different_kinds_do_not_meet() {
        let udp = offers("udp", &[("e0", "a.1", "a")]);
        let toy = offers("toy", &[("e0", "a.2", "a")]);
        assert!(agree(&[udp.clone(), toy.clone()], &[0, 1]).is_err());
        let both = [udp.clone(), toy].concat();
        let mut other = both.clone();
        other.iter_mut().for_each(|offer| offer.device.station.push('0'));
        assert_eq!(agree(&[both, other], &[0, 1]).unwrap().len(), 2);
    }
}

//! Which devices of all ranks are a rail.
//!
//! Each rank *offers* its devices. A rail is a network in which every rank has one. What hosts keep
//! for themselves (the bridges of containers, say) is no rail: there several machines have the same
//! station. Where ranks share no network, they may be joined by routers: then the first devices of
//! all that are routed are a rail, and the second ones if all ranks have named as many, and so on.

use std::collections::BTreeMap;

use super::RailError;
use super::offer::Offer;
use super::provider::names;

/// A rail as all ranks see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// Which of its offers each rank uses.
    pub offers: Vec<usize>,
    /// The most bytes of a datagram between any two.
    pub longest: usize,
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

/// The rails that join all ranks, from what each offers. All ranks find the same. `machines` tells
/// ranks of one machine by equal numbers.
pub fn agree(offers: &[Vec<Offer>], machines: &[usize]) -> Result<Vec<Agreed>, RailError> {
    let Some(first) = offers.first() else { return Ok(Vec::new()) };
    let agreed = |chosen: Vec<usize>| {
        let all = chosen.iter().zip(offers).map(|(&which, offers)| offers[which].device.longest);
        Agreed { longest: all.min().unwrap_or(0), offers: chosen }
    };
    // Two machines with one station do not meet.
    let meets = |agreed: &Agreed| {
        let stations = agreed.offers.iter().zip(offers);
        let stations = stations.map(|(&which, offers)| &offers[which].device.station);
        let all = stations.zip(machines);
        all.clone().enumerate().all(|(rank, (station, machine))| {
            let mut others = all.clone().take(rank);
            others.all(|(other, at)| station != other || machine == at)
        })
    };
    let mut rails: Vec<Agreed> = Vec::new();
    for offer in first {
        let used = |rank: usize, which: usize| rails.iter().any(|rail| rail.offers[rank] == which);
        let find = |(rank, offers): (usize, &Vec<Offer>)| {
            let fits =
                |which: &usize| offers[*which].network() == offer.network() && !used(rank, *which);
            (0..offers.len()).find(fits)
        };
        let chosen: Option<Vec<usize>> = offers.iter().enumerate().map(find).collect();
        rails.extend(chosen.map(agreed).filter(meets));
    }
    if !rails.is_empty() {
        return Ok(rails);
    }
    // By place, where routers join them.
    let routed = |offers: &Vec<Offer>| -> Vec<usize> {
        (0..offers.len()).filter(|&which| offers[which].device.routed).collect()
    };
    let routed: Vec<Vec<usize>> = offers.iter().map(routed).collect();
    let least = routed.iter().map(Vec::len).min().unwrap_or(0);
    let alike = routed.iter().all(|routed| routed.len() == least);
    let one_kind = |agreed: &Agreed| {
        let all = agreed.offers.iter().zip(offers);
        let mut kinds = all.map(|(&which, offers)| &offers[which].provider);
        let first = kinds.next();
        kinds.all(|kind| Some(kind) == first)
    };
    let rails: Vec<Agreed> = (0..if alike { least } else { least.min(1) })
        .map(|place| agreed(routed.iter().map(|routed| routed[place]).collect()))
        .filter(|agreed| one_kind(agreed) && meets(agreed))
        .collect();
    let apart = machines.iter().position(|&machine| machine != machines[0]);
    match (rails.is_empty(), apart) {
        (true, Some(rank)) => {
            let devices = |rank: usize| names(offers[rank].iter().map(|offer| &offer.device));
            Err(RailError::Apart { first: devices(0), rank, other: devices(rank) })
        }
        _ => Ok(rails),
    }
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
        assert_eq!(chosen, [(vec![0, 1, 1], 1000), (vec![2, 0, 2], 1472)]);
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
        assert_eq!(rails.iter().map(|rail| &rail.offers[..]).collect::<Vec<_>>(), [[0, 0], [1, 1]]);
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
        assert_eq!(agree(&[mixed, a], &[0, 1]).unwrap()[0].offers, [2, 0]);
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

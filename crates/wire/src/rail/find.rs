//! Which rails there are: every address of this host that the others can reach, or those that are
//! named.
//!
//! Each rank offers its *cards*. A rail is a network in which every rank has one. What hosts keep
//! for themselves (the bridges of containers, say) is no rail: there several machines have the same
//! address. Where ranks share no network, they are joined by routers: then the first cards of all
//! are a rail, and the second ones if all ranks have named as many, and so on.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

/// An address of this host, and the device that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Card {
    /// The device.
    pub device: String,
    /// The address.
    pub address: IpAddr,
    /// The bits of it that are the network's.
    pub prefix: u8,
    /// The most that a packet carries, heads of IP and UDP included.
    pub mtu: usize,
}

/// The least that a packet of any network must carry, for whoever says less is wrong.
const LEAST_MTU: usize = 576;

/// The longest name of a device, for whoever says a longer one is wrong.
const LONGEST_NAME: usize = 256;

/// The most cards that a rank offers.
pub const MOST: usize = 16;

/// Why there is no rail.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// A name is none.
    #[error(
        "CROSSTIE_RAILS names `{name}`, which is no device with an address, or address, of this host; there are: {known}"
    )]
    Unknown {
        /// What was named.
        name: String,
        /// What there is.
        known: String,
    },
    /// Too many names.
    #[error("found {found} rails, expected at most {MOST}: name fewer in CROSSTIE_RAILS")]
    TooMany {
        /// How many.
        found: usize,
    },
    /// The system does not tell its addresses.
    #[error("the addresses of this host cannot be listed ({cause}): name them in CROSSTIE_RAILS")]
    Unlisted {
        /// Why.
        cause: String,
    },
    /// What another rank says of its cards is not understood.
    #[error("rank {rank} offers cards that are none: it may be of another version")]
    Odd {
        /// Who.
        rank: usize,
    },
    /// Nothing joins the machines.
    #[error(
        "no network joins all machines: rank 0 has {first}, rank {rank} has {other}; name the right ones in CROSSTIE_RAILS"
    )]
    Apart {
        /// What rank 0 has.
        first: String,
        /// Who has something else.
        rank: usize,
        /// What.
        other: String,
    },
}

impl Card {
    /// Whether another card is in the same network.
    pub fn shares_network(&self, other: &Card) -> bool {
        self.network() == other.network()
    }

    /// The network that it is in.
    fn network(&self) -> (u128, u8) {
        let (bits, width) = match self.address {
            IpAddr::V4(address) => (u128::from(u32::from(address)), 32),
            IpAddr::V6(address) => (u128::from(address), 128),
        };
        let host = u32::from(width - self.prefix.min(width));
        (bits.checked_shr(host).unwrap_or(0).checked_shl(host).unwrap_or(0), width)
    }
}

/// The cards of this host: those that are named, by device or address, in this order; otherwise all
/// that lead to others. A device that is down is a card too if it has an address: it may come up at
/// any time.
pub fn cards(named: Option<&str>) -> Result<Vec<Card>, FindError> {
    let all = system::list()?;
    let chosen = match named.map(str::trim).filter(|named| !named.is_empty()) {
        Some(named) => choose(&all, named)?,
        None => useful(&all),
    };
    match chosen.len() {
        found if found > MOST => Err(FindError::TooMany { found }),
        _ => Ok(chosen),
    }
}

/// Those that are named.
fn choose(all: &[Card], named: &str) -> Result<Vec<Card>, FindError> {
    let find = |name: &str| {
        let by_device = all.iter().find(|card| card.device == name);
        let address = name.parse::<IpAddr>().ok();
        let card = by_device.or_else(|| all.iter().find(|card| Some(card.address) == address));
        card.cloned().ok_or_else(|| FindError::Unknown { name: name.to_owned(), known: names(all) })
    };
    named.split(',').map(|name| find(name.trim())).collect()
}

fn names(cards: &[Card]) -> String {
    let names: Vec<String> =
        cards.iter().map(|card| format!("{} ({})", card.device, card.address)).collect();
    if names.is_empty() { "none".to_owned() } else { names.join(", ") }
}

/// One card of every device that leads to others; those with addresses of version 4 if there are
/// any.
fn useful(all: &[Card]) -> Vec<Card> {
    let leads = |card: &&Card| match card.address {
        IpAddr::V4(address) => !address.is_loopback() && !address.is_link_local(),
        IpAddr::V6(address) => !address.is_loopback() && !address.is_unicast_link_local(),
    };
    let mut cards: Vec<Card> = all.iter().filter(leads).cloned().collect();
    if cards.iter().any(|card| card.address.is_ipv4()) {
        cards.retain(|card| card.address.is_ipv4());
    }
    let mut seen = Vec::new();
    cards.retain(|card| {
        let new = !seen.contains(&card.device);
        seen.push(card.device.clone());
        new
    });
    cards.truncate(MOST);
    cards
}

/// A card with the port at which a rank listens on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The card.
    pub card: Card,
    /// The port.
    pub port: u16,
}

impl Offer {
    fn address(&self) -> SocketAddr {
        SocketAddr::new(self.card.address, self.port)
    }
}

/// Offers as text: a line for each.
pub fn write(offers: &[Offer]) -> String {
    let line = |Offer { card: Card { device, address, prefix, mtu }, port }: &Offer| {
        format!("{address} {prefix} {mtu} {port} {device}\n")
    };
    offers.iter().map(line).collect()
}

/// Reads what [`write()`] has written; `None` if it has not.
pub fn read(text: &str) -> Option<Vec<Offer>> {
    let offer = |line: &str| {
        let mut words = line.splitn(5, ' ');
        let address: IpAddr = words.next()?.parse().ok()?;
        let prefix: u8 = words.next()?.parse().ok()?;
        let mtu: usize = words.next()?.parse().ok()?;
        let port: u16 = words.next()?.parse().ok()?;
        let device = words.next()?.to_owned();
        let fits = prefix <= if address.is_ipv4() { 32 } else { 128 };
        let fits = fits && (LEAST_MTU..=1 << 20).contains(&mtu) && port > 0;
        // It may be shown to somebody.
        let fits = fits && device.len() <= LONGEST_NAME && !device.chars().any(char::is_control);
        fits.then_some(Offer { card: Card { device, address, prefix, mtu }, port })
    };
    let offers: Option<Vec<Offer>> =
        text.split_terminator('\n').take(MOST + 1).map(offer).collect();
    offers.filter(|offers| offers.len() <= MOST)
}

/// A rail as all ranks see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreed {
    /// Which of its offers each rank uses.
    pub offers: Vec<usize>,
    /// Where each rank is reached.
    pub addresses: Vec<SocketAddr>,
    /// The most that a packet carries on the way between any two.
    pub mtu: usize,
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
pub fn agree(offers: &[Vec<Offer>], machines: &[usize]) -> Result<Vec<Agreed>, FindError> {
    let Some(first) = offers.first() else { return Ok(Vec::new()) };
    let agreed = |chosen: Vec<usize>| {
        let all = || chosen.iter().zip(offers).map(|(&which, offers)| &offers[which]);
        Agreed {
            addresses: all().map(Offer::address).collect(),
            mtu: all().map(|offer| offer.card.mtu).min().unwrap_or(0),
            offers: chosen,
        }
    };
    // Two machines with one address do not meet.
    let meets = |agreed: &Agreed| {
        let all = agreed.addresses.iter().zip(machines);
        all.clone().enumerate().all(|(rank, (address, machine))| {
            let mut others = all.clone().take(rank);
            others.all(|(other, at)| address.ip() != other.ip() || machine == at)
        })
    };
    let mut rails: Vec<Agreed> = Vec::new();
    for offer in first {
        let network = offer.card.network();
        let used = |rank: usize, which: usize| rails.iter().any(|rail| rail.offers[rank] == which);
        let find = |(rank, offers): (usize, &Vec<Offer>)| {
            let fits =
                |which: &usize| offers[*which].card.network() == network && !used(rank, *which);
            (0..offers.len()).find(fits)
        };
        let chosen: Option<Vec<usize>> = offers.iter().enumerate().map(find).collect();
        rails.extend(chosen.map(agreed).filter(meets));
    }
    if !rails.is_empty() {
        return Ok(rails);
    }
    // By place, where routers join them.
    let least = offers.iter().map(Vec::len).min().unwrap_or(0);
    let alike = offers.iter().all(|offers| offers.len() == least);
    let rails: Vec<Agreed> = (0..if alike { least } else { least.min(1) })
        .map(|place| agreed(vec![place; offers.len()]))
        .filter(meets)
        .collect();
    let apart = machines.iter().position(|&machine| machine != machines[0]);
    match (rails.is_empty(), apart) {
        (true, Some(rank)) => {
            let cards = |rank: usize| -> Vec<Card> {
                offers[rank].iter().map(|offer| offer.card.clone()).collect()
            };
            Err(FindError::Apart { first: names(&cards(0)), rank, other: names(&cards(rank)) })
        }
        _ => Ok(rails),
    }
}

#[cfg(unix)]
mod system {
    use super::{Card, FindError, LEAST_MTU};
    use std::net::IpAddr;

    /// The addresses of all devices.
    pub fn list() -> Result<Vec<Card>, FindError> {
        let all = nix::ifaddrs::getifaddrs()
            .map_err(|error| FindError::Unlisted { cause: error.to_string() })?;
        let card = |entry: nix::ifaddrs::InterfaceAddress| {
            let (address, mask) = (entry.address?, entry.netmask?);
            let (address, ones) = match (address.as_sockaddr_in(), address.as_sockaddr_in6()) {
                (Some(four), _) => {
                    let mask = u32::from(mask.as_sockaddr_in()?.ip());
                    (IpAddr::V4(four.ip()), mask.count_ones())
                }
                (_, Some(six)) => {
                    let mask = u128::from(mask.as_sockaddr_in6()?.ip());
                    (IpAddr::V6(six.ip()), mask.count_ones())
                }
                _ => return None,
            };
            let mtu = mtu(&entry.interface_name);
            Some(Card { device: entry.interface_name, address, prefix: ones as u8, mtu })
        };
        Ok(all.filter_map(card).collect())
    }

    /// What packets of a device carry; that of every Ethernet where the system does not tell.
    fn mtu(device: &str) -> usize {
        let told = std::fs::read_to_string(format!("/sys/class/net/{device}/mtu"));
        let told = told.ok().and_then(|text| text.trim().parse().ok());
        told.unwrap_or(1500).max(LEAST_MTU)
    }
}

#[cfg(not(unix))]
mod system {
    use super::{Card, FindError};

    /// Other systems are not asked.
    pub fn list() -> Result<Vec<Card>, FindError> {
        Err(FindError::Unlisted { cause: "this needs a unix".to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn card(device: &str, address: &str, prefix: u8) -> Card {
        Card { device: device.to_owned(), address: address.parse().unwrap(), prefix, mtu: 1500 }
    }

    /// Offers with ports that tell the cards of a rank apart.
    fn offer(cards: &[(&str, &str, u8)]) -> Vec<Offer> {
        let cards = cards.iter().map(|&(device, address, prefix)| card(device, address, prefix));
        cards.zip(7000..).map(|(card, port)| Offer { card, port }).collect()
    }

    #[test]
    fn rails_are_the_networks_in_which_all_have_a_card() {
        let offers = [
            offer(&[("e0", "10.0.0.1", 16), ("e1", "10.1.0.1", 16), ("e2", "10.2.0.1", 16)]),
            offer(&[("x", "10.2.0.2", 16), ("y", "10.0.7.2", 16), ("docker0", "172.17.0.1", 16)]),
            offer(&[("docker0", "172.17.0.1", 16), ("p", "10.0.0.3", 16), ("q", "10.2.0.3", 16)]),
        ];
        let rails = agree(&offers, &[0, 1, 2]).unwrap();
        let chosen: Vec<_> = rails.iter().map(|rail| rail.offers.clone()).collect();
        assert_eq!(chosen, [[0, 1, 1], [2, 0, 2]]);
        assert_eq!(rails[1].addresses[1], "10.2.0.2:7000".parse().unwrap());
    }

    #[test]
    fn what_a_machine_keeps_for_itself_is_no_rail() {
        let own = offer(&[("docker0", "172.17.0.1", 16)]);
        assert_eq!(agree(&[own.clone(), own.clone()], &[0, 0]).unwrap().len(), 1);
        let error = agree(&[own.clone(), own], &[0, 1]).unwrap_err();
        assert!(error.to_string().contains("docker0 (172.17.0.1)"), "{error}");
        let none = agree(&[offer(&[]), offer(&[])], &[0, 1]).unwrap_err();
        assert!(none.to_string().contains("rank 0 has none"), "{none}");
        assert_eq!(agree(&[offer(&[]), offer(&[])], &[0, 0]), Ok(vec![]));
    }

    #[test]
    fn two_cards_in_one_network_are_two_rails() {
        let offers = [
            offer(&[("e0", "10.0.0.1", 8), ("e1", "10.1.0.1", 8)]),
            offer(&[("e0", "10.0.0.2", 8), ("e1", "10.1.0.2", 8)]),
        ];
        let rails = agree(&offers, &[0, 1]).unwrap();
        assert_eq!(rails.iter().map(|rail| &rail.offers[..]).collect::<Vec<_>>(), [[0, 0], [1, 1]]);
    }

    #[test]
    fn routers_join_cards_by_place() {
        let a = offer(&[("e0", "10.0.0.1", 24), ("e1", "10.1.0.1", 24)]);
        let b = offer(&[("e0", "10.0.1.1", 24), ("e1", "10.1.1.1", 24)]);
        assert_eq!(agree(&[a.clone(), b.clone()], &[0, 1]).unwrap().len(), 2);
        let c = offer(&[("e0", "10.0.2.1", 24)]);
        assert_eq!(agree(&[a, b, c], &[0, 1, 2]).unwrap().len(), 1);
    }

    #[test]
    fn named_cards_are_found_by_device_or_address() {
        let all =
            [card("lo", "127.0.0.1", 8), card("e0", "10.0.0.1", 8), card("e0", "fe80::1", 64)];
        assert_eq!(choose(&all, "10.0.0.1, lo").unwrap(), [all[1].clone(), all[0].clone()]);
        let error = choose(&all, "e0,eth7").unwrap_err().to_string();
        assert!(error.contains("`eth7`") && error.contains("e0 (10.0.0.1)"), "{error}");
        assert_eq!(useful(&all), [all[1].clone()]);
        assert!(cards(Some("127.0.0.1")).is_ok() || cfg!(not(unix)));
    }

    proptest! {
        #[test]
        fn offers_are_read_as_written(four: [u8; 4], six: [u16; 8], prefix in 0..=32u8, port in 1..=u16::MAX) {
            let offer = |address: IpAddr| Offer {
                card: Card { device: "a b".to_owned(), address, prefix, mtu: 9000 }, port,
            };
            let offers = [offer(four.into()), offer(six.into())];
            prop_assert_eq!(read(&write(&offers)).unwrap(), offers);
        }

        #[test]
        fn anything_may_be_offered(text: String, cut in 0..40usize) {
            let _ = read(&text);
            let good = write(&offer(&[("e0", "10.0.0.1", 8)]));
            let _ = read(&good[..cut.min(good.len())]);
        }
    }
}

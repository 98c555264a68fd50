//! What ranks tell each other of their devices. It comes from other hosts and may be anything.

use super::provider::{Device, MOST, Provider};

/// The fewest bytes that the longest datagram of a rail may have: what IP promises of any network.
pub const LEAST: usize = 576 - 48;

/// The most.
const LONGEST: usize = 1 << 20;

/// The most bytes of a text.
const TEXT: usize = 256;

/// A device with its kind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Offer {
    /// The name of its provider.
    pub provider: String,
    /// The device.
    pub device: Device,
}

impl Offer {
    /// A device of a provider.
    pub fn of(provider: &dyn Provider, device: Device) -> Offer {
        Offer { provider: provider.name().to_owned(), device }
    }

    /// What it reaches: devices of this kind in this network.
    pub fn network(&self) -> (&str, &str) {
        (&self.provider, &self.device.network)
    }

    /// Returns true if another of these is in the same network.
    pub(crate) fn is_crowded(&self, all: &[Offer]) -> bool {
        all.iter().filter(|other| other.network() == self.network()).count() > 1
    }

    fn line(&self) -> String {
        let Offer { provider, device: Device { name, station, network, routed, longest } } = self;
        let routed = if *routed { "routed" } else { "-" };
        format!("{provider}\t{longest}\t{routed}\t{network}\t{station}\t{name}\n")
    }

    fn of_line(line: &str) -> Option<Offer> {
        let words: Vec<&str> = line.splitn(7, '\t').collect();
        let &[provider, longest, routed, network, station, name] = &words[..] else { return None };
        let longest = longest.parse().ok().filter(|longest| (LEAST..=LONGEST).contains(longest))?;
        let routed = match routed {
            "routed" => true,
            "-" => false,
            _ => return None,
        };
        // They may be shown to a user.
        let fits = |text: &&str| text.len() <= TEXT && !text.chars().any(char::is_control);
        let text = |text: &str| Some(text).filter(fits).map(str::to_owned);
        let device = Device {
            name: text(name)?,
            station: text(station)?,
            network: text(network)?,
            routed,
            longest,
        };
        Some(Offer { provider: text(provider)?, device })
    }
}

/// Offers as text: a line for each.
pub fn write(offers: &[Offer]) -> String {
    offers.iter().map(Offer::line).collect()
}

/// Reads what [`write()`] has written; `None` if it has not. Shared memory is one more than rails.
pub fn read(text: &str) -> Option<Vec<Offer>> {
    let offers = text.split_terminator('\n').take(MOST + 2).map(Offer::of_line);
    let offers: Option<Vec<Offer>> = offers.collect();
    offers.filter(|offers| offers.len() <= MOST + 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn offer(provider: &str, name: &str, longest: usize, routed: bool) -> Offer {
        let (station, network) = ("10.0.0.1".to_owned(), "10.0.0.0".to_owned());
        let device = Device { name: name.to_owned(), station, network, routed, longest };
        Offer { provider: provider.to_owned(), device }
    }

    #[test]
    fn what_cannot_be_is_not_read() {
        let good = write(&[offer("udp", "e 0", 1472, true)]);
        assert!(read(&good).is_some() && read("").is_some());
        for (from, to) in [
            ("1472", "100"),
            ("1472", "9999999999999999999999"),
            ("routed", "rooted"),
            ("e 0", "e\u{1b}0"),
            ("udp", "udp\tudp"),
            ("\te 0", ""),
        ] {
            assert_eq!(read(&good.replace(from, to)), None, "{from} -> {to}");
        }
        assert_eq!(read(&good.replace("e 0", &"e".repeat(300))), None);
        assert!(read(&good.repeat(MOST + 1)).is_some());
        assert_eq!(read(&good.repeat(MOST + 2)), None);
    }

    proptest! {
        #[test]
        fn offers_are_read_as_written(
            kind in "[a-z]{1,9}", name in "[^\\p{Cc}]{0,20}", longest in LEAST..=LONGEST, routed: bool,
        ) {
            let offers = [offer(&kind, &name, longest, routed), offer("udp", "e0", 1472, !routed)];
            prop_assert_eq!(read(&write(&offers)).unwrap(), offers);
        }

        #[test]
        fn anything_may_be_offered(text: String, cut in 0..60usize) {
            let _ = read(&text);
            let good = write(&[offer("udp", "e0", 1472, true)]);
            let _ = read(&good[..cut.min(good.len())]);
        }
    }
}

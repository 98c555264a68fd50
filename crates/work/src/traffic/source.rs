//! All hosts' sources merged into one sequence of messages.

use super::arrival::{Clock, Spacing};
use super::merge::{Merge, NEVER};
use super::{Arrival, Pattern, Size, TrafficError};
use crosstie_units::{Seed, Stream};

/// A message an application hands to its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Message {
    /// The cycle in which it is handed over.
    pub cycle: u64,
    /// The sending host.
    pub from: u32,
    /// The receiving host, never the sender.
    pub to: u32,
    /// Its length, at least 1.
    pub bytes: u32,
}

/// What every host asks of the network.
#[derive(Debug, Clone, PartialEq)]
pub struct Demand {
    /// Bytes per cycle that each sending host offers.
    pub load: f64,
    /// When messages start.
    pub arrival: Arrival,
    /// How long they are.
    pub size: Size,
    /// Where they go.
    pub pattern: Pattern,
}

/// An endless open-loop sequence of messages in order of time, ties in order of host number.
///
/// Each host draws its arrivals, sizes and destinations from three streams of its own, so a change
/// of one law or of one host leaves all other draws as they were. Nothing is allocated after
/// construction.
#[derive(Debug, Clone)]
pub struct Traffic {
    spacing: Spacing,
    size: Size,
    pattern: Pattern,
    sources: Box<[Source]>,
    merge: Merge,
    interval: f64,
    load: f64,
    senders: u32,
}

#[derive(Debug, Clone)]
struct Source {
    clock: Clock,
    arrivals: Stream,
    sizes: Stream,
    destinations: Stream,
}

impl Traffic {
    /// Checks a demand and starts every host's source.
    pub fn new(seed: Seed, demand: &Demand) -> Result<Traffic, TrafficError> {
        let &Demand { load, arrival, size, ref pattern } = demand;
        if !(load > 0.0 && load.is_finite()) {
            return Err(TrafficError::Load { load });
        }
        size.check()?;
        let mean_bytes = size.mean();
        let interval = mean_bytes / load;
        if arrival == (Arrival::Bernoulli {}) && interval < 1.0 {
            return Err(TrafficError::Crowded { load, mean: mean_bytes });
        }
        let (hosts, pattern) = (pattern.hosts(), pattern.clone());
        let spacing = Spacing::new(arrival, interval);
        let sources: Box<[Source]> = (0..u64::from(hosts))
            .map(|host| {
                let mut arrivals = seed.stream("arrivals", host);
                Source {
                    clock: spacing.start(&mut arrivals),
                    arrivals,
                    sizes: seed.stream("sizes", host),
                    destinations: seed.stream("destinations", host),
                }
            })
            .collect();
        let due = |(host, source): (u32, &Source)| match pattern.sends(host) {
            true => source.clock.cycle(),
            false => NEVER,
        };
        let firsts: Vec<u64> = (0..).zip(&sources).map(due).collect();
        let senders = (0..hosts).filter(|&host| pattern.sends(host)).count() as u32;
        if senders == 0 {
            return Err(TrafficError::Silent { hosts });
        }
        let merge = Merge::new(&firsts);
        Ok(Traffic { spacing, size, pattern, sources, merge, interval, load, senders })
    }

    /// The cycle of the next message.
    #[inline]
    pub fn next_cycle(&self) -> u64 {
        self.merge.earliest().0
    }

    /// Takes the next message.
    #[inline]
    pub fn draw(&mut self) -> Message {
        let (cycle, from) = self.merge.earliest();
        let source = &mut self.sources[from as usize];
        let bytes = self.size.draw(&mut source.sizes);
        let to = self
            .pattern
            .destination(from, &mut source.destinations)
            .expect("only hosts that send take part in the merge");
        self.spacing.step(&mut source.clock, &mut source.arrivals);
        self.merge.replace(source.clock.cycle());
        Message { cycle, from, to, bytes }
    }

    /// Whether a host sends anything.
    pub fn sends(&self, host: u32) -> bool {
        self.pattern.sends(host)
    }

    /// How many hosts send.
    pub fn senders(&self) -> u32 {
        self.senders
    }

    /// The mean number of cycles between two messages of one sending host.
    pub fn interval(&self) -> f64 {
        self.interval
    }

    /// Bytes per cycle that all senders together offer.
    pub fn offered(&self) -> f64 {
        self.load * f64::from(self.senders)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Destination;
    use super::*;
    use crosstie_fabric::single;
    use crosstie_units::Bytes;
    use proptest::prelude::*;

    fn pattern(destination: Destination, hosts: u32) -> Pattern {
        let no_files = |_: &str| panic!("no pattern here names a file");
        destination.on(&single(hosts).unwrap(), &no_files).unwrap()
    }

    fn fixed(size: u64) -> Size {
        Size::Fixed { size: Bytes::new(size) }
    }

    fn demand() -> Demand {
        Demand {
            load: 0.3,
            arrival: Arrival::Exponential {},
            size: Size::Exponential { mean: Bytes::new(8) },
            pattern: pattern(Destination::Uniform {}, 16),
        }
    }

    fn messages(demand: &Demand, count: usize) -> Vec<Message> {
        let mut traffic = Traffic::new(Seed(1), demand).unwrap();
        (0..count).map(|_| traffic.draw()).collect()
    }

    #[test]
    fn the_first_messages_are_pinned() {
        let found: Vec<_> = messages(&demand(), 4)
            .into_iter()
            .map(|Message { cycle, from, to, bytes }| (cycle, from, to, bytes))
            .collect();
        assert_eq!(
            found,
            [(1, 13, 15, 18), (6, 4, 8, 4), (6, 10, 14, 7), (12, 15, 13, 17)],
            "a change here changes every published result"
        );
    }

    #[test]
    fn one_law_does_not_shift_the_draws_of_another() {
        let other = Demand { size: fixed(9), ..demand() };
        let near = Demand { pattern: pattern(Destination::BitComplement {}, 16), ..other.clone() };
        let when = |demand| {
            messages(demand, 500).into_iter().map(|m| (m.cycle, m.from)).collect::<Vec<_>>()
        };
        assert_eq!(when(&other), when(&near));
        let first_to = |demand: &Demand| {
            let sent = messages(demand, 500);
            sent.into_iter().filter(|m| m.from == 3).map(|m| m.to).take(10).collect::<Vec<_>>()
        };
        assert_eq!(first_to(&demand()), first_to(&other));
    }

    #[test]
    fn only_hosts_that_send_are_counted() {
        let demand = Demand { pattern: pattern(Destination::BitReversal {}, 16), ..demand() };
        let traffic = Traffic::new(Seed(1), &demand).unwrap();
        assert_eq!(traffic.senders(), 12, "4 of 16 numbers are palindromes");
        assert!((traffic.offered() - 12.0 * 0.3).abs() < 1e-12);
        assert!(messages(&demand, 1000).iter().all(|m| traffic.sends(m.from)));
    }

    #[test]
    fn impossible_traffic_is_refused_in_words() {
        let error = |demand| Traffic::new(Seed(1), &demand).unwrap_err().to_string();
        assert_eq!(
            error(Demand { load: -0.1, ..demand() }),
            "found load -0.1, expected a positive number of bytes per cycle and host"
        );
        assert_eq!(
            error(Demand { size: fixed(0), ..demand() }),
            "`fixed.size`: found 0 B, expected 1 B to 1 GiB"
        );
        assert_eq!(
            error(Demand { load: 3.0, arrival: Arrival::Bernoulli {}, size: fixed(2), ..demand() }),
            "Bernoulli arrivals start at most one message per cycle, but load 3 with messages of \
             2 on average needs more: lower the load, lengthen the messages or use \
             exponential arrivals"
        );
        assert_eq!(
            error(Demand { pattern: pattern(Destination::Shuffle {}, 2), ..demand() }),
            "no host sends: the destination pattern gives each of the 2 hosts only itself or \
             nobody at all"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]
        #[test]
        fn messages_come_in_order_and_carry_the_load(
            seed: u64,
            hosts in 2..70u32,
            load in 0.01..1.0,
            arrival in prop::sample::select(
                vec![Arrival::Constant {}, Arrival::Bernoulli {}, Arrival::Exponential {}]),
            size in prop_oneof![
                (1..64u64).prop_map(fixed),
                (1..64u64).prop_map(|mean| Size::Exponential { mean: Bytes::new(mean) }),
                (1..8u64, 8..64u64, 0.0..=1.0).prop_map(|(small, large, small_share)|
                    Size::Bimodal { small: Bytes::new(small), large: Bytes::new(large), small_share }),
            ],
        ) {
            let demand = Demand { load, arrival, size, pattern: pattern(Destination::Uniform {}, hosts) };
            let mut traffic = Traffic::new(Seed(seed), &demand).unwrap();
            let (mut bytes, mut last, count) = (0, (0, 0), 30_000);
            for _ in 0..count {
                let due = traffic.next_cycle();
                let message = traffic.draw();
                prop_assert_eq!(message.cycle, due);
                prop_assert!((message.cycle, message.from) >= last);
                prop_assert!(message.to < hosts && message.to != message.from);
                last = (message.cycle, message.from);
                bytes += u64::from(message.bytes);
            }
            let offered = bytes as f64 / traffic.next_cycle() as f64;
            // Five standard deviations if both intervals and sizes are exponential.
            let slack = 5.0 * (2.0 / f64::from(count)).sqrt() + f64::from(hosts) / f64::from(count);
            prop_assert!((offered / traffic.offered() - 1.0).abs() < slack, "{offered}");
        }
    }
}

//! A destination pattern made ready for a number of hosts: checked once, then drawn from.

use super::{Destination, Neighbourhood, TrafficError};
use crosstie_units::Stream;
use std::sync::Arc;

/// A [`Destination`] checked and laid out for a number of hosts.
#[derive(Debug, Clone)]
pub struct Pattern {
    hosts: u32,
    law: Law,
}

#[derive(Debug, Clone)]
enum Law {
    Uniform,
    /// One destination for each host; its own number keeps it silent.
    Table(Box<[u32]>),
    HotSpot {
        host: u32,
        share: f64,
    },
    Local(Arc<Neighbourhood>),
    Mixture(Box<[(f64, Pattern)]>),
}

impl Pattern {
    /// Checks a description against the number of hosts.
    pub fn new(destination: &Destination, hosts: u32) -> Result<Pattern, TrafficError> {
        if hosts < 2 {
            return Err(TrafficError::TooFewHosts { hosts });
        }
        let table = |map: &dyn Fn(u32) -> u32| Law::Table((0..hosts).map(map).collect());
        let law = match destination {
            Destination::Uniform => Law::Uniform,
            Destination::BitReversal => {
                let bits = digits("bit-reversal", hosts, 2)?;
                table(&|host| host.reverse_bits() >> (u32::BITS - bits))
            }
            Destination::BitComplement => {
                digits("bit-complement", hosts, 2)?;
                table(&|host| !host & (hosts - 1))
            }
            Destination::Transpose => {
                // An even number of bits is a whole number of digits in base 4.
                let half = digits("transpose", hosts, 4)?;
                table(&|host| host >> half | (host << half) & (hosts - 1))
            }
            Destination::Shuffle => {
                let bits = digits("shuffle", hosts, 2)?;
                table(&|host| (host << 1) & (hosts - 1) | host >> (bits - 1))
            }
            &Destination::Tornado { radix } => {
                if radix < 2 {
                    return Err(TrafficError::Radix { radix });
                }
                let digits = digits("tornado", hosts, radix)?;
                table(&|host| tornado(host, radix, digits))
            }
            &Destination::HotSpot { host, share } => {
                TrafficError::unless_share("hot-spot traffic", share)?;
                if host >= hosts {
                    return Err(TrafficError::NoSuchHost { pattern: "hot-spot", host, hosts });
                }
                Law::HotSpot { host, share }
            }
            Destination::Local(near) => {
                check_length("local", near.hosts(), hosts)?;
                Law::Local(Arc::clone(near))
            }
            Destination::Permutation(to) => {
                check_permutation(to, hosts)?;
                Law::Table(to.as_slice().into())
            }
            Destination::Mixture(parts) => mixture(parts, hosts)?,
        };
        Ok(Pattern { hosts, law })
    }

    /// Whether a host sends anything under this pattern.
    pub fn sends(&self, from: u32) -> bool {
        match &self.law {
            Law::Uniform | Law::HotSpot { .. } => true,
            Law::Table(to) => to[from as usize] != from,
            Law::Local(near) => near.count(from) > 0,
            Law::Mixture(parts) => parts.iter().any(|(_, part)| part.sends(from)),
        }
    }

    /// The destination of the next message of a host; `None` if the host sends nothing.
    #[inline]
    pub fn destination(&self, from: u32, stream: &mut Stream) -> Option<u32> {
        match &self.law {
            Law::Uniform => Some(self.any_other(from, stream)),
            Law::Table(to) => Some(to[from as usize]).filter(|&to| to != from),
            &Law::HotSpot { host, share } => {
                let hot = host != from && stream.chance(share);
                Some(if hot { host } else { self.any_other(from, stream) })
            }
            Law::Local(near) => {
                let count = near.count(from);
                (count > 0).then(|| near.nth(from, stream.below(u64::from(count)) as u32))
            }
            Law::Mixture(parts) => {
                let open = || parts.iter().filter(|(_, part)| part.sends(from));
                let mut left = stream.unit() * open().map(|(share, _)| share).sum::<f64>();
                let mut chosen = None;
                // Rounding may leave a trifle at the end: the last part takes it.
                for (share, part) in open() {
                    chosen = Some(part);
                    left -= share;
                    if left < 0.0 {
                        break;
                    }
                }
                chosen?.destination(from, stream)
            }
        }
    }

    #[inline]
    fn any_other(&self, from: u32, stream: &mut Stream) -> u32 {
        let to = stream.below(u64::from(self.hosts) - 1) as u32;
        to + u32::from(to >= from)
    }
}

/// With how many digits in a base the hosts are numbered, if they fill those digits.
fn digits(pattern: &'static str, hosts: u32, base: u32) -> Result<u32, TrafficError> {
    let (base64, count) = (u64::from(base), u64::from(hosts));
    let (mut below, mut digits) = (base64, 1);
    while below * base64 <= count {
        below *= base64;
        digits += 1;
    }
    if below == count {
        return Ok(digits);
    }
    Err(TrafficError::HostCount { pattern, base, hosts, below, above: below * base64 })
}

fn tornado(host: u32, radix: u32, digits: u32) -> u32 {
    let (mut rest, mut place, mut to) = (host, 1, 0);
    for digit in 0..digits {
        // In 64 bits: a ring of nearly 2^32 hosts must not overflow.
        let moved = u64::from(rest % radix) + u64::from(radix.div_ceil(2) - 1);
        to += place * (moved % u64::from(radix)) as u32;
        rest /= radix;
        if digit + 1 < digits {
            place *= radix;
        }
    }
    to
}

fn check_length(pattern: &'static str, found: usize, hosts: u32) -> Result<(), TrafficError> {
    if found == hosts as usize {
        Ok(())
    } else {
        Err(TrafficError::Length { pattern, found, hosts })
    }
}

fn check_permutation(to: &[u32], hosts: u32) -> Result<(), TrafficError> {
    check_length("permutation", to.len(), hosts)?;
    let mut sender = vec![None; hosts as usize];
    for (second, &to) in (0..).zip(to) {
        let Some(slot) = sender.get_mut(to as usize) else {
            return Err(TrafficError::NoSuchHost { pattern: "permutation", host: to, hosts });
        };
        if let Some(first) = slot.replace(second) {
            return Err(TrafficError::NotAPermutation { to, first, second });
        }
    }
    Ok(())
}

fn mixture(parts: &[(f64, Destination)], hosts: u32) -> Result<Law, TrafficError> {
    if parts.is_empty() {
        return Err(TrafficError::EmptyMixture);
    }
    let ready = parts.iter().enumerate().map(|(part, (share, destination))| {
        if *share > 0.0 && share.is_finite() {
            Ok((*share, Pattern::new(destination, hosts)?))
        } else {
            Err(TrafficError::PartShare { part, share: *share })
        }
    });
    Ok(Law::Mixture(ready.collect::<Result<_, _>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use Destination::*;
    use crosstie_units::Seed;
    use proptest::prelude::*;

    fn pattern(destination: Destination, hosts: u32) -> Pattern {
        Pattern::new(&destination, hosts).unwrap()
    }

    /// The table of a pattern without chance; silent hosts name themselves.
    fn table(destination: Destination, hosts: u32) -> Vec<u32> {
        let pattern = pattern(destination, hosts);
        let mut stream = Seed(0).stream("unused", 0);
        (0..hosts).map(|from| pattern.destination(from, &mut stream).unwrap_or(from)).collect()
    }

    /// How often each host is the destination of one sender, in shares.
    fn shares(pattern: &Pattern, from: u32) -> Vec<f64> {
        let n = 100_000;
        let mut counts = vec![0.0; pattern.hosts as usize];
        let mut stream = Seed(5).stream("destinations", u64::from(from));
        for _ in 0..n {
            counts[pattern.destination(from, &mut stream).unwrap() as usize] += 1.0 / f64::from(n);
        }
        counts
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        let near = found.iter().zip(expected).all(|(f, e)| (f - e).abs() < 0.006);
        assert!(near && found.len() == expected.len(), "{found:?}, expected {expected:?}");
    }

    #[test]
    fn permutations_on_eight_and_sixteen_hosts() {
        assert_eq!(table(BitReversal, 8), [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(table(BitComplement, 8), [7, 6, 5, 4, 3, 2, 1, 0]);
        assert_eq!(table(Shuffle, 8), [0, 2, 4, 6, 1, 3, 5, 7]);
        let transposed = [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15];
        assert_eq!(table(Transpose, 16), transposed);
        assert_eq!(table(Tornado { radix: 8 }, 8), [3, 4, 5, 6, 7, 0, 1, 2]);
        assert_eq!(table(Tornado { radix: 5 }, 5), [2, 3, 4, 0, 1]);
        let torus = [5, 6, 7, 4, 9, 10, 11, 8, 13, 14, 15, 12, 1, 2, 3, 0];
        assert_eq!(table(Tornado { radix: 4 }, 16), torus);
        assert_eq!(table(Permutation(vec![2, 1, 0]), 3), [2, 1, 0]);
    }

    #[test]
    fn a_host_that_maps_to_itself_is_silent() {
        let reversal = pattern(BitReversal, 8);
        let silent: Vec<u32> = (0..8).filter(|&host| !reversal.sends(host)).collect();
        assert_eq!(silent, [0, 2, 5, 7], "the palindromes");
        assert_eq!(reversal.destination(5, &mut Seed(1).stream("d", 5)), None);
    }

    #[test]
    fn uniform_leaves_out_the_sender() {
        assert_near(&shares(&pattern(Uniform, 5), 2), &[0.25, 0.25, 0.0, 0.25, 0.25]);
    }

    #[test]
    fn a_hot_spot_adds_its_share_to_the_uniform_part() {
        let hot = pattern(HotSpot { host: 3, share: 0.2 }, 5);
        assert_near(&shares(&hot, 0), &[0.0, 0.2, 0.2, 0.4, 0.2]);
        assert_near(&shares(&hot, 3), &[0.25, 0.25, 0.25, 0.0, 0.25]);
    }

    #[test]
    fn a_mixture_divides_messages_among_the_parts_a_host_can_use() {
        let mixed = pattern(Mixture(vec![(3.0, BitReversal), (1.0, BitComplement)]), 4);
        assert_near(&shares(&mixed, 1), &[0.0, 0.0, 1.0, 0.0]);
        assert_near(&shares(&mixed, 0), &[0.0, 0.0, 0.0, 1.0]);
        let mixed = pattern(Mixture(vec![(3.0, Shuffle), (1.0, BitComplement)]), 8);
        assert_near(&shares(&mixed, 1), &[0.0, 0.0, 0.75, 0.0, 0.0, 0.0, 0.25, 0.0]);
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        for (destination, hosts, message) in [
            (
                BitReversal,
                48,
                "the bit-reversal pattern needs a number of hosts that is a power of 2: found 48, \
                 the nearest are 32 and 64",
            ),
            (
                Transpose,
                32,
                "the transpose pattern needs a number of hosts that is a power of 4: found 32, \
                 the nearest are 16 and 64",
            ),
            (
                Tornado { radix: 4 },
                2,
                "the tornado pattern needs a number of hosts that is a power of 4: found 2, \
                 the nearest are 4 and 16",
            ),
            (Tornado { radix: 1 }, 2, "the tornado pattern needs a radix of at least 2, found 1"),
            (
                HotSpot { host: 8, share: 0.1 },
                8,
                "the hot-spot pattern names host 8, expected one below 8",
            ),
            (
                Permutation(vec![1, 0]),
                3,
                "the permutation pattern lists 2 hosts, expected one entry for each of 3",
            ),
            (
                Permutation(vec![1, 0, 1]),
                3,
                "hosts 0 and 2 of the permutation both send to host 1, expected every host to be \
                 named once",
            ),
            (Mixture(vec![]), 4, "the mixture has no parts, expected at least one"),
            (
                Mixture(vec![(1.0, Uniform), (f64::NAN, Uniform)]),
                4,
                "part 1 of the mixture has share NaN, expected a positive number",
            ),
            (Uniform, 1, "traffic needs at least 2 hosts, found 1"),
        ] {
            assert_eq!(Pattern::new(&destination, hosts).unwrap_err().to_string(), message);
        }
    }

    proptest! {
        #[test]
        fn patterns_without_chance_are_permutations(bits in 1..6u32, which in 0..5usize) {
            let hosts = 4u32.pow(bits);
            let chosen = [BitReversal, BitComplement, Transpose, Shuffle, Tornado { radix: 4 }];
            let mut to = table(chosen[which].clone(), hosts);
            to.sort_unstable();
            prop_assert!(to.into_iter().eq(0..hosts));
        }

        #[test]
        fn nobody_sends_to_itself_or_to_nobody(
            seed: u64, hosts in 2..40u32, hot in 0..40u32, share in 0.0..=1.0,
        ) {
            let swap = (0..hosts).map(|h| if h + 1 == hosts { h } else { h ^ 1 });
            let odd = hosts % 2 == 1;
            let parts = vec![
                (1.0, HotSpot { host: hot % hosts, share }),
                (0.5, Permutation(if odd { swap.collect() } else { (0..hosts).collect() })),
                (2.0, Mixture(vec![(1.0, Uniform)])),
            ];
            let pattern = pattern(Mixture(parts), hosts);
            let mut stream = Seed(seed).stream("d", 0);
            for from in 0..hosts {
                let to = pattern.destination(from, &mut stream);
                prop_assert_eq!(to.is_some(), pattern.sends(from));
                prop_assert!(to.is_none_or(|to| to != from && to < hosts));
            }
        }
    }
}

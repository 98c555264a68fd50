//! A destination pattern made ready for the hosts of a fabric, to be drawn from.

use super::Neighbourhood;
use crosstie_units::Stream;
use std::sync::Arc;

/// A [`Destination`](super::Destination) on a fabric; see [`on`](super::Destination::on).
#[derive(Debug, Clone, PartialEq)]
pub struct Pattern {
    hosts: u32,
    law: Law,
}

/// The ways to draw a destination. Most patterns share one.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Law {
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
    /// The law was made for so many hosts, two or more.
    pub(super) fn new(hosts: u32, law: Law) -> Pattern {
        Pattern { hosts, law }
    }

    /// How many hosts there are.
    pub fn hosts(&self) -> u32 {
        self.hosts
    }

    /// The shares of the kinds of destination that it tells apart.
    pub fn shares(&self) -> Vec<f64> {
        match &self.law {
            Law::Uniform | Law::Table(_) | Law::Local(_) => vec![1.0],
            Law::HotSpot { share, .. } => vec![*share, 1.0 - share],
            Law::Mixture(parts) => {
                let all: f64 = parts.iter().map(|(share, _)| share).sum();
                let kinds = |(share, part): &(f64, Pattern)| {
                    let inner = part.shares().into_iter();
                    inner.map(|inner| inner * share / all).collect::<Vec<_>>()
                };
                parts.iter().flat_map(kinds).collect()
            }
        }
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

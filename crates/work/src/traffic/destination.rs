//! Where messages go: the description. `pattern` turns it into something to draw from.

use super::Neighbourhood;
use std::sync::Arc;

/// A pattern of destinations over n hosts, numbered from 0. Names and definitions are BookSim's
/// where it has the pattern (Dally and Towles, *Principles and Practices of Interconnection
/// Networks*, section 3.2).
///
/// Nobody sends to itself. A host whose only destination would be itself sends nothing at all.
///
/// The patterns on bits write a host number with b bits `s[b-1] .. s[0]`, so n must be `2^b`.
#[derive(Debug, Clone, PartialEq)]
pub enum Destination {
    /// Any other host with equal probability (`uniform`).
    Uniform,
    /// `d[i] = s[b-1-i]` (`bitrev`).
    BitReversal,
    /// `d[i] = not s[i]` (`bitcomp`).
    BitComplement,
    /// `d[i] = s[(i + b/2) mod b]` (`transpose`); b must be even.
    Transpose,
    /// `d[i] = s[(i - 1) mod b]`: the bits turned left by one (`shuffle`).
    Shuffle,
    /// Each digit x of the host number in base `radix` becomes `(x + ceil(radix/2) - 1) mod radix`
    /// (`tornado`): nearly half way round every dimension. `radix = n` makes one ring of all
    /// hosts; the arity of a tree or torus is the other usual choice.
    Tornado {
        /// Base in which host numbers are written; n must be a power of it.
        radix: u32,
    },
    /// One host draws more than its part, the rest is uniform. The hot host itself sends
    /// uniformly.
    HotSpot {
        /// The host in demand.
        host: u32,
        /// Share of every other host's messages that go to it on top of its uniform part.
        share: f64,
    },
    /// Any other host nearby with equal probability. A host with nobody near sends nothing.
    Local(Arc<Neighbourhood>),
    /// Host i sends to the i-th entry. Every host is named once; naming itself keeps it silent.
    Permutation(Vec<u32>),
    /// Each message follows one of several patterns, drawn with the given relative shares (they
    /// need not add up to 1). A host that is silent under some of the patterns divides its
    /// messages among the others, so that all senders send at the same rate.
    Mixture(Vec<(f64, Destination)>),
}

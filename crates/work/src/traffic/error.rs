//! What can be wrong with a description of traffic. Every case is the describer's to mend.

/// Why a description of traffic was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum TrafficError {
    /// Nobody to talk to.
    #[error("traffic needs at least 2 hosts, found {hosts}")]
    TooFewHosts {
        /// How many there are.
        hosts: u32,
    },
    /// The load is no rate.
    #[error("found load {load}, expected a positive number of bytes per cycle and host")]
    Load {
        /// The load asked for.
        load: f64,
    },
    /// More than one message per cycle and host from a source that decides once per cycle.
    #[error(
        "Bernoulli arrivals start at most one message per cycle, but load {load} with messages of \
         {mean} on average needs more: lower the load, lengthen the messages or use \
         exponential arrivals"
    )]
    Crowded {
        /// The load asked for, per cycle.
        load: f64,
        /// The mean message size, in the unit of the load.
        mean: f64,
    },
    /// A message without bytes.
    #[error("found a message size of {bytes} bytes, expected at least 1")]
    EmptyMessage {
        /// The size found.
        bytes: u32,
    },
    /// A mean size that no distribution of sizes has.
    #[error("found a mean message size of {mean} bytes, expected more than 0 and at most {limit}")]
    MeanSize {
        /// The mean asked for.
        mean: f64,
        /// The largest mean accepted.
        limit: f64,
    },
    /// A share that is no share.
    #[error("found {value} as the share of {of}, expected a number from 0 to 1")]
    Share {
        /// What it would be a share of.
        of: &'static str,
        /// The number found.
        value: f64,
    },
    /// A pattern that permutes digits meets a number of hosts that is no power of its base.
    #[error(
        "the {pattern} pattern needs a number of hosts that is a power of {base}: found {hosts}, \
         the nearest are {below} and {above}"
    )]
    HostCount {
        /// The pattern.
        pattern: &'static str,
        /// The number of hosts must be a power of this.
        base: u32,
        /// How many hosts there are.
        hosts: u32,
        /// The nearest number below that would do.
        below: u64,
        /// The nearest number above that would do.
        above: u64,
    },
    /// The base of a digit permutation is too small to have digits.
    #[error("the tornado pattern needs a radix of at least 2, found {radix}")]
    Radix {
        /// The radix found.
        radix: u32,
    },
    /// A host number that no host has.
    #[error("the {pattern} pattern names host {host}, expected one below {hosts}")]
    NoSuchHost {
        /// The pattern.
        pattern: &'static str,
        /// The host named.
        host: u32,
        /// How many hosts there are.
        hosts: u32,
    },
    /// A table with a row too many or too few.
    #[error("the {pattern} pattern lists {found} hosts, expected one entry for each of {hosts}")]
    Length {
        /// The pattern.
        pattern: &'static str,
        /// Entries found.
        found: usize,
        /// How many hosts there are.
        hosts: u32,
    },
    /// Two sources share a destination, so the table is no permutation.
    #[error(
        "hosts {first} and {second} of the permutation both send to host {to}, expected every \
         host to be named once"
    )]
    NotAPermutation {
        /// The destination named twice.
        to: u32,
        /// The first host that sends there.
        first: u32,
        /// The second host that sends there.
        second: u32,
    },
    /// A mixture without parts.
    #[error("the mixture has no parts, expected at least one")]
    EmptyMixture,
    /// A part of a mixture whose weight is no weight.
    #[error("part {part} of the mixture has share {share}, expected a positive number")]
    PartShare {
        /// Which part, from 0.
        part: usize,
        /// The share found.
        share: f64,
    },
    /// Every host maps to itself or has nobody near.
    #[error(
        "no host sends: the destination pattern gives each of the {hosts} hosts only itself or \
         nobody at all"
    )]
    Silent {
        /// How many hosts there are.
        hosts: u32,
    },
}

impl TrafficError {
    /// Refuses a share outside `[0, 1]`.
    pub(super) fn unless_share(of: &'static str, value: f64) -> Result<(), TrafficError> {
        if (0.0..=1.0).contains(&value) { Ok(()) } else { Err(TrafficError::Share { of, value }) }
    }
}

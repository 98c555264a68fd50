//! Nearly half way round one ring of all hosts.

use super::{Declaration, Law};

pub(super) const DECLARATION: Declaration = Declaration {
    name: "tornado",
    sentence: "Of n hosts, s + ceil(n/2) - 1 modulo n: nearly half way round.",
};

pub(super) fn law(hosts: u32) -> Law {
    // In 64 bits: a ring of nearly 2^32 hosts must not overflow.
    let (ring, far) = (u64::from(hosts), u64::from(hosts.div_ceil(2) - 1));
    Law::Table((0..ring).map(|host| ((host + far) % ring) as u32).collect())
}

//! The bits of a host's number in reverse order.

use super::Declaration;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "bit-reversal",
    sentence: "The bits of s in reverse order; the number of hosts is a power of 2.",
};

pub(super) fn to(host: u32, bits: u32) -> u32 {
    host.reverse_bits() >> (u32::BITS - bits)
}

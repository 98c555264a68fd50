//! The two halves of the bits of a host's number exchanged.

use super::Declaration;
use super::bits::ones;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "transpose",
    sentence: "The upper and lower half of the bits of s exchanged; the number of hosts is a power of 4.",
};

pub(super) fn to(host: u32, bits: u32) -> u32 {
    let half = bits / 2;
    host >> half | (host << half) & ones(bits)
}

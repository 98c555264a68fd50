//! The bits of a host's number turned left by one.

use super::Declaration;
use super::bits::ones;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "shuffle",
    sentence: "The bits of s rotated by one to the left; the number of hosts is a power of 2.",
};

pub(super) fn to(host: u32, bits: u32) -> u32 {
    (host << 1) & ones(bits) | host >> (bits - 1)
}

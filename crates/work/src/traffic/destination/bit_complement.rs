//! The bits of a host's number inverted.

use super::Declaration;
use super::bits::ones;

pub(super) const DECLARATION: Declaration = Declaration {
    name: "bit-complement",
    sentence: "The bits of s inverted; the number of hosts is a power of 2.",
};

pub(super) fn to(host: u32, bits: u32) -> u32 {
    !host & ones(bits)
}

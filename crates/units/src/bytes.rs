//! Sizes in bytes.

use crate::quantity::{Scale, text_with_units};

/// A size in bytes. Prints in powers of two; reads decimal units too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub(crate) u64);

const SCALE: Scale = Scale {
    kind: "a size",
    example: "64 KiB",
    units: &[("B", 1), ("KiB", 1 << 10), ("MiB", 1 << 20), ("GiB", 1 << 30)],
    also_read: &[("kB", 1_000), ("MB", 1_000_000), ("GB", 1_000_000_000)],
    atoms: Some("bytes"),
};

text_with_units!(Bytes);

impl Bytes {
    /// So many bytes.
    pub const fn new(bytes: u64) -> Bytes {
        Bytes(bytes)
    }

    /// The number of bytes.
    pub const fn get(self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_both_kinds_of_prefix_and_prints_powers_of_two() {
        for (text, bytes, shown) in [
            ("64 KiB", 65_536, "64 KiB"),
            ("64 kB", 64_000, "62.5 KiB"),
            ("2 B", 2, "2 B"),
            ("1.5 MiB", 1_572_864, "1.5 MiB"),
            ("320 B", 320, "320 B"),
            ("0.0625 KiB", 64, "64 B"),
            ("1.1 kB", 1_100, "1100 B"),
            ("0.000000001 GB", 1, "1 B"),
        ] {
            let size: Bytes = text.parse().unwrap();
            assert_eq!((size.get(), size.to_string().as_str()), (bytes, shown), "{text}");
        }
    }

    #[test]
    fn refuses_a_part_of_a_byte() {
        for (text, message) in [
            ("0.5 B", "`0.5 B` is not a whole number of bytes, and there are no parts of one"),
            ("1.1 KiB", "`1.1 KiB` is not a whole number of bytes, and there are no parts of one"),
        ] {
            assert_eq!(text.parse::<Bytes>().unwrap_err().to_string(), message);
        }
    }
}

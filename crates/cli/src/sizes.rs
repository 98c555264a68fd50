//! Message sizes on the command line.

use std::str::FromStr;

use crosstie_units::Bytes;

/// Sizes in bytes, in the order asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sizes(pub Vec<u64>);

impl Sizes {
    /// The first one, doubled as long as it does not exceed the last.
    pub fn powers(first: u64, last: u64) -> Sizes {
        let doubled = |size: &u64| size.checked_mul(2).filter(|&size| size <= last);
        Sizes(std::iter::successors(Some(first), doubled).collect())
    }
}

/// A size as people write it: `64`, `64B`, `1KiB`.
fn size(text: &str) -> Result<u64, String> {
    let text = text.trim();
    if let Ok(bytes) = text.parse() {
        return Ok(bytes);
    }
    text.parse::<Bytes>().map(Bytes::get).map_err(|error| format!("`{text}`: {error}"))
}

impl FromStr for Sizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Sizes, String> {
        let sizes = match text.split_once("..") {
            Some((first, last)) => {
                let (first, last) = (size(first)?, size(last)?);
                if first == 0 || first > last {
                    return Err(format!(
                        "found `{text}`, expected a range from 1 on, such as 8..64KiB"
                    ));
                }
                Sizes::powers(first, last)
            }
            None => Sizes(text.split(',').map(size).collect::<Result<_, _>>()?),
        };
        match sizes.0.iter().find(|&&size| size > 1 << 30) {
            Some(size) => Err(format!("found {size} bytes, expected 0 B to 1 GiB")),
            None => Ok(sizes),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_double_and_lists_are_as_written() {
        let sizes = |text: &str| text.parse::<Sizes>().map(|Sizes(sizes)| sizes);
        assert_eq!(sizes("8..64").unwrap(), [8, 16, 32, 64]);
        assert_eq!(sizes("3..1KiB").unwrap(), [3, 6, 12, 24, 48, 96, 192, 384, 768]);
        assert_eq!(sizes("100, 1 KiB,7").unwrap(), [100, 1024, 7]);
        assert_eq!(sizes("0,8").unwrap(), [0, 8]);
        for wrong in ["", "8..", "0..8", "9..8", "x", "2GiB"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
    }
}

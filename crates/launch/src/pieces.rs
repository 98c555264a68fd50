//! Bytes of any length as values of the protocol, each no longer than a launcher takes.
//!
//! The first value begins with the number of bytes and a dot; letters of base64 follow, and go on
//! in further values.

use super::base64;

/// The most bytes under one name.
pub const LONGEST: usize = 1 << 16;

/// The least room for a value in which anything can be said: the number, the dot and four letters.
pub(super) const LEAST_ROOM: usize = 16;

/// The values for some bytes where there is room for so many letters in each; at least one.
pub(super) fn cut(bytes: &[u8], room: usize) -> Vec<String> {
    let room = room.max(LEAST_ROOM);
    let mut first = format!("{}.", bytes.len());
    let (head, mut rest) = bytes.split_at(bytes.len().min((room - first.len()) / 4 * 3));
    first += &base64::encode(head);
    let mut values = vec![first];
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(room / 4 * 3));
        values.push(base64::encode(piece));
        rest = after;
    }
    values
}

/// Bytes that are put together again from values, in order.
#[derive(Debug, Default)]
pub(super) struct Collection {
    /// How many there will be, once that is known.
    length: Option<usize>,
    bytes: Vec<u8>,
}

impl Collection {
    /// Takes the next value; whether it was one of these.
    pub fn take(&mut self, value: &str) -> bool {
        let (length, letters) = match self.length {
            Some(length) => (length, value),
            None => {
                let Some((length, letters)) = value.split_once('.') else { return false };
                let Some(length) = length.parse().ok().filter(|length| *length <= LONGEST) else {
                    return false;
                };
                (length, letters)
            }
        };
        let Some(piece) = base64::decode(letters) else { return false };
        // Every value but the only one of nothing brings something.
        if piece.len() > length - self.bytes.len() || piece.is_empty() && length > 0 {
            return false;
        }
        self.length = Some(length);
        self.bytes.extend(piece);
        true
    }

    /// The bytes, when there are all of them.
    pub fn whole(&mut self) -> Option<Vec<u8>> {
        (self.length == Some(self.bytes.len())).then(|| std::mem::take(&mut self.bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn short_bytes_are_one_value() {
        assert_eq!(cut(b"", 16), ["0."]);
        assert_eq!(cut(b"foo", 100), ["3.Zm9v"]);
        assert_eq!(cut(b"foobarfoobarfoobar", 16), ["18.Zm9vYmFyZm9v", "YmFyZm9vYmFy"]);
    }

    #[test]
    fn values_that_are_none_of_these_are_refused() {
        for values in [
            &["unknown"][..],
            &["3Zm9v"],
            &["-3.Zm9v"],
            &["2.Zm9v"],
            &["3."],
            &["65537.Zm9v"],
            &["99999999999999999999999.Zm9v"],
            &["3.Zm 9"],
            &["6.Zm9v", "Zm9vYmFy"],
            &["6.Zm9v", ""],
            &["6.Zm9v", "6.Zm9v"],
        ] {
            let mut collection = Collection::default();
            let (last, before) = values.split_last().unwrap();
            assert!(before.iter().all(|value| collection.take(value)), "{values:?}");
            assert!(!collection.take(last), "{values:?}");
        }
    }

    proptest! {
        #[test]
        fn bytes_survive(bytes in prop::collection::vec(any::<u8>(), 0..3000), room in 0..1100usize) {
            let values = cut(&bytes, room);
            let mut collection = Collection::default();
            for (at, value) in values.iter().enumerate() {
                prop_assert!(value.len() <= room.max(LEAST_ROOM));
                prop_assert!(super::super::line::is_word(value));
                prop_assert!(collection.take(value));
                prop_assert_eq!(collection.length == Some(collection.bytes.len()), at + 1 == values.len());
            }
            prop_assert_eq!(collection.whole(), Some(bytes));
        }

        #[test]
        fn any_values_are_taken_or_refused(values in prop::collection::vec("[0-9]{0,6}[.]?[A-Za-z0-9_-]{0,40}", 0..9)) {
            let mut collection = Collection::default();
            for value in values {
                collection.take(&value);
                prop_assert!(collection.bytes.len() <= collection.length.unwrap_or(0));
            }
        }
    }
}

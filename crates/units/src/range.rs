//! Values that are read from a file or the command line, each within its range, so that the error
//! of one that is not stands at the value.
//!
//! A declaration of keys names its readers with [`wholes!`](crate::wholes),
//! [`reals!`](crate::reals) and [`quantities!`](crate::quantities), and refers to them by serde's
//! `deserialize_with`.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::str::FromStr;

use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer};

use crate::{Bytes, QuantityError, Seed};

/// Declares readers of whole numbers, each with its range: `rails: u32 = 1..=16;`.
#[macro_export]
macro_rules! wholes {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $range:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'de, D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
            // The range lies within the type, so the conversion never fails.
            $crate::range::whole(from, $range).map(|whole| whole as $type)
        }
    )*};
}

/// Declares readers of real numbers, each with its range in words and in bounds.
#[macro_export]
macro_rules! reals {
    ($($(#[$doc:meta])* $name:ident = $words:literal, $range:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'de, D: serde::Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
            $crate::range::real(from, $words, $range)
        }
    )*};
}

/// Declares readers of quantities with units, each with its kind and its range.
#[macro_export]
macro_rules! quantities {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $kind:literal, $range:expr;)*) => {$(
        $(#[$doc])*
        pub(crate) fn $name<'de, D: serde::Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
            $crate::range::quantity(from, $kind, $range)
        }
    )*};
}

/// Above zero, up to `high`.
pub const fn positive(high: f64) -> (Bound<f64>, Bound<f64>) {
    (Bound::Excluded(0.0), Bound::Included(high))
}

/// From `low` to `high`.
pub const fn closed(low: f64, high: f64) -> (Bound<f64>, Bound<f64>) {
    (Bound::Included(low), Bound::Included(high))
}

/// Reads a whole number of a range.
pub fn whole<'de, D: Deserializer<'de>>(
    from: D,
    range: RangeInclusive<i64>,
) -> Result<i64, D::Error> {
    from.deserialize_i64(Whole(range))
}

/// Reads a seed, which files and the command line write as a whole number.
pub fn seed<'de, D: Deserializer<'de>>(from: D) -> Result<Seed, D::Error> {
    // The range lies within the type.
    whole(from, 0..=i64::MAX).map(|seed| Seed(seed as u64))
}

/// Reads the seed of a part that may have none of its own.
pub fn own_seed<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Seed>, D::Error> {
    seed(from).map(Some)
}

/// Reads a real number of a range, which `words` describe.
pub fn real<'de, D: Deserializer<'de>>(
    from: D,
    words: &'static str,
    range: (Bound<f64>, Bound<f64>),
) -> Result<f64, D::Error> {
    from.deserialize_f64(Real { words, range })
}

/// Reads a quantity of a range; `kind` is what it is, with its article.
pub fn quantity<'de, D, Q>(
    from: D,
    kind: &'static str,
    range: RangeInclusive<Q>,
) -> Result<Q, D::Error>
where
    D: Deserializer<'de>,
    Q: FromStr<Err = QuantityError> + fmt::Display + PartialOrd,
{
    from.deserialize_str(Quantity { kind, range })
}

/// Reads a size of a range, or `None` for the word that stands in its place.
pub fn size_or<'de, D: Deserializer<'de>>(
    from: D,
    word: &'static str,
    range: RangeInclusive<Bytes>,
) -> Result<Option<Bytes>, D::Error> {
    from.deserialize_str(OrWord { word, quantity: Quantity { kind: "a size", range } })
}

/// Reads the path of a file.
pub fn file<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    from.deserialize_str(Path)
}

/// Reads the tables under a heading.
pub fn tables<'de, D, T>(from: D) -> Result<Vec<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    from.deserialize_seq(Tables(PhantomData))
}

struct Tables<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for Tables<T> {
    type Value = Vec<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list of tables, each headed by its name in double brackets")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Vec<T>, A::Error> {
        let mut tables = Vec::new();
        while let Some(table) = list.next_element()? {
            tables.push(table);
        }
        Ok(tables)
    }
}

struct OrWord {
    word: &'static str,
    quantity: Quantity<Bytes>,
}

impl Visitor<'_> for OrWord {
    type Value = Option<Bytes>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\" or ", self.word)?;
        self.quantity.expecting(f)
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Option<Bytes>, E> {
        if text == self.word { Ok(None) } else { self.quantity.visit_str(text).map(Some) }
    }
}

struct Whole(RangeInclusive<i64>);

impl Visitor<'_> for Whole {
    type Value = i64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.start(), self.0.end()) {
            (low, &i64::MAX) => write!(f, "a whole number from {low}"),
            (low, high) => write!(f, "a whole number from {low} to {high}"),
        }
    }

    fn visit_i64<E: Error>(self, whole: i64) -> Result<i64, E> {
        if self.0.contains(&whole) {
            return Ok(whole);
        }
        Err(E::invalid_value(Unexpected::Signed(whole), &self))
    }

    fn visit_u64<E: Error>(self, whole: u64) -> Result<i64, E> {
        match i64::try_from(whole) {
            Ok(whole) => self.visit_i64(whole),
            Err(_) => Err(E::invalid_value(Unexpected::Unsigned(whole), &self)),
        }
    }
}

struct Real {
    words: &'static str,
    range: (Bound<f64>, Bound<f64>),
}

impl Visitor<'_> for Real {
    type Value = f64;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words)
    }

    fn visit_f64<E: Error>(self, real: f64) -> Result<f64, E> {
        if self.range.contains(&real) {
            return Ok(real);
        }
        Err(E::invalid_value(Unexpected::Float(real), &self))
    }

    fn visit_i64<E: Error>(self, whole: i64) -> Result<f64, E> {
        self.visit_f64(whole as f64)
    }
}

struct Quantity<Q> {
    /// What is read, with its article.
    kind: &'static str,
    range: RangeInclusive<Q>,
}

impl<Q> Visitor<'_> for Quantity<Q>
where
    Q: FromStr<Err = QuantityError> + fmt::Display + PartialOrd,
{
    type Value = Q;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} from \"{}\" to \"{}\"", self.kind, self.range.start(), self.range.end())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Q, E> {
        let quantity: Q = text.parse().map_err(E::custom)?;
        if self.range.contains(&quantity) {
            return Ok(quantity);
        }
        Err(E::invalid_value(Unexpected::Str(text), &self))
    }
}

struct Path;

impl Visitor<'_> for Path {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the path of a file")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        // Longer than any path that operating systems accept.
        let sound = (1..=4096).contains(&text.len()) && !text.contains(char::is_control);
        if sound {
            return Ok(text.to_owned());
        }
        Err(E::invalid_value(Unexpected::Str(text), &self))
    }
}

//! The range of every number and quantity of an experiment file, checked as the value is read so
//! that the error stands at the value.

use std::fmt;
use std::ops::{Bound, RangeBounds, RangeInclusive};
use std::str::FromStr;

use crosstie_units::{Bytes, QuantityError, Rate, Seed, Time};
use serde::Deserializer;
use serde::de::{Error, Unexpected, Visitor};

/// The most hosts a fabric may have.
pub(crate) const MOST_HOSTS: u32 = 65_536;

/// The most rails of a cluster.
pub(crate) const MOST_RAILS: u32 = 16;

/// Declares the readers of whole numbers, each with its range.
macro_rules! wholes {
    ($($name:ident: $type:ty = $range:expr;)*) => {$(
        pub(crate) fn $name<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
            // The range lies within the type, so the conversion never fails.
            from.deserialize_i64(Whole($range)).map(|whole| whole as $type)
        }
    )*};
}

wholes! {
    seed: u64 = 0..=i64::MAX;
    rails: u32 = 1..=i64::from(MOST_RAILS);
    pes: u32 = 1..=64;
    arity: u32 = 2..=64;
    levels: u32 = 1..=16;
    hosts: u32 = 2..=i64::from(MOST_HOSTS);
    ports: u32 = 2..=4096;
    switches: u32 = 1..=i64::from(MOST_HOSTS);
    hosts_per_switch: u32 = 1..=4096;
    links: u32 = 0..=i64::from(u32::MAX);
    host: u32 = 0..=i64::from(MOST_HOSTS) - 1;
    virtual_channels: u32 = 1..=8;
    buffer: u32 = 1..=65_536;
    go_mark: u32 = 0..=65_535;
    routing_delay: u32 = 1..=1000;
    response: u32 = 0..=1_000_000;
    transfers: u32 = 1..=64;
    moves: u32 = 0..=1_000_000;
    distance: u32 = 1..=64;
    cycles: u64 = 100..=1_000_000_000_000;
}

/// As [`seed`], for a part that has a seed of its own.
pub(crate) fn own_seed<'de, D: Deserializer<'de>>(from: D) -> Result<Seed, D::Error> {
    seed(from).map(Seed)
}

/// As [`hosts`], for a key that may be missing.
pub(crate) fn some_hosts<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    hosts(from).map(Some)
}

/// As [`links`], for a key that may be missing.
pub(crate) fn some_links<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    links(from).map(Some)
}

/// Declares the readers of real numbers, each with its range in words and in bounds.
macro_rules! reals {
    ($($name:ident = $words:literal, $range:expr;)*) => {$(
        pub(crate) fn $name<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
            from.deserialize_f64(Real { words: $words, range: $range })
        }
    )*};
}

/// Above zero, up to `high`.
const fn positive(high: f64) -> (Bound<f64>, Bound<f64>) {
    (Bound::Excluded(0.0), Bound::Included(high))
}

const fn closed(low: f64, high: f64) -> (Bound<f64>, Bound<f64>) {
    (Bound::Included(low), Bound::Included(high))
}

reals! {
    load_value = "a load above 0 and at most 1", positive(1.0);
    share = "a share from 0 to 1", closed(0.0, 1.0);
    striping = "a striping ratio from 0 to 1", closed(0.0, 1.0);
    precision = "a precision from 0.0001 to 0.5", closed(0.0001, 0.5);
    confidence = "a confidence from 0.5 to 0.9999", closed(0.5, 0.9999);
    saturation_precision = "a precision from 0.0001 to 0.2", closed(0.0001, 0.2);
}

/// A load, for a key that may be missing.
pub(crate) fn load<'de, D: Deserializer<'de>>(from: D) -> Result<Option<f64>, D::Error> {
    load_value(from).map(Some)
}

/// Declares the readers of quantities with units, each with its kind and its range.
macro_rules! quantities {
    ($($name:ident: $type:ty = $kind:literal, $range:expr;)*) => {$(
        pub(crate) fn $name<'de, D: Deserializer<'de>>(from: D) -> Result<$type, D::Error> {
            from.deserialize_str(Quantity { kind: $kind, range: $range })
        }
    )*};
}

const MESSAGE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 30);

const fn per_second(bytes: u64) -> Rate {
    Rate::from_bytes_per_second(bytes)
}

quantities! {
    flit: Bytes = "a size", Bytes::new(1)..=Bytes::new(1024);
    message: Bytes = "a size", MESSAGE;
    overhead: Bytes = "a size", Bytes::new(0)..=Bytes::new(1 << 20);
    control: Bytes = "a size", Bytes::new(1)..=Bytes::new(1 << 16);
    pool: Bytes = "a size", Bytes::new(1)..=Bytes::new(1 << 30);
    threshold: Bytes = "a size", Bytes::new(0)..=Bytes::new(1 << 30);
    rate: Rate = "a rate", per_second(1_000)..=per_second(1_000_000_000_000);
    wire: Time = "a time", Time::ZERO..=Time::from_ns(1_000_000);
    some_time: Time = "a time", Time::from_ns(1)..=Time::from_ns(1_000_000_000);
}

/// A time-out, for a key that may be missing.
pub(crate) fn timeout<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    some_time(from).map(Some)
}

/// A message size, or `None` for the word that stands in its place.
pub(crate) fn message_or<'de, D: Deserializer<'de>>(
    from: D,
    word: &'static str,
) -> Result<Option<Bytes>, D::Error> {
    from.deserialize_str(OrWord { word, quantity: Quantity { kind: "a size", range: MESSAGE } })
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

/// The path of a file.
pub(crate) fn file<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    from.deserialize_str(Path)
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

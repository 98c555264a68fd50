//! The range of every number and quantity of an experiment file, checked as the value is read so
//! that the error stands at the value.

use std::ops::RangeInclusive;

use crosstie_units::range::{self, closed};
use crosstie_units::{Bytes, Cost, Rate, Time, quantities, reals, wholes};
use serde::de::Error;
use serde::{Deserialize, Deserializer};

/// The most hosts a fabric may have.
pub(crate) const MOST_HOSTS: u32 = 65_536;

/// The most rails of a cluster.
pub(crate) const MOST_RAILS: u32 = 16;

wholes! {
    pes: u32 = 1..=64;
    arity: u32 = 2..=64;
    levels: u32 = 1..=16;
    hosts: u32 = 2..=i64::from(MOST_HOSTS);
    ports: u32 = 2..=4096;
    switches: u32 = 1..=i64::from(MOST_HOSTS);
    hosts_per_switch: u32 = 1..=4096;
    links: u32 = 0..=i64::from(u32::MAX);
    virtual_channels: u32 = 1..=8;
    buffer: u32 = 1..=65_536;
    routing_delay: u32 = 1..=1000;
    response: u32 = 0..=1_000_000;
    stage: u32 = 0..=1_000_000;
    clock_ppm: u32 = 0..=1000;
    transfers: u32 = 1..=64;
    round_trips: u32 = 1..=1_000_000;
    cycles: u64 = 100..=1_000_000_000_000;
    host_count: u32 = 1..=i64::from(MOST_HOSTS);
    host: u32 = 0..=i64::from(MOST_HOSTS) - 1;
    iterations: u32 = 1..=1_000_000;
    window: u32 = 1..=65_536;
    place: u32 = 0..=i64::from(MOST_RAILS) - 1;
    times: u32 = 1..=10_000;
    one_in: u32 = 2..=1_000_000_000;
}

/// A path that is none of nothing, for a key that may be missing.
pub(crate) fn some_file<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    range::file(from).map(Some)
}

/// As [`place`], for a key that may be missing.
pub(crate) fn some_place<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    place(from).map(Some)
}

/// As [`hosts`], for a key that may be missing.
pub(crate) fn some_hosts<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    hosts(from).map(Some)
}

/// As [`window`], for a key that may be missing.
pub(crate) fn some_window<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    window(from).map(Some)
}

/// As [`one_in`], for a key that may be missing.
pub(crate) fn some_one_in<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    one_in(from).map(Some)
}

/// As [`message`], for a key that may be missing.
pub(crate) fn some_message<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    message(from).map(Some)
}

/// As [`links`], for a key that may be missing.
pub(crate) fn some_links<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    links(from).map(Some)
}

reals! {
    precision = "a precision from 0.0001 to 0.5", closed(0.0001, 0.5);
    confidence = "a confidence from 0.5 to 0.9999", closed(0.5, 0.9999);
    saturation_precision = "a precision from 0.0001 to 0.2", closed(0.0001, 0.2);
}

const MESSAGE: RangeInclusive<Bytes> = Bytes::new(1)..=Bytes::new(1 << 30);

const fn per_second(bytes: u64) -> Rate {
    Rate::from_bytes_per_second(bytes)
}

quantities! {
    flit: Bytes = "a size", Bytes::new(1)..=Bytes::new(1024);
    message: Bytes = "a size", MESSAGE;
    any_message: Bytes = "a size", Bytes::new(0)..=Bytes::new(1 << 30);
    overhead: Bytes = "a size", Bytes::new(0)..=Bytes::new(1 << 20);
    control: Bytes = "a size", Bytes::new(1)..=Bytes::new(1 << 16);
    eager: Bytes = "a size", Bytes::new(0)..=Bytes::new(1 << 30);
    pool: Bytes = "a size", Bytes::new(1)..=Bytes::new(1 << 30);
    rate: Rate = "a rate", per_second(1_000)..=per_second(1_000_000_000_000);
    wire: Time = "a time", Time::ZERO..=Time::from_ns(1_000_000);
    per_byte: Time = "a time", Time::ZERO..=Time::from_ns(1_000);
    budget: Time = "a time", Time::ZERO..=Time::from_ns(10_000_000_000_000);
    moment: Time = "a time", Time::ZERO..=Time::from_ns(100_000_000_000);
    duration: Time = "a time", Time::from_ps(1)..=Time::from_ns(100_000_000_000);
}

/// As [`duration`], for a key that may be missing.
pub(crate) fn some_duration<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    duration(from).map(Some)
}

/// As [`pool`], for a key that may be missing.
pub(crate) fn some_pool<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    pool(from).map(Some)
}

/// As [`rate`], for a key that may be missing.
pub(crate) fn some_rate<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Rate>, D::Error> {
    rate(from).map(Some)
}

/// As [`wire`], for a key that may be missing.
pub(crate) fn some_wire<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Time>, D::Error> {
    wire(from).map(Some)
}

quantities! { mtu: Bytes = "a size", Bytes::new(46)..=Bytes::new(65_535); }

/// As [`mtu`], for a key that may be missing.
pub(crate) fn some_mtu<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Bytes>, D::Error> {
    mtu(from).map(Some)
}

/// A cost of a packet.
pub(crate) fn cost<'de, D: Deserializer<'de>>(from: D) -> Result<Cost, D::Error> {
    const MOST: Time = Time::from_ns(1_000_000_000);
    const MOST_PER_BYTE: Time = Time::from_ns(1_000_000);
    let cost = Cost::deserialize(from)?;
    let parts = [
        ("fixed", cost.fixed, MOST),
        ("byte", cost.byte, MOST_PER_BYTE),
        ("node", cost.node, MOST_PER_BYTE),
        ("byte-node", cost.byte_node, MOST_PER_BYTE),
    ];
    for (part, time, most) in parts {
        if time > most {
            let problem = format!("found `{part}` of {time}, expected at most {most}");
            return Err(D::Error::custom(problem));
        }
    }
    Ok(cost)
}

/// A message size, or `None` for the word that stands in its place.
pub(crate) fn message_or<'de, D: Deserializer<'de>>(
    from: D,
    word: &'static str,
) -> Result<Option<Bytes>, D::Error> {
    range::size_or(from, word, MESSAGE)
}

//! Seeds, made of what ranks say to each other, to launchers and into memory.
//!
//! `cargo test -p crosstie-wire --lib write_all_seeds -- --ignored` writes them anew; those with
//! other names, which fuzzers have found, stay.

use std::collections::BTreeMap;
use std::fs;

use crosstie_protocol::PolicyKind;
use crosstie_protocol::channel::{ChannelSpec, GoBackNSpec, SelectiveSpec};
use crosstie_protocol::message::Tag;
use crosstie_units::{Seed, Time};

use super::super::air::{self, Air};
use super::super::pair::{SECRET, ms, rank};
use super::chance::folder;
use crate::datagram::{Body, Datagram};
use crate::envelope;
use crate::key::{Course, Key};

fn write(target: &str, name: &str, bytes: &[u8]) {
    let folder = folder(target);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), bytes).unwrap();
}

/// One datagram of each kind that two ranks send each other.
fn datagrams() -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let after = Time::from_ns(100_000);
    let channels: [ChannelSpec; 2] = [
        SelectiveSpec { least: ms(5), ahead: ms(1), after, ..SelectiveSpec::LIVE }.into(),
        GoBackNSpec { window: 16, timeout: ms(5), every: 2, after, simple: false }.into(),
    ];
    let striping = crosstie_protocol::StripingRatio::ALL;
    let policies = [PolicyKind::Pull {}, PolicyKind::Dynamic { striping, timeout: None }];
    for (channel, policy) in channels.into_iter().flat_map(|c| policies.map(|p| (c, p))) {
        let air = Air::new(1);
        let mut ranks = [0, 1].map(|number| rank((policy, channel, 1000), number, &air, 1));
        for size in [10, 700, 4000] {
            let bytes = vec![7; size];
            ranks[0].send(Time::ZERO, 1, Tag(1), &bytes);
            ranks[1].receive(Time::ZERO, Some(0), Some(Tag(1)), size);
        }
        for _ in 0..200 {
            let mut sky = air::lock(&air);
            sky.flights.now = sky.flights.now + Time::from_ns(10_000);
            let now = sky.flights.now;
            for (to, rail, datagram) in sky.past() {
                let course = Course { to: *to, rail: *rail };
                let read = Datagram::decode(datagram, &Key::new(SECRET), course);
                let (Datagram { body, .. }, load) = read.unwrap();
                let name = format!("{body:?}");
                let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
                let name = name[..end].to_lowercase();
                if let (Body::Whole { .. }, Some((found, _))) = (body, envelope::decode(load)) {
                    let name = format!("{:?}", found.body);
                    let end = name.find(|c: char| !c.is_alphanumeric()).unwrap_or(name.len());
                    let name = format!("envelope/{}", name[..end].to_lowercase());
                    all.entry(name).or_insert_with(|| load[..load.len().min(60)].to_vec());
                }
                let short = datagram[..datagram.len().min(100)].to_vec();
                all.entry(format!("datagram/{name}")).or_insert(short);
            }
            drop(sky);
            ranks.iter_mut().for_each(|rank| _ = rank.progress(now));
        }
    }
    all
}

#[test]
#[ignore = "it writes into the repository"]
fn write_all_seeds() {
    let datagrams = datagrams();
    for (name, bytes) in &datagrams {
        let (target, name) = name.split_once('/').unwrap();
        write(target, name, bytes);
    }
    assert!(datagrams.len() >= 9, "{:?}", datagrams.keys());

    let line = |longest: u32, network: &str, station: &str, name: &str| {
        format!("udp\t{longest}\trouted\t{network}\t{station}\t{name}\n")
    };
    let two = |rank: &str, longest: u32| {
        let (first, second) = (format!("10.1.0.{rank}"), format!("10.2.0.{rank}"));
        let first = line(1472, "10.1.0.0", &first, "eth0");
        first + &line(longest, "10.2.0.0", &second, "eth1")
    };
    let (one, other) = (two("1", 1472), two("2", 8972));
    let far = line(1472, "10.9.0.0", "10.9.0.1", "a");
    let memory = "memory\t32760\t-\tboot/1.2/0\t\tmemory\n";
    write("offers", "two-rails", format!("\x04{one}\n{other}").as_bytes());
    write("offers", "routed", format!("\x04{one}\n{far}").as_bytes());
    write("offers", "one-machine", format!("\0{one}{memory}\n{one}{memory}").as_bytes());
    let six = |rank: u32, longest| line(longest, "fd00::", &format!("fd00::{rank}"), "a b");
    let six = [six(1, 1452), six(2, 1452), six(3, 1232)].join("\n");
    write("offers", "v6", format!("\x1b{six}").as_bytes());

    write("told", "two-rails", format!("a/1\n17\n{one}{memory}").as_bytes());
    write("told", "nothing", b"a\n0\n");

    let four = [&[6, 0, 10, 1, 0, 1, 27, 88][..], &[6, 0, 10, 2, 0, 1, 0, 0]].concat();
    let six = [&[18, 0, 0xfd][..], &[0; 14], &[1, 27, 89]].concat();
    write("addresses", "four", &four);
    write("addresses", "six", &six);
    let name = b"crosstie-0123456789abcdef0123456789abcdef";
    write("addresses", "memory", &[&four[..8], &[name.len() as u8, 0], name].concat());
    write("addresses", "cut", &four[..11]);

    let options = "CROSSTIE_POLICY=pull\nCROSSTIE_CHANNEL=go-back-n:11\nCROSSTIE_MEMORY=off\n\
                   CROSSTIE_PATIENCE=0.5\nCROSSTIE_EAGER=0\nCROSSTIE_RAILS=eth0,10.0.0.1\n\
                   CROSSTIE_COLLECTIVE=all-reduce=ring\n";
    write("options", "all", options.as_bytes());

    write("ring", "short", &[2, 0, 0, 0, 8, 100, 1, 0, 30, 1, 1, 0, 100, 100, 100, 100]);
    write("ring", "wraps", &[0, 0xe3, 0, 0, 90, 100, 0, 0, 90, 100, 0, 0, 90, 100, 100]);
    write("ring", "a-mark", &[1, 0, 0, 0, 9, 230, 0, 0xe0, 100, 100, 0, 0, 9]);
    write("ring", "a-head", &[1, 5, 0, 0, 9, 250, 200, 0, 1, 0, 0, 1, 0, 0, 1, 0, 100]);

    write("segment", "sound", &[0]);
    write("segment", "another-magic", &[0, 0, 7]);
    write("segment", "other-ranks", &[1, 2, 9]);
    write("segment", "other-rings", &[0, 4, 0xf0, 0, 2, 0, 0]);
    write("segment", "longer", &[0, 255, 8]);
    let everywhere: Vec<u8> = (1..120).flat_map(|at| [at, 0xe0 + at % 16]).collect();
    write("segment", "everywhere", &[&[0][..], &everywhere].concat());

    // Policy, channel, eager; then what happens. An eager message, with what asks for it.
    write("neighbour", "eager", &[0, 0, 2, 30, 20, 20, 1, 75, 0, 200, 1, 8, 0, 0, 0, 0, 1]);
    // A request, which is answered; then the address of its bytes, a piece of it, and its end.
    let request = [30, 200, 9, 1, 75, 0, 200, 1, 200, 3, 1, 0, 0];
    write("neighbour", "address", &[&[0, 0, 0][..], &request, &[76, 0, 5, 0, 200, 60]].concat());
    write("neighbour", "piece", &[&[0, 0, 0][..], &request, &[77, 0, 1, 0, 90, 60]].concat());
    // More answers than there is room for.
    let addresses = [241, 0, 0, 0, 9].repeat(40);
    write("neighbour", "addresses", &[&[0, 0, 0][..], &addresses].concat());
    write("neighbour", "landed", &[0, 0, 0, 5, 200, 200, 1, 78, 0, 78, 1, 60, 78, 2]);

    // Rails, policy, channel, eager; then what happens.
    let exchange =
        [0, 0, 0, 20, 0, 1, 1, 150, 90, 0, 0, 2, 240, 115, 90, 120, 0, 1, 0, 180, 90, 140];
    for (number, policy) in (0u8..).zip(PolicyKind::all()) {
        let begin = [1 + number % 2, number, number % 2, number % 3];
        write("pair", policy.name(), &[&begin[..], &exchange].concat());
    }
    let pull = 13;
    let with = |name, middle: &[u8]| {
        let script = [&[1, pull, 0, 2], &exchange[..], middle, &exchange].concat();
        write("pair", name, &script);
    };
    with("loss", &[160, 0, 0x78, 0, 0, 2, 250, 120, 160, 1, 0x79, 150]);
    with("repetition", &[160, 0, 0x7b, 3, 160, 1, 0x7b, 2, 120]);
    with("reordering", &[160, 0, 0x0c, 90, 160, 1, 0x2c, 40, 120]);
    with("corruption", &[160, 0, 0x7d, 1, 44, 160, 1, 0x7e, 0, 20, 160, 0, 0x7f, 9]);
    with("rail-dies", &[0, 0, 2, 250, 114, 210, 0, 0, 148, 210, 0, 2, 146]);
    with("rail-down", &[0, 0, 2, 250, 114, 210, 1, 1, 148, 210, 1, 2, 146]);
    with("stranger", &[233, 1, 0, 0x10, 1, 2, 3]);
    with("old-job", &[241, 0, 1, 0x11, 0x80, 0, 1]);
    with("replay", &[247, 3, 1, 0, 248, 9, 0, 1, 120]);
    with("peer-dies", &[0, 0, 2, 250, 254, 250, 1]);

    let mut random = Seed(3).stream("peer", 0);
    for number in 0u8..6 {
        let random: Vec<u8> = (0..300).map(|_| random.below(256) as u8).collect();
        let begin = [number % 2, if number < 3 { pull } else { number }, number % 2, number % 3];
        write("peer", &format!("any-{number}"), &[&begin[..], &random].concat());
    }
    // Receives, and an RTS, CTS and data for them; an eager message.
    let script = [
        30, 100, 9, 0, 5, 40, 9, 1, 100, 0, 9, 0, 0, 0, 0, 0, 1, 0, 40, 1, 200, 0, 5, 100, 0, 11,
        1, 1, 0, 0, 40, 3, 0, 200, 0, 5, 100, 0, 0, 2, 1, 0x80, 0, 0, 30,
    ];
    write("peer", "rendezvous", &[&[0, pull, 0, 1][..], &script].concat());
}

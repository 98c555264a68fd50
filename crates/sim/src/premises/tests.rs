//! Buses against closed forms, and competitors against their share.

use super::*;
use crate::ideal::{Ideal, IdealSpec, UnequalSpec};
use crosstie_protocol::Packing;
use proptest::prelude::*;

const INTEREST: Interest = Interest {
    departures: true,
    arriving: true,
    acknowledges: false,
    attention: Attention::AtOnce,
};
const LATENCY: Time = Time::from_ns(1000);

/// So many megabytes in a second.
fn rate(megabytes: u64) -> Pace {
    Pace { time: Time::from_ns(1000), bytes: megabytes }
}

/// Two hosts on wires of 2 GB/s, so that buses are what takes time.
fn wires(rails: u32) -> IdealSpec {
    IdealSpec {
        hosts: 2,
        rails,
        pace: rate(2000),
        latency: LATENCY,
        gap: Time::ZERO,
        cycle: Time::from_ns(1),
    }
}

/// PCI-X as measured by Liu et al.: 884 MB/s read, and what makes 943 both ways.
const PCI_X: BusSpec = BusSpec {
    read: Pace { time: Time::from_ns(1000), bytes: 884 },
    write: Pace { time: Time::from_ns(1000), bytes: 1008 },
    both_at_once: false,
    overhead: Time::ZERO,
};

fn packet(id: u64, rail: u32, from: u32, bytes: u32) -> Packet {
    let (to, siblings, departs, ends) = (1 - from, 1, true, Ends::Memories);
    Packet { rail, from, to, bytes, id, siblings, departs, ends, priority: Priority::Low }
}

fn on_buses(bus: BusSpec, numbers: &[u32]) -> PremisesSpec {
    PremisesSpec { buses: Some((bus, numbers.to_vec())), competitors: Vec::new() }
}

/// Keeps so many packets under way for each rail and sender, and gives the bytes that each host has
/// received at a time.
fn stream(spec: &PremisesSpec, rails: u32, senders: &[u32], bytes: u32, until: Time) -> [u64; 2] {
    let blueprint = Equipped { network: Box::new(wires(rails)), premises: spec };
    let mut network = blueprint.build(INTEREST);
    let mut received = [0; 2];
    let number = |rail: u32, from: u32| u64::from(rail * 2 + from);
    for window in 0..8 {
        for rail in 0..rails {
            for &from in senders {
                network.inject(packet(window << 8 | number(rail, from), rail, from, bytes));
            }
        }
    }
    let mut told = Vec::new();
    while network.now() < until {
        network.run_until(until, &mut told);
        for event in told.drain(..) {
            if let Fate::Arrived(_) = event.fate {
                let (rail, from) = ((event.id & 0xff) as u32 / 2, (event.id & 1) as u32);
                received[1 - from as usize] += u64::from(bytes);
                network.inject(packet(event.id, rail, from, bytes));
            }
        }
    }
    received
}

/// Megabytes in a second, of what was received in ten milliseconds.
fn megabytes(received: u64) -> f64 {
    received as f64 / 10_000.0
}

const TEN_MS: Time = Time::from_ns(10_000_000);

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found / expected - 1.0).abs() < 0.005, "found {found}, expected {expected}");
}

#[test]
fn one_way_a_stream_is_as_fast_as_the_slower_bus() {
    let [_, received] = stream(&on_buses(PCI_X, &[0]), 1, &[0], 2048, TEN_MS);
    near(megabytes(received), 884.0);
    let slow_write = BusSpec { write: rate(500), ..PCI_X };
    let [_, received] = stream(&on_buses(slow_write, &[0]), 1, &[0], 2048, TEN_MS);
    near(megabytes(received), 500.0);
}

#[test]
fn both_ways_read_and_write_share_the_bus_and_neither_starves() {
    let received = stream(&on_buses(PCI_X, &[0]), 1, &[0, 1], 2048, TEN_MS);
    // Each byte is read and written in turn on either bus.
    let both = 2.0 / (1.0 / 884.0 + 1.0 / 1008.0);
    near(both, 943.0);
    near(megabytes(received[0] + received[1]), both);
    near(received[0] as f64, received[1] as f64);
}

#[test]
fn a_bus_that_does_both_at_once_gives_each_way_all() {
    let full = BusSpec { both_at_once: true, write: rate(884), ..PCI_X };
    let received = stream(&on_buses(full, &[0]), 1, &[0, 1], 2048, TEN_MS);
    for received in received {
        near(megabytes(received), 884.0);
    }
}

#[test]
fn overhead_is_paid_by_every_packet() {
    let bus = BusSpec { overhead: Time::from_ns(500), ..PCI_X };
    let [_, received] = stream(&on_buses(bus, &[0]), 1, &[0], 884, TEN_MS);
    near(megabytes(received), 884.0 / 1.5);
}

#[test]
fn nics_on_one_bus_share_it_and_nics_on_buses_of_their_own_do_not() {
    let [_, shared] = stream(&on_buses(PCI_X, &[0, 0]), 2, &[0], 2048, TEN_MS);
    near(megabytes(shared), 884.0);
    let [_, own] = stream(&on_buses(PCI_X, &[0, 1]), 2, &[0], 2048, TEN_MS);
    near(megabytes(own), 2.0 * 884.0);
}

#[test]
fn a_packet_takes_its_buses_and_its_wires_one_after_the_other() {
    let spec = on_buses(PCI_X, &[0]);
    let blueprint = Equipped { network: Box::new(wires(1)), premises: &spec };
    let mut network = blueprint.build(INTEREST);
    network.inject(packet(7, 0, 0, 2000));
    let mut told = Vec::new();
    while network.next().is_some() {
        network.run_until(TEN_MS, &mut told);
    }
    let read = PCI_X.read.time_for(2000);
    let wire = rate(2000).time_for(1999);
    let arriving = read + LATENCY + wire;
    let arrived = arriving + PCI_X.write.time_for(2000);
    let found: Vec<_> = told.iter().map(|event| (event.at, event.id, event.fate)).collect();
    let passage = Passage { began: read, switches: 0 };
    let expected = [
        (read + wire, 7, Fate::Left),
        (arriving, 7, Fate::Arriving),
        (arrived, 7, Fate::Arrived(passage)),
    ];
    assert_eq!(found, expected);
}

#[test]
fn control_packets_cross_no_bus() {
    let spec = on_buses(PCI_X, &[0]);
    let blueprint = Equipped { network: Box::new(wires(1)), premises: &spec };
    let mut network = blueprint.build(INTEREST);
    network.inject(packet(1, 0, 0, 1 << 20));
    network.inject(Packet { ends: Ends::Nics, ..packet(2, 0, 0, 1) });
    let mut told = Vec::new();
    network.run_until(TEN_MS, &mut told);
    assert_eq!((told[0].at, told[0].id), (LATENCY, 2));
}

fn competitor(window: u32, begin: u64, end: u64) -> CompetitorSpec {
    CompetitorSpec {
        rail: 0,
        from: 0,
        to: 1,
        message: 10_000,
        packing: Packing { payload: Some(2048), overhead: 0 },
        begin: Time::from_ns(begin),
        end: Time::from_ns(end),
        window,
    }
}

#[test]
fn a_competitor_with_as_many_packets_takes_half_while_it_is_there() {
    let none = stream(&PremisesSpec::default(), 1, &[0], 2048, TEN_MS);
    near(megabytes(none[1]), 2000.0);
    let spec = PremisesSpec {
        competitors: vec![competitor(8, 5_000_000, 9_000_000)],
        ..Default::default()
    };
    let [_, received] = stream(&spec, 1, &[0], 2048, TEN_MS);
    // Its packets are a little shorter on average, since messages end with a rest.
    let mean = 10_000.0 / 5.0;
    let share = 2048.0 / (2048.0 + mean);
    near(megabytes(received), 2000.0 * (0.6 + 0.4 * share));
}

#[test]
fn what_a_competitor_carries_is_told_and_nodes_hear_nothing_of_it() {
    let spec =
        PremisesSpec { competitors: vec![competitor(16, 0, 10_000_000)], ..Default::default() };
    let blueprint = Equipped { network: Box::new(wires(1)), premises: &spec };
    let mut network = blueprint.build(INTEREST);
    let mut told = Vec::new();
    while network.next().is_some() {
        network.run_until(TEN_MS * 2, &mut told);
    }
    assert!(told.is_empty());
    let [Carried { bytes, lost: 0 }] = network.carried()[..] else { panic!("there is one") };
    near(megabytes(bytes), 2000.0);
}

#[test]
fn a_competitor_goes_on_where_a_wire_was_down() {
    let down = |at, to| crate::network::Change { at: Time::from_ns(at), port: 0, hosts: None, to };
    let wires = UnequalSpec {
        hosts: 2,
        ports: vec![0],
        paces: vec![rate(2000)],
        latency: LATENCY,
        gap: None,
        cycle: Time::from_ns(1),
        changes: vec![
            down(2_000_000, crate::network::Condition::Down),
            down(2_010_000, crate::network::Condition::Up),
        ],
    };
    let spec = PremisesSpec {
        competitors: vec![competitor(16, 0, 10_000_000)],
        buses: Some((PCI_X, vec![0])),
    };
    let blueprint = Equipped { network: Box::new(wires), premises: &spec };
    let mut network = blueprint.build(INTEREST);
    network.run_until(TEN_MS, &mut Vec::new());
    let [Carried { bytes, lost }] = network.carried()[..] else { panic!("there is one") };
    assert!((1..=16).contains(&lost), "{lost} lost");
    near(megabytes(bytes), 884.0);
}

proptest! {
    /// Without anything on them, premises are not there.
    #[test]
    fn empty_premises_change_nothing(
        sent in prop::collection::vec((0..2000u64, 0..2u32, 0..2u32, 1..300u32, any::<bool>()), 1..40),
    ) {
        let mut sent = sent;
        sent.sort_unstable();
        let spec = PremisesSpec::default();
        let blueprint = Equipped { network: Box::new(wires(2)), premises: &spec };
        let late = Interest { attention: Attention::Late, ..INTEREST };
        let run = |network: &mut dyn Network| {
            let mut told = Vec::new();
            for (id, &(at, rail, from, bytes, nics)) in (0..).zip(&sent) {
                network.run_until(Time::from_ns(at), &mut told);
                let ends = if nics { Ends::Nics } else { Ends::Memories };
                network.inject(Packet { ends, ..packet(id, rail, from, bytes) });
            }
            network.run_until(TEN_MS, &mut told);
            told
        };
        prop_assert_eq!(run(&mut *blueprint.build(late)), run(&mut Ideal::new(wires(2), late)));
    }
}

//! Elans on the network of the paper's machine: a 4-ary 2-tree.

use super::mmu::{Grant, Memory, Process, Stretch, TlbSpec};
use super::network::{Elans, everything};
use super::{ElanSpec, Format, PciSpec, WithElans};
use crate::network::{Attention, Ends, Event, Fate, Interest, Network, Packet, Priority};
use crate::wormhole::{Bus, Circuits, Config, Errors, WormholeSpec};
use crosstie_fabric::{Fabric, tree};
use crosstie_routing::{Routing, TreeAdaptive};
use crosstie_units::{Rate, Seed, Time};
use proptest::prelude::*;

const MB: u64 = 1_000_000;

fn rate(megabytes: u64) -> Rate {
    Rate::from_bytes_per_second(megabytes * MB)
}

/// Elan3 with all of its fixed costs alike, as `presets/qsnet-elan3.toml` has it.
fn elan3(source: Memory, destination: Memory) -> ElanSpec {
    let step = Time::from_ns(200);
    ElanSpec {
        format: Format { block: 64, blocks: 5, header: 18, block_overhead: 8 },
        post: step,
        command: step,
        start: step,
        slice: 8,
        input: step,
        event: step,
        copy: step,
        copied: 64,
        notice: step,
        path: Some(rate(540)),
        link: rate(400),
        buffers: 4,
        ahead: 4,
        circuits: 2,
        pci: PciSpec {
            read: rate(200),
            write: rate(275),
            both: Some(rate(275)),
            read_latency: Time::from_ns(500),
            write_latency: Time::from_ns(250),
        },
        tlb: TlbSpec { entries: 16, page: 8192, miss: Time::ZERO },
        source,
        destination,
    }
}

/// QsNet with links of 400 MB/s, flits of 2 bytes, and 50 ns for each hop, there and back.
fn config(errors: Option<Errors>) -> Config {
    Config {
        virtual_channels: 2,
        buffer: 128,
        routing_delay: 6,
        wire: 3,
        circuits: Some(Circuits { acknowledge: 10, errors, withheld: true }),
        bus: Bus::Full,
        ..Config::default()
    }
}

/// Runs puts (when, from, to, bytes), each with its place as number: what is told of them.
fn run(elan: ElanSpec, puts: &[(u64, u32, u32, u32)]) -> Vec<Event> {
    run_with(elan, puts, None, &everything)
}

/// The same where links have errors, and processes grant what is said.
fn run_with(
    elan: ElanSpec,
    puts: &[(u64, u32, u32, u32)],
    errors: Option<Errors>,
    grants: &dyn Fn(Process) -> Vec<Grant>,
) -> Vec<Event> {
    let fabric: Fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let routing: &dyn Routing = &routing;
    let config = config(errors);
    let (rails, flit, cycle) = (1, 2, Time::from_ns(5));
    let network = WormholeSpec { fabric: &fabric, routing, rails, config: &config, flit, cycle };
    let elans = WithElans { network: Box::new(network), elan };
    let attention = Attention::AtOnce;
    let interest = Interest { departures: true, arriving: true, acknowledges: true, attention };
    let within = Interest { arriving: false, ..interest };
    let mut network: Box<dyn Network> =
        Box::new(Elans::new(&elans, elans.network.build(within), interest, grants));
    let mut told = Vec::new();
    let go_on = |network: &mut dyn Network, until: Time, told: &mut Vec<Event>| {
        while network.now() < until && network.next().is_some() {
            network.run_until(until, told);
        }
        network.run_until(until, told);
    };
    for (id, &(at, from, to, bytes)) in (0..).zip(puts) {
        go_on(&mut *network, Time::from_ns(at), &mut told);
        let (rail, siblings, departs) = (0, 1, true);
        let (ends, priority) = (Ends::Memories, Priority::Low);
        network.inject(Packet { rail, from, to, bytes, id, siblings, departs, ends, priority });
    }
    go_on(&mut *network, Time::from_ns(1_000_000_000), &mut told);
    assert!(network.next().is_none() && network.deadlock().is_none());
    told
}

fn when(told: &[Event], id: u64, is: fn(Fate) -> bool) -> Time {
    let mut of_it = told.iter().filter(|event| event.id == id && is(event.fate));
    let event = of_it.next().unwrap_or_else(|| panic!("put {id}: {told:?}"));
    assert!(of_it.next().is_none(), "put {id} ends once");
    event.at
}

/// When the process that sends a put knows that it is acknowledged.
fn acknowledged(told: &[Event], id: u64) -> f64 {
    let left = when(told, id, |fate| fate == Fate::Left);
    assert!(left <= when(told, id, |fate| fate == Fate::Acknowledged));
    left.seconds() * 1e6
}

fn arrived(told: &[Event], id: u64) -> f64 {
    when(told, id, |fate| matches!(fate, Fate::Arrived(_))).seconds() * 1e6
}

/// What one put takes at its source.
fn takes(source: Memory, destination: Memory, to: u32, bytes: u32) -> f64 {
    acknowledged(&run(elan3(source, destination), &[(0, 0, to, bytes)]), 0)
}

/// What two puts take that go both ways at once.
fn both(memory: Memory, bytes: u32) -> f64 {
    let told = run(elan3(memory, memory), &[(0, 0, 1, bytes), (0, 1, 0, bytes)]);
    acknowledged(&told, 0).max(acknowledged(&told, 1))
}

const LONG: u32 = 1 << 20;

/// The bytes that all put in a microsecond, if so many nodes put a long block to one.
fn writers(spec: ElanSpec, count: u32) -> f64 {
    let puts: Vec<_> = (1..=count).map(|from| (0, from, 0, LONG)).collect();
    let told = run(spec, &puts);
    let last = (0..count).map(|id| acknowledged(&told, id.into())).fold(0.0, f64::max);
    f64::from(count) * f64::from(LONG) / last
}

fn near(found: f64, expected: f64, by: f64) {
    assert!((found - expected).abs() <= by, "{found}, expected {expected}");
}

/// Written out step by step: seven steps of 200 ns, 17 bytes of header before the EOP and the way
/// there (14 cycles to the far side of a switch and its wires), two channels of acknowledge, and a
/// block of 64 bytes on the bus. A block adds its bytes on the link and through the inputter's path.
#[test]
fn a_put_takes_its_steps_one_after_the_other() {
    let none = 7.0 * 0.2 + 8.0 * 0.005 + 14.0 * 0.005 + 0.1 + 64.0 / 275.0 + 0.25;
    near(takes(Memory::Elan, Memory::Elan, 1, 0), none, 0.006);
    let block = none + 72.0 / 400.0 + 64.0 / 540.0;
    near(takes(Memory::Elan, Memory::Elan, 1, 64), block, 0.006);
    let read = 0.5 + 64.0 / 200.0;
    let write = 0.25 + 64.0 / 275.0;
    near(takes(Memory::Main, Memory::Elan, 1, 64), block + read, 0.006);
    near(takes(Memory::Elan, Memory::Main, 1, 64), block + write, 0.006);
    near(takes(Memory::Main, Memory::Main, 1, 64), block + read + write, 0.006);
    // Two switches more, there and back.
    near(takes(Memory::Elan, Memory::Elan, 5, 64), block + 4.0 * 0.05, 0.006);
}

#[test]
fn any_part_of_a_block_takes_what_a_block_takes() {
    for memory in [Memory::Elan, Memory::Main] {
        for bytes in [1, 2, 63] {
            assert_eq!(takes(memory, memory, 1, bytes), takes(memory, memory, 1, 64), "{bytes}");
        }
        assert!(takes(memory, memory, 1, 65) > takes(memory, memory, 1, 64));
    }
}

/// The slowest stage decides, since all overlap: 320 of 378 bytes on the link, the bus, or both
/// ways through the NIC.
#[test]
fn long_puts_are_as_fast_as_the_slowest_stage() {
    use Memory::{Elan, Main};
    let rate = |us: f64| f64::from(LONG) / us;
    for (source, destination, expected) in
        [(Elan, Elan, 338.6), (Elan, Main, 275.0), (Main, Elan, 200.0), (Main, Main, 200.0)]
    {
        near(rate(takes(source, destination, 1, LONG)), expected, 1.0);
    }
    near(rate(both(Elan, LONG)), 270.0, 1.0);
    near(rate(both(Main, LONG)), 137.5, 1.0);
    let alone = ElanSpec { path: None, ..elan3(Elan, Elan) };
    let told = run(alone, &[(0, 0, 1, LONG), (0, 1, 0, LONG)]);
    near(rate(acknowledged(&told, 0)), 338.6, 1.0);
}

#[test]
fn writers_of_one_memory_share_its_bus() {
    let main = elan3(Memory::Main, Memory::Main);
    near(writers(main, 1), 200.0, 1.0);
    for count in [2, 3, 7] {
        near(writers(main, count), 275.0, 1.0);
    }
}

#[test]
fn a_put_is_done_at_its_destination_when_all_of_it_is_in_memory() {
    for memory in [Memory::Elan, Memory::Main] {
        for bytes in [0, 1, 320, 321, 5000] {
            let told = run(elan3(memory, memory), &[(0, 0, 1, bytes)]);
            // Its event is set when the acknowledge leaves, which takes two channels back.
            near(acknowledged(&told, 0) - arrived(&told, 0), 0.1, 0.006);
            let arriving = when(&told, 0, |fate| fate == Fate::Arriving);
            assert!(arriving.seconds() * 1e6 < arrived(&told, 0));
        }
    }
}

/// Its bus passes everything twice, and the path too.
#[test]
fn within_a_node_data_cross_the_bus_twice() {
    let rate = |us: f64| f64::from(LONG) / us;
    near(rate(takes(Memory::Main, Memory::Main, 0, LONG)), 137.5, 1.0);
    near(rate(takes(Memory::Elan, Memory::Elan, 0, LONG)), 270.0, 1.0);
    let main = elan3(Memory::Main, Memory::Main);
    let told = run(main, &[(0, 0, 0, LONG), (0, 0, 0, LONG)]);
    near(rate(acknowledged(&told, 0).max(acknowledged(&told, 1))), 68.75, 1.0);
}

#[test]
fn a_path_that_is_slower_than_the_link_is_passed_before() {
    let slow = ElanSpec { path: Some(rate(100)), ..elan3(Memory::Elan, Memory::Elan) };
    let found = acknowledged(&run(slow, &[(0, 0, 1, 64)]), 0);
    let fast = takes(Memory::Elan, Memory::Elan, 1, 64);
    near(found - fast, 64.0 / 100.0 + (64.0 / 100.0 - 64.0 / 540.0), 0.006);
    let rate = f64::from(LONG) / acknowledged(&run(slow, &[(0, 0, 1, LONG)]), 0);
    near(rate, 100.0, 1.0);
}

/// A put of one packet does not wait for a megabyte before it.
#[test]
fn short_puts_pass_long_ones() {
    let told = run(elan3(Memory::Elan, Memory::Elan), &[(0, 0, 1, LONG), (1000, 0, 2, 64)]);
    let alone = takes(Memory::Elan, Memory::Elan, 2, 64);
    let found = acknowledged(&told, 1) - 1.0;
    // A time slice of eight packets, and what has been read ahead, go before.
    assert!(found > alone && found < alone + 14.0, "{found}, {alone}");
}

#[test]
fn every_pair_gets_through_when_all_put_to_all() {
    let pairs = (0..16).flat_map(|from| (0..16).map(move |to| (from, to)));
    let puts: Vec<_> = pairs
        .filter(|(from, to)| from != to)
        .map(|(from, to)| (0, from, to, 1000 + 64 * (from + to)))
        .collect();
    for memory in [Memory::Elan, Memory::Main] {
        let told = run(elan3(memory, memory), &puts);
        for id in 0..puts.len() as u64 {
            assert!(acknowledged(&told, id) > 0.0 && arrived(&told, id) > 0.0);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// Whatever CRCs find, each put is delivered once and acknowledged once.
    #[test]
    fn garbled_packets_go_again(
        puts in prop::collection::vec((0..20_000u64, 0..16u32, 1..16u32, 0..3000u32), 1..20),
        probability in 0.0..0.4f64, seed: u64,
    ) {
        let mut puts: Vec<_> =
            puts.into_iter().map(|(at, from, step, bytes)| (at, from, (from + step) % 16, bytes)).collect();
        puts.sort_unstable();
        let errors = Some(Errors { probability, seed: Seed(seed) });
        let told = run_with(elan3(Memory::Elan, Memory::Main), &puts, errors, &everything);
        for id in 0..puts.len() as u64 {
            prop_assert!(arrived(&told, id) > 0.0 && acknowledged(&told, id) > 0.0);
        }
    }

    /// A put is delivered if and only if its sender may read and its receiver lets it write; all
    /// others end in an error, once, and hinder nobody.
    #[test]
    fn nothing_is_delivered_that_is_not_granted(
        grants in prop::collection::vec((0..2000u32, 0..4u32, any::<bool>(), any::<bool>()), 16),
        puts in prop::collection::vec((0..20_000u64, 0..16u32, 1..16u32, 0..2000u32), 1..20),
    ) {
        let mut puts: Vec<_> =
            puts.into_iter().map(|(at, from, step, bytes)| (at, from, (from + step) % 16, bytes)).collect();
        puts.sort_unstable();
        let granted = |process: Process| -> Vec<Grant> {
            let (bytes, first, read, write) = grants[process as usize];
            let own = &everything(process)[0];
            // What a process reads of its own is granted to itself.
            let partners = [first..=first + 8, process..=process];
            let stretch = Stretch { bytes, ..own.stretch };
            partners.map(|partners| Grant { stretch, partners, read, write, ..own.clone() }).to_vec()
        };
        let told = run_with(elan3(Memory::Main, Memory::Main), &puts, None, &granted);
        for (id, &(_, from, to, bytes)) in (0..).zip(&puts) {
            let (source, destination) = (grants[from as usize], grants[to as usize]);
            let may_read = source.2 && bytes <= source.0;
            let is_partner = (destination.1..=destination.1 + 8).contains(&from);
            let may_write = destination.3 && bytes <= destination.0 && is_partner;
            let count = |is: fn(Fate) -> bool| {
                told.iter().filter(|event| event.id == id && is(event.fate)).count()
            };
            let delivered = count(|fate| matches!(fate, Fate::Arrived(_)));
            let (acknowledged, dropped) =
                (count(|fate| fate == Fate::Acknowledged), count(|fate| fate == Fate::Dropped));
            let expected = if may_read && may_write { (1, 1, 0) } else { (0, 0, 1) };
            prop_assert_eq!((delivered, acknowledged, dropped), expected, "put {}: {} to {}", id, from, to);
        }
    }
}

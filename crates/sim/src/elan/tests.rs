//! Elans on the network of the paper's machine: a 4-ary 2-tree.

mod casts;
mod partners;

use super::mmu::{Grant, Memory, Process, Stretch, TlbSpec};
use super::network::{Elans, everything};
use super::{Capability, ElanSpec, Format, PciSpec, WithElans};
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
pub(crate) fn elan3(source: Memory, destination: Memory) -> ElanSpec {
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
        matching: Time::from_ns(1000),
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
pub(crate) fn config(errors: Option<Errors>) -> Config {
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

/// A put or a get: its start in ns, the host that starts it, the other host, and its length.
type Job = (u64, u32, u32, u32);

/// Which way data go: to the other host, or from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Put,
    Get,
    /// A put to all hosts up to this one.
    Cast(u32),
}

/// Runs puts, each with its place as number: what is told of them.
fn run(elan: ElanSpec, puts: &[Job]) -> Vec<Event> {
    run_with(elan, &all(Way::Put, puts), None, &everything)
}

/// Runs gets.
fn get(elan: ElanSpec, gets: &[Job]) -> Vec<Event> {
    run_with(elan, &all(Way::Get, gets), None, &everything)
}

fn all(way: Way, jobs: &[Job]) -> Vec<(Way, Job)> {
    jobs.iter().map(|&job| (way, job)).collect()
}

/// Processes that grant what is said, and have routes to all.
fn granting(grants: impl Fn(Process) -> Vec<Grant>) -> impl Fn(Process) -> Capability {
    move |process| Capability { grants: grants(process), ..everything(process) }
}

/// Runs both where links have errors, and processes may do what is said.
fn run_with(
    elan: ElanSpec,
    jobs: &[(Way, Job)],
    errors: Option<Errors>,
    capability: &dyn Fn(Process) -> Capability,
) -> Vec<Event> {
    run_on(&config(errors), elan, jobs, capability)
}

/// The same on a network that is configured so.
fn run_on(
    config: &Config,
    elan: ElanSpec,
    jobs: &[(Way, Job)],
    capability: &dyn Fn(Process) -> Capability,
) -> Vec<Event> {
    play(config, elan, jobs, capability).0
}

/// The same, and the flits that all channels have carried.
fn play(
    config: &Config,
    elan: ElanSpec,
    jobs: &[(Way, Job)],
    capability: &dyn Fn(Process) -> Capability,
) -> (Vec<Event>, u64) {
    let fabric: Fabric = tree(4, 2).unwrap();
    let routing = TreeAdaptive::new(&fabric).unwrap();
    let routing: &dyn Routing = &routing;
    let (rails, flit, cycle) = (1, 2, Time::from_ns(5));
    let network = WormholeSpec { fabric: &fabric, routing, rails, config, flit, cycle };
    let elans = WithElans { network: Box::new(network), elan };
    let attention = Attention::AtOnce;
    let interest = Interest { departures: true, arriving: true, acknowledges: true, attention };
    let within = Interest { arriving: false, ..interest };
    let mut network: Box<dyn Network> =
        Box::new(Elans::new(&elans, elans.network.build(within), interest, capability));
    let mut told = Vec::new();
    let go_on = |network: &mut dyn Network, until: Time, told: &mut Vec<Event>| {
        while network.now() < until && network.next().is_some() {
            network.run_until(until, told);
        }
        network.run_until(until, told);
    };
    for (id, &(way, (at, from, to, bytes))) in (0..).zip(jobs) {
        go_on(&mut *network, Time::from_ns(at), &mut told);
        let (rail, siblings, departs) = (0, 1, true);
        let (ends, priority) = (Ends::Memories, Priority::Low);
        let packet = Packet { rail, from, to, bytes, id, siblings, departs, ends, priority };
        match way {
            Way::Put => network.inject(packet),
            Way::Get => network.get(packet),
            Way::Cast(last) => network.cast(packet, last),
        }
    }
    go_on(&mut *network, Time::from_ns(1_000_000_000), &mut told);
    assert!(network.next().is_none() && network.deadlock().is_none());
    (told, network.channels().iter().map(|channel| channel.flits).sum())
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

/// The bytes that all put in a microsecond, if `count` nodes put a long block to one.
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
/// block of 64 bytes on the bus. A block adds its bytes on the link and on the inputter's path.
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

/// Three writers are behind the switch of host 0, and one behind another. A packet has 189 flits:
/// where a buffer does not take one, that of a near writer keeps the next from the link, and the
/// far one, whose packets the buffers of three switches take, has half as much again.
#[test]
fn writers_share_alike_where_buffers_take_a_packet() {
    let times = |buffer: u32| -> Vec<f64> {
        let config = Config { buffer, ..config(None) };
        let puts: Vec<_> = (1..=4).map(|from| (0, from, 0, LONG / 4)).collect();
        let main = elan3(Memory::Main, Memory::Main);
        let told = run_on(&config, main, &all(Way::Put, &puts), &everything);
        (0..4).map(|id| acknowledged(&told, id)).collect()
    };
    let spread = |times: &[f64]| {
        let (least, most) = times
            .iter()
            .fold((f64::MAX, 0.0), |(a, b): (f64, f64), &time| (a.min(time), b.max(time)));
        most / least
    };
    let [small, large] = [128, 190].map(times);
    assert!(spread(&large) < 1.005, "{large:?}");
    assert!(spread(&small[..3]) < 1.005, "{small:?}");
    near(small[3] / small[0], 0.75, 0.01);
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

/// What one get takes at the host that starts it.
fn fetches(source: Memory, destination: Memory, from: u32, bytes: u32) -> f64 {
    let told = get(elan3(source, destination), &[(0, 0, from, bytes)]);
    assert_eq!(told.len(), 1, "nothing but its arrival is told: {told:?}");
    arrived(&told, 0)
}

/// Written out step by step: nine steps of 200 ns (post, command and start at the reader, input,
/// start, input, event, copy and notice), a block that asks, and one with data. Both pass links
/// and NICs; what asks is 13 flits that the reader sends before its EOP.
#[test]
fn a_get_asks_and_is_served_as_a_put() {
    let way = 14.0 * 0.005;
    // On the link, and through the path of the NIC that takes it.
    let block = (18.0 + 72.0 - 2.0) / 400.0 + 64.0 / 540.0;
    let ends = 64.0 / 275.0 + 0.25;
    let both = 9.0 * 0.2 + 2.0 * (way + block) + ends;
    near(fetches(Memory::Elan, Memory::Elan, 1, 64), both, 0.012);
    let read = 0.5 + 64.0 / 200.0;
    let write = 0.25 + 64.0 / 275.0;
    near(fetches(Memory::Main, Memory::Elan, 1, 64), both + read, 0.012);
    near(fetches(Memory::Elan, Memory::Main, 1, 64), both + write, 0.012);
    near(fetches(Memory::Main, Memory::Main, 1, 64), both + read + write, 0.012);
    // Two switches more, there and back.
    near(fetches(Memory::Elan, Memory::Elan, 5, 64), both + 4.0 * 0.05, 0.012);
    // An empty one asks, and is answered by an empty packet.
    assert!(fetches(Memory::Main, Memory::Main, 1, 0) > 9.0 * 0.2 + 2.0 * way);
}

#[test]
fn long_gets_are_as_fast_as_long_puts() {
    use Memory::{Elan, Main};
    for source in [Elan, Main] {
        for destination in [Elan, Main] {
            let rate = |us: f64| f64::from(LONG) / us;
            let put = rate(takes(source, destination, 1, LONG));
            near(rate(fetches(source, destination, 1, LONG)), put, 0.2);
        }
    }
    // Within a node, too.
    near(f64::from(LONG) / fetches(Main, Main, 0, LONG), 137.5, 1.0);
}

/// The bus that the data come from is what they share, and they share it alike.
#[test]
fn readers_of_one_memory_share_its_bus() {
    for count in 1..=7 {
        let gets: Vec<_> = (1..=count).map(|reader| (0, reader, 0, LONG / 4)).collect();
        let told = get(elan3(Memory::Main, Memory::Main), &gets);
        let times: Vec<f64> = (0..count).map(|id| arrived(&told, id.into())).collect();
        let last = times.iter().copied().fold(0.0, f64::max);
        near(f64::from(count) * f64::from(LONG / 4) / last, 200.0, 1.0);
        let first = times.iter().copied().fold(f64::INFINITY, f64::min);
        assert!(last / first < 1.03, "{times:?}");
    }
}

#[test]
fn what_may_not_be_read_ends_at_the_reader_and_no_data_move() {
    let ours = |process: Process| -> Vec<Grant> {
        let own = everything(process).grants.remove(0);
        match process {
            // Host 1 lets 2 to 9 read, host 3 lets no host write, itself included.
            1 => vec![Grant { partners: 2..=9, ..own }],
            3 => vec![Grant { write: false, ..own }],
            _ => vec![own],
        }
    };
    let main = elan3(Memory::Main, Memory::Main);
    let jobs = [(0, 0, 1, LONG), (0, 2, 1, 1000), (0, 3, 2, 1000)];
    let told = run_with(main, &all(Way::Get, &jobs), None, &granting(ours));
    let fate = |id: u64| told.iter().find(|event| event.id == id).map(|event| event.fate);
    assert_eq!(fate(0), Some(Fate::Dropped), "not granted to it");
    assert!(matches!(fate(1), Some(Fate::Arrived(_))));
    assert_eq!(fate(2), Some(Fate::Dropped), "it may not write at home");
    // What is refused has asked, and nothing was sent to it; what may not be written is not asked.
    let at = |id: u64| told.iter().find(|event| event.id == id).unwrap().at.seconds() * 1e6;
    assert!(at(0) < 1.4 && at(2) < 0.5, "{told:?}");
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
        // Every third is a get.
        let way = |place: usize| if place % 3 == 2 { Way::Get } else { Way::Put };
        let jobs: Vec<_> = puts.iter().enumerate().map(|(place, &job)| (way(place), job)).collect();
        let told = run_with(elan3(Memory::Elan, Memory::Main), &jobs, errors, &everything);
        for (id, (way, _)) in (0..).zip(&jobs) {
            prop_assert!(arrived(&told, id) > 0.0);
            prop_assert!(*way == Way::Get || acknowledged(&told, id) > 0.0);
        }
    }

    /// A put or a get is done if and only if the process that starts it may read its source and
    /// write its destination; all others end in an error, once, and hinder none.
    #[test]
    fn nothing_is_delivered_that_is_not_granted(
        grants in prop::collection::vec((0..2000u32, 0..4u32, any::<bool>(), any::<bool>()), 16),
        jobs in prop::collection::vec(
            (any::<bool>(), (0..20_000u64, 0..16u32, 0..16u32, 0..2000u32)), 1..20),
    ) {
        let job = |(is_get, (at, by, step, bytes)): (bool, Job)| {
            let way = if is_get { Way::Get } else { Way::Put };
            (way, (at, by, (by + step) % 16, bytes))
        };
        let mut jobs: Vec<_> = jobs.into_iter().map(job).collect();
        jobs.sort_unstable_by_key(|&(_, (at, ..))| at);
        let granted = |process: Process| -> Vec<Grant> {
            let (bytes, first, read, write) = grants[process as usize];
            let own = &everything(process).grants[0];
            // What a process reads of its own is granted to itself.
            let partners = [first..=first + 8, process..=process];
            let stretch = Stretch { bytes, ..own.stretch };
            partners.map(|partners| Grant { stretch, partners, read, write, ..own.clone() }).to_vec()
        };
        let told = run_with(elan3(Memory::Main, Memory::Main), &jobs, None, &granting(granted));
        for (id, &(way, (_, by, other, bytes))) in (0..).zip(&jobs) {
            let (from, to) = if way == Way::Put { (by, other) } else { (other, by) };
            let (source, destination) = (grants[from as usize], grants[to as usize]);
            let is_partner = |of: u32| {
                let first = grants[of as usize].1;
                of == by || (first..=first + 8).contains(&by)
            };
            let may_read = source.2 && bytes <= source.0 && is_partner(from);
            let may_write = destination.3 && bytes <= destination.0 && is_partner(to);
            let count = |is: fn(Fate) -> bool| {
                told.iter().filter(|event| event.id == id && is(event.fate)).count()
            };
            let delivered = count(|fate| matches!(fate, Fate::Arrived(_)));
            let (acknowledged, dropped) =
                (count(|fate| fate == Fate::Acknowledged), count(|fate| fate == Fate::Dropped));
            let expected = match (may_read && may_write, way) {
                (true, Way::Put | Way::Cast(_)) => (1, 1, 0),
                (true, Way::Get) => (1, 0, 0),
                (false, _) => (0, 0, 1),
            };
            let found = (delivered, acknowledged, dropped);
            prop_assert_eq!(found, expected, "{:?} {}: {} to {}", way, id, from, to);
        }
    }
}

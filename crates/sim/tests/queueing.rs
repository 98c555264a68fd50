//! The frame network agrees with queueing theory, which shares nothing with the engine or its
//! reference.

use crosstie_fabric::{Fabric, HostId, LinkId, single};
use crosstie_routing::Shortest;
use crosstie_sim::frame::{
    Capacity, Forwarding, FrameSpec, Frames, HandOver, Line, Memory, SwitchSpec,
};
use crosstie_sim::network::{Attention, Ends, Event, Interest, Network, Pace, Packet, Priority};
use crosstie_units::{Seed, Time};

const FRAME: u32 = 1500;
const ALL: Capacity = Capacity::Frames(u32::MAX);
const OUTPUT: Memory = Memory::Output { host: ALL, uplink: ALL };

fn input(hand_over: HandOver) -> Memory {
    Memory::Input { host: ALL, uplink: ALL, hand_over, stage: 0, circuit: None }
}

/// The link on which a byte takes some nanoseconds.
fn line(ns: u64) -> Line {
    Line { pace: Pace { time: Time::from_ns(ns), bytes: 1 }, wire: Time::ZERO }
}

/// Runs `work` on one switch whose links are those of the hosts, one after the other.
fn on_a_switch<T>(
    lines: impl Fn(u32) -> Line,
    hosts: u32,
    memory: Memory,
    work: impl FnOnce(&Fabric, &mut Frames<'_>) -> T,
) -> T {
    let fabric = single(hosts).expect("a switch");
    let routing = Shortest::new(&fabric);
    let mut links = vec![line(1); fabric.links().len()];
    for host in 0..hosts {
        let LinkId(link) = fabric.host_out(HostId(host)).link();
        links[link as usize] = lines(host);
    }
    let (lookup, latency) = (Time::ZERO, Time::ZERO);
    let forwarding = Forwarding::StoreAndForward;
    let spec = FrameSpec {
        fabric: &fabric,
        routing: &routing,
        rails: 1,
        ports: &[],
        lines: &links,
        clocks: &[],
        switches: &[SwitchSpec { forwarding, lookup, latency, memory }],
        cycle: Time::from_ns(1),
        changes: &[],
    };
    let interest = Interest {
        departures: false,
        arriving: false,
        acknowledges: false,
        attention: Attention::Late,
    };
    work(&fabric, &mut Frames::new(&spec, interest))
}

fn packet(from: u32, to: u32) -> Packet {
    let (siblings, departs, ends) = (1, false, Ends::Memories);
    Packet {
        rail: 0,
        from,
        to,
        bytes: FRAME,
        id: 0,
        siblings,
        departs,
        ends,
        priority: Priority::Low,
    }
}

/// The mean wait for a link that frames reach at random times, in times that a frame takes on it.
/// The link is that of a host which sends to others, or that from the switch to a host which all
/// others send to. The other links are 160 times as fast, so that they do not space frames.
fn mean_wait(load: f64, at_the_host: bool) -> f64 {
    const OTHERS: u32 = 32;
    const FRAMES: u32 = 800_000;
    let slow = line(160);
    let lines = |host| if host == 0 { slow } else { line(1) };
    on_a_switch(lines, OTHERS + 1, OUTPUT, |fabric, network| {
        let mut rng = Seed(1).stream("arrivals", 0);
        let (mut told, mut now) = (Vec::new(), 0.0);
        let slot = slow.occupied(FRAME).ps() as f64;
        for _ in 0..FRAMES {
            now += rng.exponential(slot / load);
            network.run_until(Time::from_ps(now as u64), &mut told);
            told.clear();
            let other = 1 + rng.below(u64::from(OTHERS)) as u32;
            network.inject(if at_the_host { packet(0, other) } else { packet(other, 0) });
        }
        let channel = fabric.host_out(HostId(0));
        let channel = if at_the_host { channel } else { channel.reverse() };
        let tally = network.channels()[channel.0 as usize];
        tally.waiting as f64 / tally.flits as f64 / slot
    })
}

/// Poisson arrivals, equal services, one server (M/D/1): the mean wait is load / 2 (1 - load).
#[test]
fn frames_wait_as_in_m_d_1() {
    for at_the_host in [true, false] {
        for load in [0.5, 0.8] {
            let (expected, found) = (load / (2.0 * (1.0 - load)), mean_wait(load, at_the_host));
            assert!((found / expected - 1.0).abs() < 0.02, "load {load}: {found}, not {expected}");
        }
    }
}

/// The share of the time in which outputs are busy, when `ports` inputs always have frames, each
/// for any of as many outputs. Inputs begin at times of their own and are never in step.
fn saturation(ports: u32, memory: Memory) -> f64 {
    // As many frames in all, whatever the number of ports: the error of the mean stays the same.
    let each = 160_000 / ports;
    on_a_switch(
        |_| line(1),
        2 * ports,
        memory,
        |_, network| {
            let slot = line(1).occupied(FRAME);
            let mut rng = Seed(1).stream("destinations", 0);
            let mut starts: Vec<(u64, u32)> =
                (0..ports).map(|p| (rng.below(slot.ps()), p)).collect();
            starts.sort_unstable();
            let mut told: Vec<Event> = Vec::new();
            for (at, from) in starts {
                network.run_until(Time::from_ps(at), &mut told);
                for _ in 0..each {
                    network.inject(packet(from, ports + rng.below(u64::from(ports)) as u32));
                }
            }
            // While hosts still send, no input is empty.
            let mut arrived_until = |slots: u32| -> usize {
                network.run_until(slot * u64::from(slots), &mut told);
                told.len()
            };
            let (first, last) = (each / 5, each);
            let arrived = arrived_until(first).abs_diff(arrived_until(last));
            arrived as f64 / (f64::from(ports) * f64::from(last - first))
        },
    )
}

/// The model of Karol, Hluchyj and Morgan (1987): in every slot each output takes one of the frames
/// that are first at their inputs and want it, at random.
fn slotted_saturation(ports: usize) -> f64 {
    let slots = 400_000 / ports;
    let mut rng = Seed(2).stream("slots", 0);
    let mut draw = |below: usize| rng.below(below as u64) as usize;
    let mut wanted: Vec<usize> = (0..ports).map(|_| draw(ports)).collect();
    let mut served = 0;
    for slot in 0..slots + slots / 5 {
        for output in 0..ports {
            let first: Vec<usize> = (0..ports).filter(|&input| wanted[input] == output).collect();
            if !first.is_empty() {
                let winner = first[draw(first.len())];
                // It shows its next frame when all outputs have chosen.
                wanted[winner] = ports + draw(ports);
                served += usize::from(slot >= slots / 5);
            }
        }
        wanted.iter_mut().for_each(|output| *output %= ports);
    }
    served as f64 / (ports * slots) as f64
}

/// Head-of-line blocking. With many ports the frames that want an output come as a Poisson process,
/// whose number in the system (M/D/1: r + r^2 / 2 (1 - r)) is one for each input: r = 2 - sqrt 2,
/// in slots or not. For few ports Karol, Hluchyj and Morgan give a table.
#[test]
fn inputs_that_hand_over_one_frame_at_a_time_saturate_as_karol_says() {
    let published = [(4, 0.6553), (5, 0.6399), (6, 0.6302), (7, 0.6234), (8, 0.6184)];
    for (ports, expected) in published {
        let found = slotted_saturation(ports);
        assert!((found - expected).abs() < 0.004, "{ports} ports: {found}, not {expected}");
    }
    for ports in [4, 5, 6, 7, 8, 16, 32, 64, 128] {
        let slotted = slotted_saturation(ports as usize);
        let found = saturation(ports, input(HandOver::LastBit));
        assert!((found - slotted).abs() < 0.007, "{ports} ports: {found}, slotted {slotted}");
    }
    let limit = 2.0 - f64::sqrt(2.0);
    let found = saturation(128, input(HandOver::LastBit));
    assert!((found - limit).abs() < 0.01, "{found}, not {limit}");
}

/// With many ports there is always one frame for each input that waits, beside those that leave:
/// r^2 / 2 (1 - r) = 1, r = sqrt 3 - 1.
#[test]
fn inputs_that_offer_the_next_frame_at_once_saturate_later() {
    let (found, limit) = (saturation(128, input(HandOver::FirstBit)), f64::sqrt(3.0) - 1.0);
    assert!((found - limit).abs() < 0.01, "{found}, not {limit}");
}

#[test]
fn memories_at_outputs_or_for_all_saturate_near_one() {
    let shared = Memory::Shared { all: ALL, cap: None, uplink: None };
    for memory in [OUTPUT, shared] {
        for ports in [4, 16, 128] {
            let found = saturation(ports, memory);
            assert!(found > 0.97, "{ports} ports, {memory:?}: {found}");
        }
    }
}

//! The frame network agrees with the reference, to the picosecond, on random small networks.

mod frame_reference;
mod networks;

use crosstie_fabric::{ChannelId, Fabric, HostId, Node, SwitchId};
use crosstie_routing::{Route, Routing, Tag};
use crosstie_sim::frame::{
    Capacity, Circuit, Forwarding, FrameSpec, Frames, HandOver, Line, Memory, SwitchSpec,
};
use crosstie_sim::network::{
    Attention, BufferPlace, Change, Condition, Ends, Event, Fate, Interest, Network, Pace, Packet,
    Priority,
};
use crosstie_units::Time;
use frame_reference::{Frame, Reference, Room};
use networks::networks;
use proptest::prelude::*;

fn capacities() -> impl Strategy<Value = Capacity> {
    prop_oneof![(1u32..6).prop_map(Capacity::Frames), (1600u64..8000).prop_map(Capacity::Bytes),]
}

fn circuits() -> impl Strategy<Value = Circuit> {
    let rate = || prop::sample::select(vec![4u64, 8, 13, 50]).prop_map(pace);
    (rate(), rate()).prop_map(|(inward, outward)| Circuit { inward, outward })
}

fn memories() -> impl Strategy<Value = Memory> {
    let pair = || (capacities(), capacities());
    prop_oneof![
        (
            capacities(),
            capacities(),
            prop::sample::select(vec![HandOver::LastBit, HandOver::FirstBit]),
            0u32..3,
            prop::option::of(circuits()),
        )
            .prop_map(|(host, uplink, hand_over, stage, circuit)| Memory::Input {
                host,
                uplink,
                hand_over,
                stage,
                circuit
            }),
        pair().prop_map(|(host, uplink)| Memory::Output { host, uplink }),
        (1u32..10, prop::option::of(1u32..6), prop::option::of(1u32..4)).prop_map(
            |(all, cap, uplink)| Memory::Shared {
                all: Capacity::Frames(all),
                cap: cap.map(Capacity::Frames),
                uplink: uplink.map(Capacity::Frames),
            }
        ),
    ]
}

fn switches() -> impl Strategy<Value = SwitchSpec> {
    let forwarding = prop_oneof![Just(Forwarding::StoreAndForward), Just(Forwarding::CutThrough)];
    (forwarding, 0u64..3, 0u64..4, memories()).prop_map(|(forwarding, lookup, latency, memory)| {
        let (lookup, latency) = (Time::from_ns(lookup * 700), Time::from_ns(latency * 500));
        SwitchSpec { forwarding, lookup, latency, memory }
    })
}

/// The nanoseconds of a byte.
fn pace(ns: u64) -> Pace {
    Pace { time: Time::from_ns(ns), bytes: 1 }
}

/// Links of hosts at one rate, those of switches at another.
fn lines(fabric: &Fabric, host: u64, uplink: u64, wire: u64) -> Vec<Line> {
    let line = |link: crosstie_fabric::LinkId| {
        let channel = fabric.channel(link.channels()[0]);
        let between =
            matches!((channel.from.node, channel.to.node), (Node::Switch(_), Node::Switch(_)));
        Line { pace: pace(if between { uplink } else { host }), wire: Time::from_ns(wire) }
    };
    fabric.links().map(line).collect()
}

/// Which rails there are: the port of each.
fn rails() -> impl Strategy<Value = Vec<u32>> {
    prop::sample::select(vec![vec![0], vec![0, 1], vec![0, 0], vec![0, 1, 1], vec![0, 1, 0, 0]])
}

fn changes() -> impl Strategy<Value = Vec<Change>> {
    let to = prop_oneof![
        prop::sample::select(vec![8u64, 40, 200]).prop_map(|ns| Condition::Pace(pace(ns))),
        Just(Condition::OwnPace),
        Just(Condition::Down),
        Just(Condition::Up),
        Just(Condition::Up),
    ];
    let hosts = prop::option::of(prop::collection::btree_set(0..4u32, 1..3));
    let one = (0u64..600, 0..2u32, hosts, to).prop_map(|(at, port, hosts, to)| Change {
        at: Time::from_ns(at * 800),
        port,
        hosts: hosts.map(|hosts| hosts.into_iter().collect()),
        to,
    });
    prop_oneof![Just(Vec::new()), prop::collection::vec(one, 1..8)]
}

/// The way that a frame takes, one of those that its route allows.
fn way(fabric: &Fabric, routing: &dyn Routing, from: u32, to: u32) -> Option<Vec<ChannelId>> {
    let mut route = Route::default();
    routing.route(HostId(from), HostId(to), &mut route);
    let mut way = vec![fabric.host_out(HostId(from))];
    for &tag in route.tags() {
        let Node::Switch(switch) = fabric.channel(way[way.len() - 1]).to.node else { return None };
        let Tag::Port(port) = tag else { return None };
        way.push(fabric.switch_out(switch, port)?);
    }
    Some(way)
}

/// The way of a frame on a rail: that of its route on the first rail of a port, and a shortest one
/// on the others.
fn ways(
    spec: &FrameSpec<'_>,
    routing: &dyn Routing,
    rail: u32,
    from: u32,
    to: u32,
) -> Vec<ChannelId> {
    let found = spec.way(rail, HostId(from), HostId(to));
    let own = way(spec.fabric, routing, from, to).unwrap();
    let is_first = !spec.ports[..rail as usize].contains(&spec.ports[rail as usize]);
    if is_first {
        assert_eq!(found, own);
    }
    let fabric = spec.fabric;
    for pair in found.windows(2) {
        assert_eq!(fabric.channel(pair[0]).to.node, fabric.channel(pair[1]).from.node);
    }
    assert_eq!(found[0], fabric.host_out(HostId(from)));
    assert_eq!(found[found.len() - 1], fabric.host_in(HostId(to)));
    let distance = crosstie_fabric::distances_from(fabric, HostId(from))[to as usize];
    assert!(is_first || found.len() as u32 == distance);
    found
}

/// A routing whose every choice is made for good, so that both sides agree on ways.
struct First<'a>(&'a dyn Routing, &'a Fabric);

impl Routing for First<'_> {
    fn groups(&self) -> &[Vec<crosstie_fabric::Port>] {
        &[]
    }

    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        let mut whole = Route::default();
        self.0.route(from, to, &mut whole);
        route.clear();
        let mut channel = self.1.host_out(from);
        for &tag in whole.tags() {
            let Node::Switch(switch) = self.1.channel(channel).to.node else { unreachable!() };
            let port = match tag {
                Tag::Port(port) => port,
                Tag::Group(group) => {
                    let ports = &self.0.groups()[usize::from(group.0)];
                    ports[(from.0 + 3 * to.0) as usize % ports.len()]
                }
            };
            route.push(Tag::Port(port));
            channel = self.1.switch_out(switch, port).unwrap();
        }
    }
}

/// The copy of the fabric that a memory is in, and which it is there.
fn room(fabric: &Fabric, place: BufferPlace) -> (u32, Room) {
    let (switches, channels) = (fabric.switches().len() as u32, fabric.channels().len() as u32);
    match place {
        BufferPlace::Switch(n) => (n / switches, Room::Switch(SwitchId(n % switches))),
        BufferPlace::Input(n) => (n / channels, Room::Input(ChannelId(n % channels))),
        BufferPlace::Output(n) => (n / channels, Room::Output(ChannelId(n % channels))),
    }
}

fn capacity_fits(capacity: Capacity) -> bool {
    !matches!(capacity, Capacity::Bytes(bytes) if bytes < 1518)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn the_engine_does_what_the_reference_does(
        network in networks(),
        kinds in prop::collection::vec(switches(), 1..4),
        uplink in prop::sample::select(vec![8u64, 80, 160]),
        wire in 0u64..3,
        sent in prop::collection::vec(
            (0u64..40, 0u32..64, 1u32..64, prop::sample::select(vec![1u32, 46, 400, 1500]), 0u32..4), 1..60,
        ),
        crowded in any::<bool>(),
        ports in rails(),
        slower in prop::sample::select(vec![80u64, 160, 320]),
        changes in changes(),
        clocks in prop::option::of(prop::collection::vec(0u64..3, 64)),
    ) {
        let fabric = network.fabric();
        let table = network.routing(None);
        let routing = First(&table, &fabric);
        let copies = ports.iter().max().unwrap() + 1;
        let (rails, hosts) = (ports.len() as u32, fabric.hosts().len() as u32);
        let mut all_lines = lines(&fabric, 80, uplink, wire * 300);
        if copies > 1 && slower > 80 {
            all_lines.extend(lines(&fabric, slower, uplink, wire * 300));
        }
        // Up to 2 parts in 1,000 slower than their links.
        let clock = |(copy, host): (u32, u32)| {
            let place = copy as usize * fabric.links().len() + fabric.host_out(HostId(host)).link().0 as usize;
            let Pace { time, bytes } = all_lines[place % all_lines.len()].pace;
            let part = clocks.iter().flatten().nth((copy * hosts + host) as usize % 64).copied();
            Pace { time: time * (1000 + part.unwrap_or(0)), bytes: bytes * 1000 }
        };
        let all_hosts = (0..copies).flat_map(|copy| (0..hosts).map(move |host| (copy, host)));
        let clocks: Vec<Pace> = if clocks.is_some() { all_hosts.map(clock).collect() } else { Vec::new() };
        let is_there = |change: &Change| {
            change.port < copies && change.hosts.iter().flatten().all(|&host| host < hosts)
        };
        let mut changes: Vec<_> = changes.into_iter().filter(is_there).collect();
        changes.sort_by_key(|change| change.at);
        let switches: Vec<_> = fabric.switches().map(|s| kinds[s.0 as usize % kinds.len()]).collect();
        let spec = FrameSpec {
            fabric: &fabric, routing: &routing, rails, ports: &ports, lines: &all_lines, clocks: &clocks, switches: &switches,
            cycle: Time::from_ns(80), changes: &changes,
        };
        let mut sent: Vec<_> = sent
            .into_iter()
            .map(|(at, from, step, bytes, rail)| {
                let from = from % hosts;
                // Many to few, at times that coincide, or all over the place.
                let to = if crowded { u32::from(from == 0) } else { (from + 1 + step % (hosts - 1)) % hosts };
                (at * 3200, from, to, bytes, rail % rails)
            })
            .collect();
        sent.sort_unstable();
        let attention = Attention::AtOnce;
        let interest =
            Interest { departures: true, arriving: true, acknowledges: false, attention };
        let mut engine = Frames::new(&spec, interest);
        let mut references: Vec<_> = (0..copies).map(|port| Reference::new(spec, port)).collect();
        let mut told: Vec<Event> = Vec::new();
        for (id, &(at, from, to, bytes, rail)) in (0u64..).zip(&sent) {
            let at = Time::from_ns(at);
            while engine.next().is_some_and(|next| next < at) {
                engine.run_until(at, &mut told);
            }
            engine.run_until(at, &mut told);
            let (siblings, departs, ends) = (1, true, Ends::Memories);
            let priority = Priority::Low;
            let packet = Packet { rail, from, to, bytes, id, siblings, departs, ends, priority };
            engine.inject(packet);
            let way = ways(&spec, &routing, rail, from, to);
            let hops = way.len() - 1;
            references[ports[rail as usize] as usize].frames.push(Frame {
                id, bytes, handed_over: at.ps(), way, started: Vec::new(),
                noticed: vec![None; hops], decided: vec![None; hops], rooms: Vec::new(), staged: vec![None; hops], dropped: None,
            });
        }
        while engine.next().is_some() {
            engine.run_until(Time::from_ns(1_000_000_000), &mut told);
        }
        // A frame may be dropped while its last bits are still leaving the switch before.
        engine.run_until(Time::from_ns(1_000_000_000), &mut told);
        references.iter_mut().for_each(Reference::run);
        prop_assert!(told.is_sorted_by_key(|event| event.at));
        let fate = |id: u64, is: &dyn Fn(Fate) -> bool| -> Option<u64> {
            told.iter().find(|event| event.id == id && is(event.fate)).map(|event| event.at.ps())
        };
        for (reference, frame) in references.iter().flat_map(|r| r.frames.iter().map(move |f| (r, f))) {
            let began = told.iter().find_map(|event| match event.fate {
                Fate::Arrived(passage) if event.id == frame.id => Some(passage.began.ps()),
                _ => None,
            });
            let arrived = fate(frame.id, &|fate| matches!(fate, Fate::Arrived(_)));
            let dropped = fate(frame.id, &|fate| fate == Fate::Dropped);
            let left = fate(frame.id, &|fate| fate == Fate::Left);
            // What never starts is lost before it has left, and said to have.
            prop_assert_eq!(left, reference.left(frame, 0).or(frame.dropped));
            prop_assert_eq!(arrived, reference.arrived(frame), "frame {}", frame.id);
            // It has left before anybody hears that it is lost.
            let heard = reference.dropped(frame).map(|at| at.max(left.unwrap()));
            prop_assert_eq!(dropped, heard, "frame {}", frame.id);
            if arrived.is_some() {
                prop_assert_eq!(began, frame.started.first().copied());
            }
            prop_assert!(arrived.is_some() != dropped.is_some());
        }
        for tally in engine.buffers() {
            let (port, room) = room(&fabric, tally.place);
            let reference = &references[port as usize];
            let refused = reference.refused.iter().filter(|(_, at)| *at == room).count();
            prop_assert_eq!(tally.dropped, refused as u64, "{:?}", tally);
            let rooms = reference.frames.iter().flat_map(|frame| &frame.rooms);
            let taken = rooms.filter(|rooms| rooms.contains(&room)).count();
            prop_assert_eq!(tally.taken, taken as u64, "{:?}", tally);
            let capacity = match tally.in_bytes {
                true => Capacity::Bytes(tally.capacity),
                false => Capacity::Frames(tally.capacity as u32),
            };
            // What never fits is full always.
            if capacity_fits(capacity) {
                let expected = reference.occupancy(room, capacity);
                prop_assert_eq!((tally.peak, tally.full.ps()), expected, "{:?}", tally);
            }
        }
        let frames: Vec<_> = engine.channels().iter().map(|tally| tally.flits).collect();
        let all = (0..copies).flat_map(|port| fabric.channels().map(move |channel| (port, channel)));
        for (place, (port, channel)) in all.enumerate() {
            let carried = references[port as usize].frames.iter().filter(|frame| {
                frame.way.iter().position(|&c| c == channel).is_some_and(|hop| hop < frame.started.len())
            });
            prop_assert_eq!(frames[place], carried.count() as u64);
        }
    }
}

/// The link comes up at the instant at which a frame is handed over, which still finds it down, and
/// the frame before it is not off the link yet.
#[test]
fn a_frame_handed_over_as_the_link_comes_up_waits_for_the_one_before() {
    let network = networks::Network::Line { switches: 1, hosts: 2, links: 1 };
    let (fabric, table) = (network.fabric(), network.routing(None));
    let routing = First(&table, &fabric);
    let memory = Memory::Output { host: Capacity::Frames(4), uplink: Capacity::Frames(4) };
    let forwarding = Forwarding::StoreAndForward;
    let switch = SwitchSpec { forwarding, lookup: Time::ZERO, latency: Time::ZERO, memory };
    let change = |ns, to| Change { at: Time::from_ns(ns), port: 0, hosts: None, to };
    let changes = [change(800, Condition::Down), change(100_000, Condition::Up)];
    let spec = FrameSpec {
        fabric: &fabric,
        routing: &routing,
        rails: 1,
        ports: &[0],
        lines: &lines(&fabric, 80, 80, 0),
        clocks: &[],
        switches: &[switch],
        cycle: Time::from_ns(80),
        changes: &changes,
    };
    let attention = Attention::Late;
    let interest = Interest { departures: true, arriving: false, acknowledges: false, attention };
    let (mut engine, mut told) = (Frames::new(&spec, interest), Vec::new());
    for (id, ns) in [(0, 0), (1, 100_000)] {
        engine.run_until(Time::from_ns(ns), &mut told);
        let ends = Ends::Memories;
        let bytes = 1500;
        engine.inject(Packet {
            rail: 0,
            from: 0,
            to: 1,
            bytes,
            id,
            siblings: 1,
            departs: true,
            ends,
            priority: Priority::Low,
        });
    }
    engine.run_until(Time::from_ns(1_000_000), &mut told);
    let fates: Vec<(u64, bool)> = told
        .iter()
        .filter(|event| event.fate != Fate::Left)
        .map(|event| (event.id, event.fate == Fate::Dropped))
        .collect();
    assert_eq!(fates, [(0, true), (1, false)]);
}

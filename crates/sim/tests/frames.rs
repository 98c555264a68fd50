//! The frame network agrees with the reference, to the picosecond, on random small networks.

mod frame_reference;
mod networks;

use crosstie_fabric::{ChannelId, Fabric, HostId, Node, SwitchId};
use crosstie_routing::{Route, Routing, Tag};
use crosstie_sim::frame::{Capacity, Forwarding, FrameSpec, Frames, Line, Memory, SwitchSpec};
use crosstie_sim::network::{
    Attention, BufferPlace, Ends, Event, Fate, Interest, Network, Pace, Packet,
};
use crosstie_units::Time;
use frame_reference::{Frame, Reference, Room};
use networks::networks;
use proptest::prelude::*;

fn capacities() -> impl Strategy<Value = Capacity> {
    prop_oneof![(1u32..6).prop_map(Capacity::Frames), (1600u64..8000).prop_map(Capacity::Bytes),]
}

fn memories() -> impl Strategy<Value = Memory> {
    let pair = || (capacities(), capacities());
    prop_oneof![
        pair().prop_map(|(host, uplink)| Memory::Input { host, uplink }),
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

/// Links of hosts at 100 Mbit/s, those of switches at one of several rates.
fn lines(fabric: &Fabric, uplink: u64, wire: u64) -> Vec<Line> {
    let line = |link: crosstie_fabric::LinkId| {
        let channel = fabric.channel(link.channels()[0]);
        let between =
            matches!((channel.from.node, channel.to.node), (Node::Switch(_), Node::Switch(_)));
        let pace = Pace { time: Time::from_ns(if between { uplink } else { 80 }), bytes: 1 };
        Line { pace, wire: Time::from_ns(wire) }
    };
    fabric.links().map(line).collect()
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

fn room(place: BufferPlace) -> Room {
    match place {
        BufferPlace::Switch(switch) => Room::Switch(SwitchId(switch)),
        BufferPlace::Input(channel) => Room::Input(ChannelId(channel)),
        BufferPlace::Output(channel) => Room::Output(ChannelId(channel)),
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
            (0u64..40, 0u32..64, 1u32..64, prop::sample::select(vec![1u32, 46, 400, 1500])), 1..60,
        ),
        crowded in any::<bool>(),
    ) {
        let fabric = network.fabric();
        let table = network.routing(None);
        let routing = First(&table, &fabric);
        let lines = lines(&fabric, uplink, wire * 300);
        let switches: Vec<_> = fabric.switches().map(|s| kinds[s.0 as usize % kinds.len()]).collect();
        let spec = FrameSpec {
            fabric: &fabric, routing: &routing, rails: 1, ports: &[], lines: &lines, switches: &switches,
            cycle: Time::from_ns(80), changes: &[],
        };
        let hosts = fabric.hosts().len() as u32;
        let mut sent: Vec<_> = sent
            .into_iter()
            .map(|(at, from, step, bytes)| {
                let from = from % hosts;
                // Many to few, at times that coincide, or all over the place.
                let to = if crowded { u32::from(from == 0) } else { (from + 1 + step % (hosts - 1)) % hosts };
                (at * 3200, from, to, bytes)
            })
            .collect();
        sent.sort_unstable();
        let interest = Interest { departures: true, arriving: true, attention: Attention::AtOnce };
        let mut engine = Frames::new(&spec, interest);
        let mut reference = Reference::new(spec);
        let mut told: Vec<Event> = Vec::new();
        for (id, &(at, from, to, bytes)) in (0u64..).zip(&sent) {
            let at = Time::from_ns(at);
            while engine.next().is_some_and(|next| next < at) {
                engine.run_until(at, &mut told);
            }
            engine.run_until(at, &mut told);
            let packet = Packet { rail: 0, from, to, bytes, id, siblings: 1, ends: Ends::Memories };
            engine.inject(packet);
            let way = way(&fabric, &routing, from, to).unwrap();
            let hops = way.len() - 1;
            reference.frames.push(Frame {
                id, bytes, handed_over: at.ps(), way, started: Vec::new(),
                noticed: vec![None; hops], decided: vec![None; hops], rooms: Vec::new(), dropped: None,
            });
        }
        while engine.next().is_some() {
            engine.run_until(Time::from_ns(1_000_000_000), &mut told);
        }
        // A frame may be dropped while its last bits are still leaving the switch before.
        engine.run_until(Time::from_ns(1_000_000_000), &mut told);
        reference.run();
        prop_assert!(told.is_sorted_by_key(|event| event.at));
        let fate = |id: u64, is: &dyn Fn(Fate) -> bool| -> Option<u64> {
            told.iter().find(|event| event.id == id && is(event.fate)).map(|event| event.at.ps())
        };
        for frame in &reference.frames {
            let began = told.iter().find_map(|event| match event.fate {
                Fate::Arrived(passage) if event.id == frame.id => Some(passage.began.ps()),
                _ => None,
            });
            let arrived = fate(frame.id, &|fate| matches!(fate, Fate::Arrived(_)));
            let dropped = fate(frame.id, &|fate| fate == Fate::Dropped);
            let left = fate(frame.id, &|fate| fate == Fate::Left);
            prop_assert_eq!(left, reference.left(frame, 0));
            prop_assert_eq!(arrived, reference.arrived(frame), "frame {}", frame.id);
            // It has left before anybody hears that it is lost.
            let heard = frame.dropped.map(|at| at.max(left.unwrap()));
            prop_assert_eq!(dropped, heard, "frame {}", frame.id);
            if arrived.is_some() {
                prop_assert_eq!(began, frame.started.first().copied());
            }
            prop_assert!(arrived.is_some() != dropped.is_some());
        }
        for tally in engine.buffers() {
            let refused = reference.refused.iter().filter(|(_, at)| *at == room(tally.place)).count();
            prop_assert_eq!(tally.dropped, refused as u64, "{:?}", tally);
            let rooms = reference.frames.iter().flat_map(|frame| &frame.rooms);
            let taken = rooms.filter(|rooms| rooms.contains(&room(tally.place))).count();
            prop_assert_eq!(tally.taken, taken as u64, "{:?}", tally);
            let capacity = match tally.in_bytes {
                true => Capacity::Bytes(tally.capacity),
                false => Capacity::Frames(tally.capacity as u32),
            };
            // What never fits is full always.
            if capacity_fits(capacity) {
                let expected = reference.occupancy(room(tally.place), capacity);
                prop_assert_eq!((tally.peak, tally.full.ps()), expected, "{:?}", tally);
            }
        }
        let frames: Vec<_> = engine.channels().iter().map(|tally| tally.flits).collect();
        for channel in fabric.channels() {
            let carried = reference.frames.iter().filter(|frame| {
                frame.way.iter().position(|&c| c == channel).is_some_and(|hop| hop < frame.started.len())
            });
            prop_assert_eq!(frames[channel.0 as usize], carried.count() as u64);
        }
    }
}

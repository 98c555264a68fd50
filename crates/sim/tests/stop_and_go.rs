//! Stop-and-go flow control with the marks of Myrinet: a saturated channel never idles.

use crosstie_fabric::{End, Fabric, FabricBuilder, HostId, Port, Shape};
use crosstie_routing::{Route, Routing, Tag};
use crosstie_sim::network::{Ends, Priority};
use crosstie_sim::wormhole::{Bus, Config, EPOCH, Engine, Flow, Packet, Silent};

/// Hosts 0 and 1 on one switch, 2 and 3 on the next.
struct Two;

fn two_switches() -> Fabric {
    let mut builder = FabricBuilder::default();
    let switches = [0, 1].map(|s| builder.switch(format!("s{s}"), 3));
    for host in 0..4 {
        let end = End::host(builder.host(format!("h{host}")));
        builder.connect(end, End::switch(switches[host / 2], Port(host as u16 % 2)));
    }
    builder.connect(End::switch(switches[0], Port(2)), End::switch(switches[1], Port(2)));
    builder.build("two switches", Shape::Irregular).unwrap()
}

impl Routing for Two {
    fn groups(&self) -> &[Vec<Port>] {
        &[]
    }
    fn route(&self, from: HostId, to: HostId, route: &mut Route) {
        route.clear();
        if from.0 / 2 != to.0 / 2 {
            route.push(Tag::Port(Port(2)));
        }
        route.push(Tag::Port(Port(to.0 as u16 % 2)));
    }
}

/// 80 flits of slack, 8 flits on the wire.
fn config(stop: u32, go: u32) -> Config {
    Config {
        virtual_channels: 1,
        buffer: 80,
        flow: Flow::StopAndGo { stop, go },
        routing_delay: 23,
        wire: 8,
        bus: Bus::Full,
        ..Config::default()
    }
}

/// Hosts 0 and 3 send long packets to host 2 without end: the channel into host 2 is saturated, and
/// the one between the switches is stopped half of the time. Ticks of 20,000 in which the channel
/// into host 2 was idle, and in which the channel between the switches was stopped with a flit at
/// hand.
fn idle_and_blocked(config: &Config) -> (u64, u64) {
    let fabric = two_switches();
    let mut engine = Engine::new(&fabric, &Two, 1, config);
    for from in [0, 3] {
        for id in 0..100 {
            engine.inject(
                EPOCH,
                Packet {
                    from,
                    to: 2,
                    more: 0,
                    flits: 512,
                    id,
                    ends: Ends::Memories,
                    priority: Priority::Low,
                },
            );
        }
    }
    engine.run_until(EPOCH + 1000, &mut Silent);
    engine.reset_counts();
    engine.run_until(engine.now() + 20_000, &mut Silent);
    let channel = |from: HostId| fabric.host_out(from).reverse().0 as usize;
    let into_host = channel(HostId(2));
    let between = fabric
        .switch_out(fabric.switches().next().expect("two of them"), Port(2))
        .expect("a linked port")
        .0 as usize;
    let (counts, ticks) = engine.counts();
    (ticks - counts[into_host].flits, counts[between].blocked)
}

#[test]
fn a_saturated_channel_never_idles() {
    let (idle, blocked) = idle_and_blocked(&config(56, 40));
    assert_eq!(idle, 0);
    assert!(blocked > 8000, "stopped for as long as the other packet passes: {blocked}");
}

#[test]
fn a_go_mark_below_the_round_trip_leaves_gaps() {
    // The first flit after a go takes 2 x 8 + 1 ticks to be there.
    assert_eq!(idle_and_blocked(&config(56, 17)).0, 0);
    assert!(idle_and_blocked(&config(56, 15)).0 > 0);
}

//! Channels of all kinds between several hosts round a switch, with everything that can go wrong at
//! once: every packet is delivered once and acknowledged once, and everybody comes to rest.

mod channels;
mod star;

use channels::{go_back_n, selective};
use crosstie_protocol::channel::*;
use crosstie_units::Time;
use proptest::prelude::*;
use star::{Flow, Place, Plan, Star, mbit, ms, us};

fn plans() -> impl Strategy<Value = Plan> {
    // Go-back-N that times out before an answer can come would fill slow rails with repetitions for
    // ever.
    let slow = |spec: GoBackNSpec| GoBackNSpec { timeout: spec.timeout * 5_000, ..spec }.into();
    let spec = prop_oneof![
        3 => go_back_n().prop_map(slow),
        3 => selective().prop_map(ChannelSpec::Selective),
        1 => Just(SelectiveSpec::LIVE.into()),
        1 => Just(SelectiveSpec::SIMULATED.into()),
    ];
    let rates = (20u64..2_000, 20u64..2_000).prop_map(|(nic, port)| (mbit(nic), mbit(port)));
    let rooms = (1usize..200, 1usize..100);
    let faults = (0u64..20_000, 0u64..10_000, 0u64..5_000, 0u64..20_000, 1u64..2_000);
    let change = (0u64..20_000, any::<bool>(), 0usize..2, prop_oneof![Just(0u64), 20u64..1_000]);
    let changes = prop::collection::vec(change, 0..6);
    let busy = prop::option::of((100u64..20_000, 1u64..5_000));
    let times = (0u64..1_000, 0u64..20);
    (spec, 2usize..5, rates, rooms, (faults, changes, busy), times, any::<u64>()).prop_map(
        |(
            spec,
            hosts,
            (nic, port),
            (nic_room, port_room),
            (faults, changes, busy),
            times,
            seed,
        )| {
            let (loss, repetition, garbling, late, longest) = faults;
            let place = |nic, host| if nic { Place::Nic(host) } else { Place::Port(host) };
            let mut changes: Vec<(Time, Place, u64)> = changes
                .into_iter()
                .map(|(at, nic, host, rate)| (us(at), place(nic, host), mbit(rate)))
                .collect();
            // Go-back-N sends a window again packet by packet, always in the same order: where the
            // oldest one is behind others, as after a pause of its host, a queue that
            // has no room for a window would drop it for ever.
            let least = match spec {
                ChannelSpec::GoBackN(spec) => 2 * spec.window as usize,
                ChannelSpec::Selective(_) => 1,
            };
            let (nic_room, port_room) = (nic_room.max(least), port_room.max(least));
            // In the end everything is carried.
            for host in 0..2 {
                changes.push((ms(21), Place::Nic(host), nic));
                changes.push((ms(21), Place::Port(host), port));
            }
            Plan {
                spec,
                hosts,
                nic,
                port,
                nic_room,
                port_room,
                delay: us(1 + times.0),
                jitter: us(times.1),
                loss,
                repetition,
                garbling,
                late: (late, us(longest)),
                changes,
                busy: busy.map(|(every, longest)| (us(every), us(longest))),
                seed,
            }
        },
    )
}

/// Flows between hosts of any number, which are taken round.
fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let pace = (1u64..40, 1u64..2_000).prop_map(|(packets, pause)| (packets, us(pause)));
    let ends = (0usize..5, 1usize..5);
    let flow = (ends, 1u32..1_472, 0u64..10_000, 1u64..400, prop::option::of(pace));
    let flow = flow.prop_map(|((from, to), least, begin, packets, pace)| Flow {
        from,
        to,
        bytes: (least, 1_472),
        begin: us(begin),
        packets,
        pace,
    });
    prop::collection::vec(flow, 1..5)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_delivered_and_acknowledged_once(plan in plans(), flows in flows()) {
        let mut flows = flows;
        for flow in &mut flows {
            flow.from %= plan.hosts;
            flow.to = (flow.from + 1 + flow.to % (plan.hosts - 1)) % plan.hosts;
        }
        let mut star = Star::new(plan, &flows);
        star.cross(0, 1, mbit(50), ms(1), ms(15));
        star.run_to_rest(ms(1_000_000));
    }
}

use super::*;
use crate::testing::{drawn, fast_ethernet, us};
use crate::{Cost, Transfer};
use crosstie_units::Seed;
use proptest::prelude::*;

fn parts(way: Transfer) -> Shares {
    Shares { host: way.host, gap: way.gap, wire: way.wire, ..Shares::default() }
}

/// Costs that do not change with the packet, so that a last one that is short is like the others.
fn flat(on: Parameters) -> Parameters {
    let flat = |cost: Cost| Cost::fixed(cost.fixed);
    Parameters {
        send: flat(on.send),
        send_gap: flat(on.send_gap),
        latency: flat(on.latency),
        receive_gap: flat(on.receive_gap),
        receive: flat(on.receive),
        pickup: flat(on.pickup),
        ..on
    }
}

proptest! {
    #[test]
    fn a_message_alone_and_two_in_opposite_directions(seed: u64, bytes in 0u32..40_000) {
        let on = drawn(&mut Seed(seed).stream("parameters", 0));
        for on in [on, flat(on)] {
            let alone = priced(&messages(bytes, false), &on);
            let way = Transfer::one_way(&on, bytes.into(), 2);
            prop_assert_eq!(alone.time, way.time);
            let two = priced(&messages(bytes, true), &on).time;
            prop_assert_eq!(two, Transfer::exchange(&on, bytes.into(), 2).time);
            prop_assert_eq!(priced(&ping(bytes), &on).time, way.time * 2);
        }
        let on = flat(on);
        let alone = priced(&messages(bytes, false), &on);
        prop_assert_eq!(alone.shares, parts(Transfer::one_way(&on, bytes.into(), 2)));
    }

    /// More cost never makes it faster.
    #[test]
    fn prices_grow_with_every_parameter(
        seed: u64, bytes in 0u32..40_000, which in 0usize..12, more in 1u64..3_000_000,
    ) {
        let on = drawn(&mut Seed(seed).stream("parameters", 0));
        let mut slower = on;
        let costs = [
            &mut slower.send, &mut slower.send_gap, &mut slower.latency,
            &mut slower.receive_gap, &mut slower.receive, &mut slower.pickup,
        ];
        let cost = costs.into_iter().nth(which / 2).unwrap();
        let part = if which % 2 == 0 { &mut cost.fixed } else { &mut cost.byte };
        *part = *part + Time::from_ps(more);
        let single = bytes % 100;
        let (one, two) = (messages(bytes, false), messages(bytes, true));
        let tree = broadcast(Broadcast::Binomial {}, single.max(1).into(), 16);
        for schedule in [one, two, tree] {
            prop_assert!(priced(&schedule, &slower).time >= priced(&schedule, &on).time);
        }
        let way = |on| Transfer::one_way(on, bytes.into(), 2).time;
        prop_assert!(way(&slower) >= way(&on));
        let tree = |on| crate::PacketTree::new(on, bytes.into(), 16).time();
        prop_assert!(tree(&slower) >= tree(&on));
    }
}

#[test]
fn where_the_time_goes() {
    let price = priced(&messages(14_920, false), &fast_ethernet());
    let what: Vec<What> = price.path.iter().map(|stretch| stretch.what).collect();
    assert_eq!(what, [What::Send, What::Gap, What::Wire, What::Receive]);
    assert_eq!(price.path[3].rank, Rank(1));
    assert_eq!((price.bottleneck, price.finish[0]), (Resource::Gap, us(125.0)));
    let price = priced(&messages(1, false), &fast_ethernet());
    assert_eq!(price.bottleneck, Resource::Wire);
}

/// The window hides the way of all messages but one.
#[test]
fn a_stream_is_bound_by_its_gaps() {
    let on = fast_ethernet();
    let price = priced(&stream(1492, 64, 4), &on);
    let answer = Transfer::one_way(&on, 4, 2).time;
    assert_eq!(price.time, Transfer::one_way(&on, 64 * 1492, 2).time + answer);
    assert_eq!(price.bottleneck, Resource::Gap);
    let bandwidth = 64.0 * 1492.0 / (price.time.seconds() - answer.seconds());
    let limit = on.bandwidth(1492, 2).bytes_per_second;
    assert!(bandwidth < limit && bandwidth > 0.97 * limit);
}

#[test]
fn waiting_counts_for_what_is_waited_for() {
    let on = fast_ethernet();
    let mut builder = Builder::new(2);
    let computed = builder.compute(Rank(0), us(1000.0));
    builder.send(Rank(0), Rank(1), Tag(0), 1);
    builder.receive(Rank(1), Rank(0), Tag(0), 1);
    let late = priced(&builder.clone().finish().unwrap(), &on);
    // The send waits for the processor, as it came later.
    assert_eq!(late.path[0].what, What::AwaitHost);
    assert_eq!((late.shares.compute, late.path[0].to), (Time::ZERO, us(1000.0)));
    builder.after(Rank(0), OpId(1), computed);
    let after = priced(&builder.finish().unwrap(), &on);
    assert_eq!((after.shares.compute, after.time), (us(1000.0), late.time));
    assert_eq!(after.bottleneck, Resource::Compute);
}

#[test]
fn what_never_ends_is_told() {
    let mut builder = Builder::new(3);
    builder.compute(Rank(1), us(1.0));
    let waits = builder.receive(Rank(1), Rank(2), Tag(7), 8);
    let sent = builder.send(Rank(1), Rank(0), Tag(0), 8);
    builder.after(Rank(1), sent, waits);
    builder.receive(Rank(0), Rank(1), Tag(0), 8);
    let error = |builder: Builder, on: &Parameters| {
        price(&builder.finish().unwrap(), on, 3).unwrap_err().to_string()
    };
    let on = fast_ethernet();
    assert_eq!(
        error(builder, &on),
        "operation 0 of rank 0 waits for ever for a message from rank 1, tag 0"
    );
    let mut builder = Builder::new(1);
    builder.send(Rank(0), Rank(1), Tag(0), 8);
    assert_eq!(
        error(builder, &on),
        "operation 0 of rank 0 sends to rank 1, expected a rank below 1"
    );
    let mut builder = Builder::new(2);
    builder.cast(Rank(1), (Rank(2), Rank(3)), Tag(0), 64);
    assert_eq!(
        error(builder, &on),
        "operation 0 of rank 1 is spread over several ranks by the network, \
         expected messages to one rank each"
    );
    let mut builder = Builder::new(2);
    builder.get(Rank(1), Rank(0), 64);
    assert_eq!(
        error(builder, &on),
        "operation 0 of rank 1 reads the memory of another rank, expected messages"
    );
    let open = Op { step: Step::Receive { from: None, tag: None, bytes: 1 }, cpu: 0, nic: None };
    let mut builder = Builder::new(1);
    builder.add(Rank(0), open);
    assert_eq!(
        error(builder, &on),
        "operation 0 of rank 0 waits for ever for a message from any rank, any tag"
    );
    assert_eq!(priced(&Builder::new(0).finish().unwrap(), &on).path, []);
}

/// A rank that may send one message at a time, on two processors and two rails.
#[test]
fn processors_rails_and_sends_under_way() {
    let on = fast_ethernet();
    let schedule = |cpu, nic| {
        let mut builder = Builder::new(3);
        for (to, cpu, nic) in [(1, 0, 0), (2, cpu, nic)] {
            let step = Step::Send { to: Rank(to), tag: Tag(0), bytes: 1492 };
            builder.add(Rank(0), Op { step, cpu, nic: Some(nic) });
            builder.receive(Rank(to), Rank(0), Tag(0), 1492);
        }
        builder.finish().unwrap()
    };
    let time = |schedule: Schedule| priced(&schedule, &on).time;
    let one = Transfer::one_way(&on, 1492, 3).time;
    assert_eq!(time(schedule(0, 0)), one + us(123.0), "the NIC");
    assert_eq!(time(schedule(0, 1)), one + us(12.5), "the processor");
    assert_eq!(time(schedule(1, 1)), one, "neither");
    assert_eq!(time(schedule(1, 1).with_outstanding(Some(1))), one + us(12.5), "one at a time");
}

use super::*;
use crate::Cost;
use crate::testing::{drawn, fast_ethernet, us};
use crosstie_units::Seed;
use proptest::prelude::*;

/// Section 4 of the digest of [tam, 2.6] with Table 5.2.
#[test]
fn the_vectors_of_point_to_point() {
    for (fixed, node, expected) in [
        (149_000_000, 338_700, [189_177_400u64, 1_296_177_400, 12_366_177_400]),
        (264_000_000, 341_300, [304_182_600, 1_411_182_600, 12_481_182_600]),
    ] {
        let mut on = fast_ethernet();
        on.latency.fixed = Time::from_ps(fixed);
        on.latency.node = Time::from_ps(node);
        for (k, expected) in [1, 10, 100].into_iter().zip(expected) {
            let way = Transfer::one_way(&on, k * 1492, 2);
            assert_eq!((way.packets, way.time.ps()), (k, expected));
            assert_eq!(printed_2_6(&on.packet_of(1492, 2), k), way.time);
            assert_eq!(way.host, us(39.5));
            assert_eq!(way.gap, us(123.0) * (k - 1));
            assert_eq!((way.wire.ps(), way.bottleneck), (fixed + 2 * node, Stage::SendGap));
            assert_eq!(Transfer::exchange(&on, k * 1492, 2), way, "full duplex");
        }
    }
    let long = Transfer::one_way(&fast_ethernet(), 149_200, 2).time;
    assert!((149_200.0 / long.seconds() / 1e6 - 12.065).abs() < 5e-4);
}

#[test]
fn a_slow_receiver_and_a_slow_sender() {
    let mut on = fast_ethernet();
    on.receive.fixed = us(200.0);
    let way = Transfer::one_way(&on, 14_920, 2);
    assert_eq!(way.time, printed_3_1(&on.packet_of(1492, 2), 10));
    assert_eq!((way.gap, way.bottleneck), (Time::ZERO, Stage::Receive));
    let both = Transfer::exchange(&on, 14_920, 2);
    assert_eq!(both.time, way.time, "the receiver waits long enough to send");
    let many = |ways: fn(&Parameters, u64, u32) -> Transfer| ways(&on, 149_200, 2).time;
    assert_eq!(many(Transfer::exchange), us(219.5) * 100, "the processor has it all to do");
    assert!(many(Transfer::exchange) > many(Transfer::one_way));
    on = fast_ethernet();
    on.send.fixed = us(150.0);
    let way = Transfer::one_way(&on, 14_920, 2);
    assert_eq!(way.time, us(150.0) * 10 + way.wire + us(27.0));
    assert_eq!((way.gap, way.bottleneck), (Time::ZERO, Stage::Send));
}

#[test]
fn the_last_packet_may_be_short() {
    let mut on = fast_ethernet();
    on.latency.byte = Time::from_ps(10_000);
    on.receive.byte = Time::from_ps(1_000);
    on.receive_gap = Cost { fixed: us(3.64), byte: Time::from_ps(80_000), ..Cost::default() };
    let [one, two] = [1493, 2984].map(|bytes| Transfer::one_way(&on, bytes, 2));
    assert_eq!((one.packets, two.packets), (2, 2));
    assert_eq!(two.time.ps() - one.time.ps(), 1491 * 11_000);
    on.latency.byte = Time::from_ps(800_000);
    (on.receive.fixed, on.pickup.fixed) = (Time::ZERO, Time::ZERO);
    let full = Transfer::one_way(&on, 1492, 2).time;
    let more = Transfer::one_way(&on, 1493, 2).time;
    assert_eq!(more.ps() + 1491 * 1_000, full.ps() + 3_720_000, "it does not overtake");
    on.receive.byte = Time::from_ps(10_000);
    let full = Transfer::one_way(&on, 1492, 2).time;
    let more = Transfer::one_way(&on, 1493, 2);
    assert_eq!(more.time.ps(), full.ps() + 10_000, "nor is it received before");
    assert_eq!(more.host, us(12.5) + Time::from_ps(1493 * 10_000));
}

/// One byte more was predicted to take less.
#[test]
fn a_short_last_packet_of_drawn_parameters_takes_no_less() {
    let on = drawn(&mut Seed(18_225_329_960_224_478_336).stream("parameters", 0));
    let [less, more] = [19_178, 19_179].map(|bytes| Transfer::one_way(&on, bytes, 8).time);
    assert!(more >= less, "{more} {less}");
}

proptest! {
    #[test]
    fn parts_make_up_the_whole(seed: u64, bytes in 0u64..40_000) {
        let on = drawn(&mut Seed(seed).stream("parameters", 0));
        let [way, both] = [Transfer::one_way(&on, bytes, 8), Transfer::exchange(&on, bytes, 8)];
        for found in [way, both] {
            prop_assert_eq!(found.time, found.host + found.gap + found.wire);
        }
        prop_assert!(both.time >= way.time);
        if on.full_duplex(on.packet.get(), 8) && bytes % on.packet.get() == 0 {
            prop_assert_eq!(both, way);
        }
        prop_assert!(Transfer::one_way(&on, bytes + 1, 8).time >= way.time);
        let k = way.packets;
        let full = Transfer::one_way(&on, k * on.packet.get(), 8);
        let packet = on.packet_of(on.packet.get(), 8);
        match full.bottleneck {
            Stage::SendGap | Stage::ReceiveGap => {
                prop_assert_eq!(full.time, printed_2_6(&packet, k));
            }
            Stage::Receive => prop_assert_eq!(full.time, printed_3_1(&packet, k)),
            Stage::Send => prop_assert!(full.time >= printed_2_6(&packet, k)),
        }
    }
}

//! A channel over a link that loses, repeats, delays, reorders and garbles frames both ways: all
//! packets are delivered once, by go-back-N in order, and when the link is quiet both ends come to
//! rest. What must hold at every step is watched by the [`link`].

mod channels;
mod link;

use channels::{firsts, go_back_n, selective, specs};
use crosstie_protocol::channel::*;
use crosstie_units::Time;
use link::{Faults, Link, NO_FAULTS};
use proptest::prelude::*;

fn faults() -> impl Strategy<Value = Faults> {
    (0u64..60, 0u64..40, 0u64..30, 1u64..4_000).prop_map(|(loss, repetition, garbling, delay)| {
        Faults { loss, repetition, garbling, delay }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, ..ProptestConfig::default() })]

    #[test]
    fn items_1_2_4_5_6_everything_arrives_once_and_by_go_back_n_in_order(
        spec in specs(), firsts in firsts(), faults in faults(),
        packets in (0u32..500, prop_oneof![Just(0u32), 0u32..500]), seed: u64,
    ) {
        let mut link = Link::new(spec, firsts, faults, seed);
        link.plan(0, packets.0);
        link.plan(1, packets.1);
        link.run(10_000);
        link.check_rest();
    }

    #[test]
    fn without_faults_nothing_is_sent_twice(
        go_back_n in go_back_n(), selective in selective(), which: bool, firsts in firsts(), packets in (0u32..300, 0u32..300), seed: u64,
    ) {
        let patient = Time::from_ns(1_000_000);
        let spec = match which {
            false => GoBackNSpec { timeout: patient, ..go_back_n }.into(),
            true => SelectiveSpec { least: patient, ..selective }.into(),
        };
        let mut link = Link::new(spec, firsts, NO_FAULTS, seed);
        link.plan(0, packets.0);
        link.plan(1, packets.1);
        link.run(10_000);
        link.check_rest();
        for end in &link.ends {
            let tally = end.machine.tally();
            prop_assert_eq!((tally.retransmissions(), tally.duplicates, tally.nacks), (0, 0, 0));
        }
    }
}

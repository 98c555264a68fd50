//! Channels of all kinds, windows and styles of acknowledgement.

#![allow(dead_code, reason = "not everybody who has channels has all of them")]

use crosstie_protocol::channel::*;
use crosstie_units::Time;
use proptest::prelude::*;

/// All styles of acknowledgement.
fn styles() -> impl Strategy<Value = Acknowledge> {
    let after = || prop::option::of((1u64..4_000).prop_map(Time::from_ns));
    prop_oneof![
        Just(Acknowledge::Immediate),
        (1u32..10, after()).prop_map(|(every, after)| Acknowledge::Delayed { every, after }),
        after().prop_map(|after| Acknowledge::Piggyback { after }),
    ]
}

/// Channels of go-back-N. Some time out before an answer can have come.
pub fn go_back_n() -> impl Strategy<Value = GoBackNSpec> {
    let windows = prop_oneof![Just(1u32), Just(2), Just(7), Just(64)];
    (windows, 1_000u64..30_000, styles(), any::<bool>()).prop_map(
        |(window, timeout, acknowledge, simple)| {
            let timeout = Some(Time::from_ns(timeout));
            let kind = match simple {
                false => ChannelKind::GoBackN { window, timeout, acknowledge },
                true => ChannelKind::SimpleGoBackN { window, timeout, acknowledge },
            };
            match kind.spec(&Recommended::LIVE) {
                Some(ChannelSpec::GoBackN(spec)) => spec,
                other => panic!("{other:?}"),
            }
        },
    )
}

/// Channels of selective recovery. Some time out before an answer can have come.
pub fn selective() -> impl Strategy<Value = SelectiveSpec> {
    let time = |range| Strategy::prop_map(range, Time::from_ns);
    let ahead = prop_oneof![Just(Time::ZERO), time(0u64..10_000)];
    let spec = (time(100u64..30_000), ahead, time(1u64..4_000));
    spec.prop_map(|(least, ahead, after)| SelectiveSpec {
        least,
        ahead,
        after,
        ..SelectiveSpec::LIVE
    })
}

/// Channels of all kinds.
pub fn specs() -> impl Strategy<Value = ChannelSpec> {
    prop_oneof![
        go_back_n().prop_map(ChannelSpec::GoBackN),
        selective().prop_map(ChannelSpec::Selective),
    ]
}

/// First numbers of which some wrap soon.
pub fn firsts() -> impl Strategy<Value = [Seq; 2]> {
    let first =
        || prop_oneof![any::<u32>(), (0u32..300).prop_map(|to_wrap| to_wrap.wrapping_neg())];
    (first(), first()).prop_map(|(one, other)| [Seq(one), Seq(other)])
}

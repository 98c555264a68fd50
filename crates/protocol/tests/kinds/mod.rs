//! Policies of every kind, with their keys drawn at random.

use std::ops::Range;

use crosstie_protocol::policy::Shares;
use crosstie_protocol::{PolicyKind, StripingRatio};
use crosstie_units::{Bytes, Time};
use proptest::prelude::*;

/// Any policy. Time-outs are in nanoseconds, from hopelessly short, so that answers come late, to
/// this one.
pub fn kinds(longest_timeout: u64, threshold: Range<u64>) -> impl Strategy<Value = PolicyKind> {
    let striping = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0]
        .prop_map(|ratio| StripingRatio::new(ratio).unwrap());
    let timeout = prop_oneof![
        Just(None),
        Just(Some(Time::ZERO)),
        (1..longest_timeout).prop_map(|ns| Some(Time::from_ns(ns))),
    ];
    let all = PolicyKind::all();
    (0..all.len(), striping, timeout, threshold.prop_map(Bytes::new)).prop_map(
        move |(kind, striping, timeout, threshold)| match all[kind] {
            PolicyKind::LocalDynamic { .. } => PolicyKind::LocalDynamic { striping },
            PolicyKind::Dynamic { .. } => PolicyKind::Dynamic { striping, timeout },
            PolicyKind::Hybrid { .. } => PolicyKind::Hybrid { striping, timeout, threshold },
            PolicyKind::EvenStriping { .. } => PolicyKind::EvenStriping { threshold },
            PolicyKind::WeightedStriping { .. } => {
                let weights = Shares::new(&[3, 1, 2]).unwrap();
                PolicyKind::WeightedStriping { weights, threshold }
            }
            PolicyKind::AdaptiveStriping { alpha, floor, units, .. } => {
                PolicyKind::AdaptiveStriping { alpha, floor, units, threshold }
            }
            kind @ (PolicyKind::RoundRobin {}
            | PolicyKind::Static {}
            | PolicyKind::Basic {}
            | PolicyKind::Binding {}
            | PolicyKind::WeightedRoundRobin { .. }
            | PolicyKind::WindowRoundRobin { .. }
            | PolicyKind::Fastest {}
            | PolicyKind::Pull {}) => kind,
        },
    )
}

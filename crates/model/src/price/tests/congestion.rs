use super::*;
use crate::Buffer;
use crate::testing::{fast_ethernet, us};

fn with(architecture: Architecture, frames: u32) -> Parameters {
    Parameters { buffer: Some(Buffer { architecture, frames }), ..fast_ethernet() }
}

/// Seven senders of twenty packets each: one goes through and six wait.
#[test]
fn many_to_one_needs_room() {
    let schedule = gather(20 * 1492, 8);
    for (architecture, frames, peak) in [
        (Architecture::Output, 95, Some(120)),
        (Architecture::Output, 120, None),
        (Architecture::Shared, 119, Some(120)),
        (Architecture::Shared, 120, None),
        (Architecture::Input, 19, Some(20)),
        (Architecture::Input, 20, None),
    ] {
        let price = priced(&schedule, &with(architecture, frames));
        let found = price.congestion.map(|congestion| congestion.peak);
        assert_eq!(found, peak, "{architecture} {frames}");
        assert_eq!(price.bottleneck == Resource::Buffer, peak.is_some());
        assert_eq!(price.time, priced(&schedule, &fast_ethernet()).time, "nothing is lost in it");
    }
    let price = priced(&schedule, &with(Architecture::Output, 95));
    let congestion = price.congestion.unwrap();
    assert_eq!(congestion.place, Place::Rank(Rank(0)));
    assert_eq!(
        congestion.to_string(),
        "120 packets would wait at the output port of rank 0 at 2501209.6 ns, which keeps 95; \
         the price assumes that none is lost"
    );
    // All packets come through one port.
    let on = fast_ethernet();
    let one = crate::Transfer::one_way(&on, 1492, 8).time;
    assert_eq!(price.time, one + us(123.0) * (7 * 20 - 1));
}

#[test]
fn who_sends_in_turn_needs_none() {
    let shift = all_to_all(AllToAll::Shift {}, 20 * 1492, 8);
    let price = priced(&shift, &with(Architecture::Output, 1));
    assert_eq!((price.congestion, price.bottleneck), (None, Resource::Gap));
}

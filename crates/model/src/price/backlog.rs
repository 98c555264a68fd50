//! How many packets wait in the router.
//!
//! A packet waits from when it could be at the receiver until it is delivered. Between the first
//! and the last packet of a message they come and go at an even pace, so that the number of those
//! that wait changes its slope only when a message begins or ends: there the peaks are.

use super::crossing::{Wait, Way};
use super::log::{Log, Part};
use super::{Congestion, Place};
use crate::{Architecture, Parameters};
use crosstie_collective::Rank;
use crosstie_units::Time;

/// From `at` on, `jump` more packets wait at a place, and from then on `slope` more in every
/// picosecond.
struct Change {
    /// The port of its network, and where it is there.
    place: (u16, Place),
    at: u64,
    jump: f64,
    slope: f64,
}

/// Where most packets wait that cannot be kept, if there are any.
pub(super) fn overflow(log: &Log, parameters: &Parameters) -> Option<Congestion> {
    let buffer = parameters.buffer?;
    let architecture = buffer.architecture;
    let uplink = parameters.uplink;
    let switch = |rank: Rank| uplink.map_or(0, |uplink| uplink.switch(rank.0));
    let place = |part: &Part| {
        let message = &log.messages[part.message as usize];
        match architecture {
            Architecture::Input => Place::Rank(message.from),
            Architecture::Output => Place::Rank(message.to),
            Architecture::Shared => Place::Shared(switch(message.to)),
        }
    };
    let at_uplink = |wait: &Wait| {
        Some(match (wait.way, architecture) {
            (Way::Out, Architecture::Input) => Place::Rank(wait.from),
            (Way::Out, Architecture::Output) => Place::Outward(wait.switch),
            (Way::Out, Architecture::Shared) => Place::Shared(wait.switch),
            // What shares a circuit waits at its port; what does not, for the port of the root.
            (Way::In, _) if uplink.is_some_and(|uplink| uplink.shared) => {
                Place::Inward(wait.switch)
            }
            (Way::In, _) => match uplink.and_then(|uplink| uplink.core)?.architecture {
                Architecture::Shared => Place::Core,
                Architecture::Output => Place::CorePort(wait.switch),
                Architecture::Input => Place::CorePort(switch(wait.from)),
            },
        })
    };
    let room = |place: Place| match (place, uplink) {
        (Place::Outward(_) | Place::Inward(_), Some(uplink)) => uplink.frames,
        (Place::Core | Place::CorePort(_), Some(uplink)) => uplink.core.map(|core| core.frames),
        _ => Some(buffer.frames),
    };
    let mut changes = Vec::new();
    let waits = |part: &&Part| part.begin > part.first || part.last > part.alone;
    for part in log.parts.iter().filter(waits) {
        // Each port has a network of its own.
        let (place, packets) = ((part.port, place(part)), part.cut.packets);
        flow(&mut changes, place, 1.0, packets, part.first, part.alone);
        flow(&mut changes, place, -1.0, packets, part.begin, part.last);
    }
    for wait in &log.waits {
        let Some(place) = at_uplink(wait) else { continue };
        let place = (wait.port, place);
        for (sign, at) in [(1.0, wait.since), (-1.0, wait.until)] {
            let jump = sign * wait.packets as f64;
            changes.push(Change { place, at: at.ps(), jump, slope: 0.0 });
        }
    }
    changes.sort_by_key(|change| (change.place, change.at));
    let full = changes.chunk_by(|a, b| a.place == b.place).filter_map(|changes| {
        let (_, place) = changes[0].place;
        let frames = room(place)?;
        let (peak, at) = peak(changes);
        let at = Time::from_ps(at);
        (peak > u64::from(frames)).then_some(Congestion { architecture, place, at, peak, frames })
    });
    let excess = |congestion: &Congestion| congestion.peak - u64::from(congestion.frames);
    // Of several the first.
    full.reduce(|most, next| if excess(&next) > excess(&most) { next } else { most })
}

/// Packets from a first to a last time, which come or go.
fn flow(
    changes: &mut Vec<Change>,
    place: (u16, Place),
    sign: f64,
    packets: u64,
    first: Time,
    last: Time,
) {
    let behind = (packets - 1) as f64;
    if first == last {
        return changes.push(Change {
            place,
            at: first.ps(),
            jump: sign * (1.0 + behind),
            slope: 0.0,
        });
    }
    let slope = sign * behind / (last - first).ps() as f64;
    changes.push(Change { place, at: first.ps(), jump: sign, slope });
    changes.push(Change { place, at: last.ps(), jump: 0.0, slope: -slope });
}

/// The most that wait at a place, and when.
fn peak(changes: &[Change]) -> (u64, u64) {
    let (mut level, mut slope, mut at) = (0.0f64, 0.0f64, 0);
    let mut most = (0.0f64, 0);
    for together in changes.chunk_by(|a, b| a.at == b.at) {
        level += slope * (together[0].at - at) as f64;
        at = together[0].at;
        let before = level;
        level += together.iter().map(|change| change.jump).sum::<f64>();
        slope += together.iter().map(|change| change.slope).sum::<f64>();
        let here = before.max(level);
        if here > most.0 {
            most = (here, at);
        }
    }
    // Sums of slopes are off by less than a hundredth of a packet.
    ((most.0 + 0.01).floor() as u64, most.1)
}

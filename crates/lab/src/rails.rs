//! Rails that differ, what happens to them, and what stands before them: from the experiment file
//! to the simulator.

use crate::LabError;
use crate::ethernet::pace;
use crosstie_fabric::{Fabric, HostId};
use crosstie_protocol::Packing;
use crosstie_sim::frame::FrameSpec;
use crosstie_sim::ideal::{IdealSpec, UnequalSpec};
use crosstie_sim::network::{Change, Condition};
use crosstie_sim::premises::{BusSpec, CompetitorSpec, PremisesSpec};
use crosstie_study::{Competitor, LinkEvent, NodeBus, Spec};
use crosstie_units::Rate;

/// What happens to links, in order of time.
pub(crate) fn changes(spec: &Spec) -> Vec<Change> {
    let ports = spec.cluster.rails.ports();
    let mut changes = Vec::new();
    for (number, event) in (0..).zip(&spec.events) {
        let LinkEvent { rail, hosts, rate, down, lasts, .. } = event;
        let (to, back) = match rate {
            Some(rate) => (Condition::Pace(pace(*rate)), Condition::OwnPace),
            None if *down => (Condition::Down, Condition::Up),
            None => (Condition::Up, Condition::Up),
        };
        let hosts = hosts.as_ref().map(|hosts| hosts.hosts().to_vec());
        let port = ports[*rail as usize];
        for at in event.moments(spec.seed, number) {
            let ends = lasts.map(|lasts| (at + lasts, false, back));
            for (at, begins, to) in [(at, true, to)].into_iter().chain(ends) {
                changes.push((begins, Change { at, port, hosts: hosts.clone(), to }));
            }
        }
    }
    // Of two at one instant what ends goes first, so that what begins then holds.
    changes.sort_by_key(|(begins, change)| (change.at, *begins));
    changes.into_iter().map(|(_, change)| change).collect()
}

/// The ideal network of a spec whose rails differ or change; `None` if they are all alike and stay
/// so.
pub(crate) fn unequal(spec: &Spec, alike: &IdealSpec) -> Option<UnequalSpec> {
    let (rails, changes) = (&spec.cluster.rails, changes(spec));
    let (ports, rates) = (rails.ports(), rails.rates());
    if changes.is_empty() && rates.len() == ports.len() && rates.iter().all(Option::is_none) {
        return None;
    }
    let IdealSpec { hosts, latency, cycle, .. } = *alike;
    Some(UnequalSpec {
        hosts,
        ports,
        paces: rates.into_iter().map(|rate| rate.map_or(alike.pace, pace)).collect(),
        latency,
        gap: spec.ideal.own_gap(),
        cycle,
        changes,
    })
}

/// What stands before the network.
pub(crate) fn premises(spec: &Spec, packing: Packing) -> PremisesSpec {
    let bus = spec.node.bus.as_ref().map(|bus| self::bus(bus, spec.link.rate));
    let competitor = |competitor: &Competitor| {
        let Competitor { rail, from, to, size, begin, end, window } = *competitor;
        // The range of the experiment file lies within the type.
        let message = size.get() as u32;
        CompetitorSpec { rail, from, to, message, packing, begin, end, window }
    };
    PremisesSpec {
        buses: bus.map(|bus| (bus, spec.cluster.rails.buses())),
        competitors: spec.competitors.iter().map(competitor).collect(),
    }
}

fn bus(bus: &NodeBus, link: Rate) -> BusSpec {
    let both_at_once = matches!(bus, NodeBus::Full(_));
    let (read, write, overhead) = match *bus {
        NodeBus::Half(even) | NodeBus::Full(even) => {
            let rate = even.rate.unwrap_or(link);
            (rate, rate, even.overhead)
        }
        NodeBus::Asymmetric { read, write, overhead } => (read, write, overhead),
    };
    BusSpec { read: pace(read), write: pace(write), both_at_once, overhead }
}

/// Refuses hosts that a network from a file does not have.
pub(crate) fn check_hosts(spec: &Spec, hosts: u32) -> Result<(), LabError> {
    let of_event = |event: &LinkEvent| {
        event.hosts.as_ref().and_then(|hosts| hosts.hosts().iter().copied().max())
    };
    let events = spec.events.iter().enumerate();
    let events =
        events.filter_map(|(n, event)| Some((format!("event.{n}.hosts"), of_event(event)?)));
    let competitors = spec.competitors.iter().enumerate();
    let competitors =
        competitors.map(|(n, other)| (format!("competitor.{n}"), other.from.max(other.to)));
    for (key, last) in events.chain(competitors) {
        if last >= hosts {
            let problem = format!("found host {last}, expected a host from 0 to {}", hosts - 1);
            return Err(LabError::setting(&key, problem, "the network has no more"));
        }
    }
    Ok(())
}

/// Pairs of hosts whose ways are looked at.
const LOOKED_AT: usize = 4096;

/// What to say of rails that share a port and all of their ways.
pub(crate) fn remark(frames: &FrameSpec<'_>) -> Option<String> {
    let (rails, fabric) = (0..frames.rails, frames.fabric);
    let port = |rail: u32| frames.ports.get(rail as usize).copied().unwrap_or(rail);
    let twins = rails.clone().find_map(|rail| {
        let first = rails.clone().find(|&first| port(first) == port(rail))?;
        (first < rail).then_some((first, rail))
    });
    let (first, second) = twins?;
    let differ = pairs(fabric)
        .take(LOOKED_AT)
        .any(|(from, to)| frames.way(first, from, to) != frames.way(second, from, to));
    (!differ).then(|| {
        format!(
            "rails {first} and {second} share a port, and there is one way between hosts: they differ in nothing"
        )
    })
}

/// Pairs of hosts, those far apart first.
fn pairs(fabric: &Fabric) -> impl Iterator<Item = (HostId, HostId)> {
    let hosts = fabric.hosts().len() as u32;
    (1..hosts).rev().flat_map(move |step| {
        (0..hosts).map(move |from| (HostId(from), HostId((from + step) % hosts)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_units::Time;

    fn spec(text: &str) -> Spec {
        let text = format!(
            "seed = 1\nworld = 'ideal'\nfabric.single.hosts = 4\nwork.ping.size = '8 B'\n\
             cluster.rails = [{{}}, {{port = 7}}, {{port = 7}}]\n{text}"
        );
        Spec::from_toml("rails", &text).unwrap_or_else(|e| panic!("{e}"))
    }

    #[test]
    fn events_become_changes_of_ports_in_order_of_time() {
        let spec = spec(
            "[[event]]\nat = '2 us'\nrail = 2\ndown = true\nfor = '1 us'\nevery = '2 us'\ntimes = 2\n\
             [[event]]\nat = '3 us'\nrail = 0\nhosts = '1-2'\nrate = '1 MB/s'",
        );
        let found: Vec<_> = changes(&spec)
            .into_iter()
            .map(|change| (change.at.ps() / 1_000_000, change.port, change.hosts, change.to))
            .collect();
        let slow = Condition::Pace(pace(Rate::from_bytes_per_second(1_000_000)));
        let expected = [
            (2, 1, None, Condition::Down),
            (3, 1, None, Condition::Up),
            (3, 0, Some(vec![1, 2]), slow),
            (4, 1, None, Condition::Down),
            (5, 1, None, Condition::Up),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_bus_is_as_fast_as_a_link_unless_it_says_otherwise() {
        let link = Rate::from_bytes_per_second(400_000_000);
        let premises = |text: &str| self::premises(&spec(text), Packing::default());
        assert!(premises("").is_empty());
        let (half, numbers) = premises("node.bus = 'half'").buses.unwrap();
        assert_eq!((half.read, half.write, half.both_at_once), (pace(link), pace(link), false));
        assert_eq!((half.overhead, numbers), (Time::ZERO, vec![0, 1, 1]));
        let (full, _) =
            premises("node.bus.full = {rate = '1 GB/s', overhead = '2 ns'}").buses.unwrap();
        assert_eq!(
            (full.write.bytes, full.both_at_once, full.overhead.ps()),
            (1_000_000_000, true, 2000)
        );
    }
}

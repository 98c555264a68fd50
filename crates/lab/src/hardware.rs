//! Switches, links, buses and NICs in the units of the simulator: cycles and flits.

use crate::{LabError, RoutedFabric};
use crosstie_fabric::Fabric;
use crosstie_sim::wormhole::{BURST, Bus, Circuits, Config, Errors, InTransit};
use crosstie_study::{self as study, Elan, Link, Spec};
use crosstie_units::Rate;

/// How many times slower than a link a bus may be.
const SLOWEST_BUS: f64 = 1000.0;
/// The most cycles that a NIC may take to recognise a packet, or to set up its departure.
const LONGEST_DELAY: u32 = 1 << 20;
/// The most memory that the buffers of a simulated network may take, in bytes.
const MOST_MEMORY: u64 = 4 << 30;

/// The engine's parameters.
pub(crate) fn config(spec: &Spec, remarks: &mut Vec<String>) -> Result<Config, LabError> {
    let config = Config {
        // The ranges of the experiment file lie within the types.
        virtual_channels: spec.switch.virtual_channels as u8,
        buffer: spec.switch.buffer,
        flow: spec.switch.flow,
        routing_delay: spec.switch.routing_delay,
        consumes_headers: spec.switch.consumes_headers,
        wire: spec.link.wire_cycles() as u32,
        in_transit: match &spec.nic.in_transit {
            Some(nics) => Some(in_transit(nics, &spec.link)?),
            None => None,
        },
        circuits: spec.node.elan.as_ref().map(|elan| circuits(elan, spec)),
        burst: u64::from(BURST).div_ceil(spec.link.flit.get()) as u32,
        ..Config::default()
    };
    Ok(match spec.bus {
        study::Bus::Half {} => config.with_shared_bus(1.0, 1.0),
        study::Bus::Full {} => Config { bus: Bus::Full, ..config },
        study::Bus::Asymmetric { read, write } => {
            let read = flit_cycles("bus.asymmetric.read", read, &spec.link, remarks)?;
            let write = flit_cycles("bus.asymmetric.write", write, &spec.link, remarks)?;
            config.with_shared_bus(read, write)
        }
    })
}

/// The circuits of a network of Elans, whose NICs decide when they acknowledge.
fn circuits(elan: &Elan, spec: &Spec) -> Circuits {
    // The ranges of the experiment file lie within the types.
    let acknowledge = spec.link.cycles(elan.acknowledge).max(1) as u32;
    let errors = elan
        .garbled_one_in
        .map(|packets| Errors { probability: 1.0 / f64::from(packets), seed: spec.seed });
    Circuits { acknowledge, errors, withheld: true }
}

/// In-transit buffers, in cycles and flits.
fn in_transit(nics: &study::InTransit, link: &Link) -> Result<InTransit, LabError> {
    let in_cycles = nics.on(link);
    for (key, time, cycles) in [
        ("nic.in-transit.recognition", nics.recognition, in_cycles.recognition),
        ("nic.in-transit.setup", nics.setup, in_cycles.setup),
    ] {
        if cycles > LONGEST_DELAY {
            let found = link.cycles(time);
            let problem =
                format!("found {time}, {found} cycles, expected at most {LONGEST_DELAY} cycles");
            return Err(LabError::setting(key, problem, "shorten it, or lower `link.rate`"));
        }
    }
    Ok(in_cycles)
}

/// Cycles that a flit takes over a bus: at least one, for it comes from a link or goes to one.
fn flit_cycles(
    key: &str,
    rate: Rate,
    link: &Link,
    remarks: &mut Vec<String>,
) -> Result<f64, LabError> {
    let cycles = link.rate.bytes_per_second() as f64 / rate.bytes_per_second() as f64;
    if cycles > SLOWEST_BUS {
        let problem =
            format!("found {rate}, expected at least a thousandth of the link's {}", link.rate);
        return Err(LabError::setting(key, problem, "raise the rate, or lower `link.rate`"));
    }
    if cycles < 1.0 {
        remarks.push(format!(
            "{key} is faster than a link and is taken to be as fast as one, {}",
            link.rate
        ));
    }
    Ok(cycles.max(1.0))
}

/// Refuses a network that would not fit in memory.
pub(crate) fn check_memory(spec: &Spec, fabric: &Fabric) -> Result<(), LabError> {
    // Each virtual channel has its state, and two timelines with an entry per cycle of wire.
    let channels = fabric.channels().len() as u64 * u64::from(spec.cluster.rails.count());
    let virtual_channels = channels * u64::from(spec.switch.virtual_channels);
    let bytes = virtual_channels.saturating_mul(256 + 48 * (3 + spec.link.wire_cycles()));
    if bytes <= MOST_MEMORY {
        return Ok(());
    }
    let problem = format!(
        "{virtual_channels} virtual channels with wires of {} cycles take about {} GiB, expected \
         at most {}",
        spec.link.wire_cycles(),
        bytes >> 30,
        MOST_MEMORY >> 30
    );
    let help = "take fewer hosts, rails or virtual channels, or a shorter `link.wire`";
    Err(LabError::setting("fabric", problem, help))
}

/// Refuses a channel that takes packets for lost that others overtake, where they may be overtaken.
pub(crate) fn check_order(spec: &Spec, network: &RoutedFabric) -> Result<(), LabError> {
    if !spec.channel.needs_order() {
        return Ok(());
    }
    let name = spec.channel.name();
    let (why, what) = match (spec.switch.virtual_channels, network.is_adaptive()) {
        (1, false) => return Ok(()),
        (1, true) => ("switches choose its route", "take a routing that is not adaptive"),
        (_, false) => ("there are several virtual channels", "set `switch.virtual-channels = 1`"),
        (_, true) => (
            "there are several virtual channels, and switches choose its route",
            "set `switch.virtual-channels = 1` and take a routing that is not adaptive",
        ),
    };
    let problem = format!(
        "{name} takes a packet that another of the same pair overtakes for lost, and here it may be \
         overtaken: {why}"
    );
    let help = format!(
        "{what}, or set `channel = \"selective\"`, or leave `channel` out: a wormhole network loses \
         nothing"
    );
    Err(LabError::setting("channel", problem, help))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_experiment_has_the_bus_of_the_engine() {
        let text = "seed = 1\nfabric.single.hosts = 2\ntraffic.load = 0.1\n\
                    traffic.size.fixed.size = '64 B'";
        let spec = Spec::from_toml("defaults", text).unwrap();
        let (config, default) = (config(&spec, &mut Vec::new()).unwrap(), Config::default());
        assert_eq!((config.bus, config.burst), (default.bus, default.burst));
    }
}

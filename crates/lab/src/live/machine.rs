//! What a rank finds out about its host.

use crosstie_study::HostRow;
use crosstie_wire::RailStatistics;
use serde::{Deserialize, Serialize};
use std::fs;

/// A host, and what of it a rank has used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    kernel: String,
    cpu: String,
    cores: u32,
    clock: String,
    devices: Vec<Device>,
}

/// A device of a rail.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Device {
    name: String,
    rate: String,
    mtu: u32,
    offloads: String,
}

impl Machine {
    /// The host of this process, with these rails.
    pub fn here(rails: &[RailStatistics]) -> Machine {
        let word = |path: &str| fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let kernel =
            word("/proc/sys/kernel/ostype").zip(word("/proc/sys/kernel/osrelease")).map_or_else(
                || std::env::consts::OS.to_owned(),
                |(name, version)| format!("{name} {version}"),
            );
        let clock = word("/sys/devices/system/clocksource/clocksource0/current_clocksource");
        Machine {
            kernel,
            cpu: processor(&word("/proc/cpuinfo").unwrap_or_default()),
            cores: std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32),
            clock: clock.unwrap_or_else(|| "monotonic".to_owned()),
            devices: rails.iter().map(Device::of).collect(),
        }
    }
}

/// The model of the processor, as far as the system tells.
fn processor(text: &str) -> String {
    let model = text.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        matches!(key.trim(), "model name" | "Model" | "cpu model").then(|| value.trim().to_owned())
    });
    model.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

impl Device {
    fn of(rail: &RailStatistics) -> Device {
        let number = |what: &str| -> Option<u32> {
            let text = fs::read_to_string(format!("/sys/class/net/{}/{what}", rail.name)).ok()?;
            text.trim().parse().ok()
        };
        let can = &rail.capabilities;
        let offloads = [("segmentation", can.segmentation), ("GRO", can.coalescing)];
        let offloads = offloads.iter().filter(|(_, has)| *has).map(|(name, _)| *name);
        Device {
            name: rail.name.clone(),
            rate: number("speed").map_or(String::new(), |speed| format!("{speed} Mbit/s")),
            mtu: number("mtu").unwrap_or(rail.longest as u32),
            offloads: offloads.collect::<Vec<_>>().join(", "),
        }
    }
}

/// The lines of `hosts.csv` of a point: hosts that are alike stand together. `rates` knows what
/// devices of a box carry.
pub(crate) fn rows(point: u32, machines: &[&Machine], rates: &[(String, String)]) -> Vec<HostRow> {
    let mut rows: Vec<(HostRow, Vec<usize>)> = Vec::new();
    for (rank, machine) in machines.iter().enumerate() {
        let memory = [Device {
            name: "memory".to_owned(),
            rate: String::new(),
            mtu: 0,
            offloads: String::new(),
        }];
        let devices = if machine.devices.is_empty() { &memory[..] } else { &machine.devices };
        for device in devices {
            let known = rates.iter().find(|(name, _)| *name == device.name);
            let row = HostRow {
                point,
                ranks: String::new(),
                kernel: machine.kernel.clone(),
                cpu: machine.cpu.clone(),
                cores: machine.cores,
                clock: machine.clock.clone(),
                device: device.name.clone(),
                rate: known.map_or_else(|| device.rate.clone(), |(_, rate)| rate.clone()),
                mtu: device.mtu,
                offloads: device.offloads.clone(),
            };
            match rows.iter_mut().find(|(other, _)| *other == row) {
                Some((_, ranks)) => ranks.push(rank),
                None => rows.push((row, vec![rank])),
            }
        }
    }
    let told = |(row, ranks): (HostRow, Vec<usize>)| HostRow { ranks: named(&ranks), ..row };
    rows.into_iter().map(told).collect()
}

/// Numbers in words: `0-3, 6`.
fn named(numbers: &[usize]) -> String {
    let runs = numbers.chunk_by(|a, b| a + 1 == *b);
    let told = runs.map(|run| match run {
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
        [] => String::new(),
    });
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_are_alike_stand_together() {
        assert_eq!(named(&[0, 1, 2, 5, 7, 8]), "0-2, 5, 7-8");
        let device = |name: &str| Device {
            name: name.to_owned(),
            rate: "10000 Mbit/s".to_owned(),
            mtu: 1500,
            offloads: "GRO".to_owned(),
        };
        let machine = |names: &[&str]| Machine {
            kernel: "Linux 6".to_owned(),
            cpu: "x".to_owned(),
            cores: 2,
            clock: "tsc".to_owned(),
            devices: names.iter().map(|name| device(name)).collect(),
        };
        let (two, none) = (machine(&["a", "b"]), machine(&[]));
        let rates = [("b".to_owned(), "1 Gbit/s".to_owned())];
        let rows = rows(3, &[&two, &two, &none], &rates);
        let told: Vec<_> =
            rows.iter().map(|r| (&r.ranks[..], &r.device[..], &r.rate[..])).collect();
        assert_eq!(
            told,
            [("0-1", "a", "10000 Mbit/s"), ("0-1", "b", "1 Gbit/s"), ("2", "memory", "")]
        );
    }

    #[test]
    fn processors_have_names() {
        assert_eq!(processor("processor : 0\nmodel name\t: A B\nmodel name : C"), "A B");
        assert_eq!(processor(""), std::env::consts::ARCH);
    }
}

//! Claims that are arithmetic: the formulas of chapters 2 and 3 and of appendix A, evaluated.

use crosstie_model::congestion::Burst;
use crosstie_model::{Packet, PacketTree, ethernet_gap, printed_2_6};
use crosstie_study::paper::Measured;
use crosstie_units::{Rate, Time};

/// Measures a claim; nothing if it is no arithmetic.
pub(super) fn measure(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    let found = match words[..] {
        ["bcast", gap, packets] => {
            let (gap, packets) = (number(gap, "g")?, number(packets, "k")?);
            tree(gap, packets).time().seconds() * 1e6
        }
        ["p2p", switch, packets] => {
            let latency = match switch {
                "326" => 0.3387 * 2.0 + 149.0,
                _ => 0.3413 * 2.0 + 264.0,
            };
            let packet = Packet {
                send: us(12.5),
                send_gap: us(123.0),
                latency: us(latency),
                receive_gap: us(123.0),
                receive: us(27.0),
            };
            printed_2_6(&packet, number(packets, "k")?).seconds() * 1e6
        }
        ["ch3", "theory", place] => {
            let (rate, bytes) = place.split_at(2);
            let rate = Rate::from_bytes_per_second(if rate == "fe" { FAST } else { GIGABIT });
            let bytes = if bytes == "min" { 46 } else { bytes.parse().ok()? };
            ethernet_gap(bytes, rate)?.seconds() * 1e6
        }
        ["ch3", "bound", "gs"] => 1500.0 / 18.7,
        ["ch3", "bound", "or"] => 1500.0 / 19.7,
        ["ch3", "bound", "zc"] => 1500.0 / 16.4,
        ["eqA", "2", packets] => {
            let burst = Burst { arrival: 4.0, departure: 1.0, frames: 95.0 };
            burst.success(number(packets, "k")? as f64)
        }
        _ => return beyond(id).map(Measured::beyond),
    };
    Some(Measured::exact(found))
}

/// Fast and Gigabit Ethernet, in bytes per second.
const FAST: u64 = 12_500_000;
const GIGABIT: u64 = 125_000_000;

fn number(word: &str, prefix: &str) -> Option<u64> {
    word.strip_prefix(prefix)?.parse().ok()
}

fn us(time: f64) -> Time {
    Time::from_ps((time * 1e6).round() as u64)
}

/// The trees of Figures 2.3 and 2.4.
pub(super) fn tree(gap: u64, packets: u64) -> PacketTree {
    let gap = us(gap as f64);
    let packet = Packet {
        send: us(1.0),
        send_gap: gap,
        latency: us(4.0),
        receive_gap: gap,
        receive: us(2.0),
    };
    PacketTree { levels: 4, packets, packet, copy: Time::ZERO }
}

/// What no simulation here can tell.
fn beyond(id: &str) -> Option<&'static str> {
    Some(match id {
        "ch3.gedp.gs1500.zerocopy" | "ch3.shape.pci" => {
            "how the bus shares its time between the copies of processors and NICs is not modelled"
        }
        "ch3.pci.read" => {
            "a property of a chipset; the presets take g_s and g_r as they were measured"
        }
        "ch3.tbp.copy" => "the presets pick packets up without that copy",
        "ch3.gedpsmp.os.full.reliable" => "the experiments take it from the thesis",
        "ch3.shape.fc2threads" => "a process has one thread here",
        _ => return None,
    })
}

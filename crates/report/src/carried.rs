//! What the rails of a box carried, in words: what figures, the page and the terminal share.

use crosstie_box::{End, Happening};
use crosstie_study::trace::{EndSummary, Summary};
use crosstie_units::Rate;

use crate::number;

/// A unit of a column or an axis.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Unit {
    /// How much it is, in bits per second or bytes.
    pub worth: f64,
    pub name: &'static str,
}

impl Unit {
    /// A unit for rates, in bits per second, that stand together. Those of acknowledgements are a
    /// thousandth of those of data, and are to be seen too.
    pub fn of_rates(rates: impl Iterator<Item = f64>) -> Unit {
        match largest(rates) {
            rate if rate >= 1e10 => GIGABITS,
            _ => MEGABITS,
        }
    }

    /// A unit for amounts of bytes that stand together.
    fn of_amounts(amounts: impl Iterator<Item = u64>) -> Unit {
        match largest(amounts.map(|amount| amount as f64)) {
            amount if amount >= 1e10 => Unit { worth: 1e9, name: "GB" },
            amount if amount >= 1e7 => Unit { worth: 1e6, name: "MB" },
            amount if amount >= 1e4 => Unit { worth: 1e3, name: "kB" },
            _ => BYTES,
        }
    }
}

const BYTES: Unit = Unit { worth: 1.0, name: "B" };
const MEGABITS: Unit = Unit { worth: 1e6, name: "Mbit/s" };
const GIGABITS: Unit = Unit { worth: 1e9, name: "Gbit/s" };

fn largest(values: impl Iterator<Item = f64>) -> f64 {
    values.filter(|value| value.is_finite()).fold(0.0, f64::max)
}

/// The way of what an end carries: "from host0", "to host0".
pub(crate) fn way(end: &EndSummary) -> String {
    match end.end {
        End::Nic => format!("from {}", end.host),
        End::Switch => format!("to {}", end.host),
    }
}

/// What happened, in a few words: "host1 down", "250 Mbit/s".
pub(crate) fn happened(happening: &Happening, with_rail: bool) -> String {
    let rate = happening.what.parse().map(|rate: Rate| {
        let bits = 8.0 * rate.bytes_per_second() as f64;
        let unit = if bits >= 1e9 { GIGABITS } else { MEGABITS };
        format!("{} {}", number::chosen(bits / unit.worth), unit.name)
    });
    let what = rate.unwrap_or_else(|_| happening.what.clone());
    let rail = with_rail.then_some(happening.rail.as_str());
    let host = Some(happening.host.as_str()).filter(|host| !host.is_empty());
    rail.into_iter().chain(host).chain([what.as_str()]).collect::<Vec<_>>().join(" ")
}

/// A column of the table of ends.
pub(crate) struct Column {
    pub head: &'static str,
    pub unit: &'static str,
    pub meaning: &'static str,
    /// Whether narrow tables do without it.
    pub extra: bool,
    /// Cells of text, or numbers and how they are written.
    pub cells: Vec<(String, Option<f64>)>,
}

/// The columns of a table with these ends, each in one unit.
pub(crate) fn columns(summary: &Summary, ends: &[&EndSummary]) -> Vec<Column> {
    let rates = Unit::of_rates(ends.iter().map(|end| summary.mean(end)));
    let peaks = Unit::of_rates(ends.iter().map(|end| end.busiest_bits()));
    let amounts = Unit::of_amounts(ends.iter().map(|end| end.bytes));
    let queues = Unit::of_amounts(ends.iter().map(|end| end.longest_queue));
    let texts = |cell: &dyn Fn(&EndSummary) -> &str| -> Vec<(String, Option<f64>)> {
        ends.iter().map(|end| (cell(end).to_owned(), None)).collect()
    };
    let counts = |cell: &dyn Fn(&EndSummary) -> u64| -> Vec<(String, Option<f64>)> {
        let written = |x: f64| (number::measured(x), Some(x));
        ends.iter().map(|end| written(cell(end) as f64)).collect()
    };
    let numbers = |cell: &dyn Fn(&EndSummary) -> f64, unit: Unit| -> Vec<(String, Option<f64>)> {
        let values: Vec<f64> = ends.iter().map(|end| cell(end) / unit.worth).collect();
        let most = largest(values.iter().copied());
        // There are no parts of bytes.
        let written =
            |x| if unit == BYTES { number::measured(x) } else { number::aligned(x, most) };
        values.into_iter().map(|x| (written(x), Some(x))).collect()
    };
    let shares = ends.iter().map(|end| match end.busiest_share() {
        Some(share) => (number::share(share), Some(share)),
        None => (number::MISSING.to_owned(), Some(f64::NAN)),
    });
    let column = |head, unit, meaning, cells| Column { head, unit, meaning, extra: false, cells };
    let extra = |head, unit, meaning, cells| Column { head, unit, meaning, extra: true, cells };
    let mut columns = vec![
        column("rail", "", "the rail", texts(&|end| &end.rail)),
        column("host", "", "the host", texts(&|end| &end.host)),
    ];
    if summary.has_switches() {
        let words = texts(&|end| match end.end {
            End::Nic => "nic",
            End::Switch => "switch",
        });
        let meaning = "nic: what the host sends; switch: what the switch sends to the host";
        columns.push(column("end", "", meaning, words));
    }
    let (bytes, queue) =
        (|end: &EndSummary| end.bytes as f64, |end: &EndSummary| end.longest_queue);
    columns.extend([
        column("carried", amounts.name, "bytes, Ethernet headers included", {
            numbers(&bytes, amounts)
        }),
        extra("frames", "", "frames; with offloads, what a NIC takes at once counts as one", {
            counts(&|end| end.frames)
        }),
        column("mean", rates.name, "rate over the whole run", {
            numbers(&|end| summary.mean(end), rates)
        }),
        extra("peak", peaks.name, "rate in the busiest 100 ms", {
            numbers(&|end| end.busiest_bits(), peaks)
        }),
        column("busiest", "", "the busiest 100 ms as a share of the line rate", shares.collect()),
        column("dropped", "", "frames that found no room", counts(&|end| end.drops)),
        column("queue", queues.name, "the most that was seen waiting", {
            numbers(&|end| queue(end) as f64, queues)
        }),
    ]);
    columns
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_told_as_operators_think() {
        let told = |what: &str, host: &str| {
            let happening = Happening {
                time: 1.0,
                late: 0.0,
                rail: "slow".to_owned(),
                host: host.to_owned(),
                what: what.to_owned(),
            };
            (happened(&happening, false), happened(&happening, true))
        };
        assert_eq!(told("31250 kB/s", "").0, "250 Mbit/s");
        assert_eq!(told("312.5 MB/s", "host1").1, "slow host1 2.5 Gbit/s");
        assert_eq!(told("down", "host1").0, "host1 down");
    }
}

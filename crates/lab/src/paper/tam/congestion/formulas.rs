//! Claims that are arithmetic: the formulas of chapter 4, evaluated.

use super::super::CONGESTION;
use super::{IBM326, IBM416, after, average, table_4_1};
use crate::paper::numbers;
use crosstie_model::Architecture;
use crosstie_model::congestion::{Cycle, Loss, Trace, input_approximate, timeouts};
use crosstie_study::paper::Measured;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// What the chapter publishes, by claim.
pub(super) static PUBLISHED: LazyLock<BTreeMap<String, f64>> =
    LazyLock::new(|| numbers(&CONGESTION));

/// A cell of Table 4.1.
pub(super) fn cell((senders, window, slots): (u32, u32, u32), what: &str) -> Option<f64> {
    PUBLISHED.get(&format!("t4.1.p{senders}.w{window}.to{slots}.{what}")).copied()
}

/// Eq. 4.10 with the chances of a row of Table 4.1; nothing if there is no such row.
pub(super) fn prediction(row: (u32, u32, u32)) -> Option<f64> {
    let loss = Loss {
        interrupted: cell(row, "c")?,
        severe: cell(row, "one_minus_a")?,
        recovered: cell(row, "f")?,
    };
    let (senders, window, slots) = row;
    Some(loss.efficiency(senders, window, IBM416, f64::from(slots)))
}

/// The mean distance of the predicted from the measured column, over the rows whose claims begin
/// so.
fn printed_error(begin: &str) -> f64 {
    let rows = PUBLISHED.keys().filter(|id| id.starts_with(begin));
    let error = |id: &String| {
        let row = id.strip_suffix(".measured")?;
        let (measured, predicted) = (PUBLISHED[id], PUBLISHED.get(&format!("{row}.predicted"))?);
        Some((predicted - measured).abs() / measured)
    };
    average(&rows.filter_map(error).collect::<Vec<f64>>())
}

/// Measures a claim; nothing if it is no arithmetic.
pub(super) fn measure(id: &str) -> Option<Measured> {
    let words: Vec<&str> = id.split('.').collect();
    let found = match words[..] {
        ["t4", "1", p, w, to, "predicted"] => {
            prediction((after(p, "p")?, after(w, "w")?, after(to, "to")?))?
        }
        ["t4", _, switch, p, w, to, "predicted"] => {
            let row = (after(p, "p")?, after(w, "w")?, after(to, "to")?);
            match prediction(row).filter(|_| switch == "ibm416") {
                Some(found) => found,
                None => return Some(Measured::beyond(UNPUBLISHED)),
            }
        }
        ["eq4", "2", form, p, w] => {
            let (senders, window) = (after(p, "p")?, after(w, "w")?);
            match form {
                "exact" => Cycle::new(senders, window, IBM326)?.efficiency(),
                _ => input_approximate(senders, window, IBM326)?,
            }
        }
        ["fig4", "5", what] => {
            let loss = Loss::of(&TRACE.parse::<Trace>().ok()?)?;
            match what {
                "c" => loss.interrupted,
                "one_minus_a" => loss.severe,
                _ => loss.recovered,
            }
        }
        ["ch4", "to", architecture, place, end] => {
            let found = match architecture {
                "input" => timeouts(Architecture::Input, after(place, "p")?, IBM326),
                _ => timeouts(Architecture::Output, 1, after(place, "b")?),
            };
            if end == "low" { found.shortest } else { found.longest }
        }
        ["ch4", "error", "t41rows"] => {
            let error = |row| {
                let (measured, predicted) = (cell(row, "measured")?, cell(row, "predicted")?);
                Some((predicted - measured).abs() / measured)
            };
            average(&table_4_1().into_iter().filter_map(error).collect::<Vec<f64>>())
        }
        ["ch4", "error", "t42cisco"] => printed_error("t4.2.cisco2980."),
        ["ch4", "error", "t44uplink"] => printed_error("t4.4.uplink."),
        ["ch4", "error", _, "halfwidth"] => {
            return Some(Measured::beyond(
                "how sure the thesis is of its mean; nothing to measure",
            ));
        }
        ["ch4", "volume", "p15"] => 15.0 * 30_000.0 * 1492.0 / f64::from(1 << 20),
        _ => return None,
    };
    Some(Measured::exact(found))
}

/// The trace of Figure 4.5.
const TRACE: &str = "P6 N TO2 P2 N TO P32 N P6 N P106 N TO P13 N P6";

const UNPUBLISHED: &str =
    "the chances of this setting are not published, so that Eq. 4.10 cannot be evaluated";

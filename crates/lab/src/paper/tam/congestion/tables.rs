//! Measures of the cells of Tables 4.1, 4.2 and 4.4.

use super::super::flow::{at, flows};
use super::formulas::cell;
use super::{Answer, after, average, one, switch, table_4_1};
use crate::paper::Evidence;
use crate::paper::statistic::rank_correlation;
use crosstie_study::paper::{Grid, GridRow, Measured, Missing};

/// Measures a claim; nothing if it is not about these tables.
pub(super) fn measure(id: &str, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = id.split('.').collect();
    Some(match words[..] {
        ["t4", "1", p, w, to, what] => {
            let place = (after(p, "p")?, after(w, "w")?, after(to, "to")?);
            measured(e, "output", place, what)
        }
        ["t4", _, name, p, w, to, "measured"] => {
            let (part, _) = switch(name)?;
            let place = (after(p, "p")?, after(w, "w")?, after(to, "to")?);
            measured(e, part, place, "measured")
        }
        ["ours", "t41", "rank"] => columns(e, "measured").map(|(simulated, published)| {
            Measured::exact(rank_correlation(&simulated, &published))
        }),
        ["ours", "t41", "difference"] => columns(e, "measured").map(|(simulated, published)| {
            let apart = simulated.iter().zip(&published).map(|(a, b)| (a - b).abs());
            Measured::exact(average(&apart.collect::<Vec<f64>>()))
        }),
        ["ours", "t41", "rank", what] => columns(e, what).map(|(simulated, published)| {
            Measured::exact(rank_correlation(&simulated, &published))
        }),
        _ => return None,
    })
}

/// The column that has what a cell is about.
fn column(what: &str) -> &'static str {
    match what {
        "c" => "interruption",
        "one_minus_a" => "severity",
        _ => "recovery",
    }
}

fn measured(e: &Evidence, part: &str, place: (u32, u32, u32), what: &str) -> Answer {
    let all = flows(e, part)?;
    let flow = at(&all, part, place)?;
    if what == "measured" {
        return Ok(Measured::Number(flow.efficiency()));
    }
    let (column, (senders, window, slots)) = (column(what), place);
    let found = flow.column(column).ok_or_else(|| {
        Missing(format!(
            "{part} measured no {column} with {senders} senders, window {window}, time-out {slots} slots"
        ))
    })?;
    Ok(Measured::Number(found))
}

/// A column of Table 4.1: simulated and published.
fn columns(e: &Evidence, what: &str) -> Result<(Vec<f64>, Vec<f64>), Missing> {
    let (mut simulated, mut published) = (Vec::new(), Vec::new());
    for place in table_4_1() {
        let found = match what {
            "measured" => one(e, "output", place)?,
            _ => match measured(e, "output", place, what)? {
                Measured::Number(found) => found.value,
                _ => continue,
            },
        };
        simulated.push(found);
        published.extend(cell(place, what));
    }
    Ok((simulated, published))
}

/// Tables 4.1, 4.2 and 4.4, laid out as the thesis has them.
pub(in super::super) fn grids() -> Vec<Grid> {
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<_>>();
    let cells =
        |id: String, whats: &[&str]| whats.iter().map(|what| format!("{id}.{what}")).collect();
    let first = Grid {
        title: "Table 4.1: IBM 8275-416, 95 frames at an output".to_owned(),
        heads: names(&["senders", "window", "time-out"]),
        columns: names(&["c", "1 - a", "f", "efficiency", "Eq. 4.10"]),
        rows: table_4_1()
            .into_iter()
            .map(|(p, w, to)| GridRow {
                names: [p, w, to].map(|number| number.to_string()).to_vec(),
                cells: cells(
                    format!("t4.1.p{p}.w{w}.to{to}"),
                    &["c", "one_minus_a", "f", "measured", "predicted"],
                ),
            })
            .collect(),
    };
    let other = |title: &str, table: u32, rows: &[(&str, u32, u32, u32)]| Grid {
        title: title.to_owned(),
        heads: names(&["port", "senders", "window", "time-out"]),
        columns: names(&["efficiency", "Eq. 4.10"]),
        rows: rows
            .iter()
            .map(|&(port, p, w, to)| GridRow {
                names: vec![port.to_owned(), p.to_string(), w.to_string(), to.to_string()],
                cells: cells(
                    format!("t4.{table}.{port}.p{p}.w{w}.to{to}"),
                    &["measured", "predicted"],
                ),
            })
            .collect(),
    };
    vec![
        first,
        other("Table 4.2: two sizes of output buffers", 2, &TABLE_4_2),
        other("Table 4.4: an uplink beside output buffers", 4, &TABLE_4_4),
    ]
}

const TABLE_4_2: [(&str, u32, u32, u32); 12] = [
    ("ibm416", 7, 24, 400),
    ("cisco2980", 7, 24, 400),
    ("ibm416", 7, 24, 1600),
    ("cisco2980", 7, 24, 1600),
    ("ibm416", 15, 24, 400),
    ("cisco2980", 15, 24, 400),
    ("ibm416", 15, 24, 1600),
    ("cisco2980", 15, 24, 1600),
    ("ibm416", 15, 12, 400),
    ("cisco2980", 15, 12, 400),
    ("ibm416", 15, 12, 1600),
    ("cisco2980", 15, 12, 1600),
];

const TABLE_4_4: [(&str, u32, u32, u32); 10] = [
    ("uplink", 15, 12, 400),
    ("ibm416", 15, 12, 400),
    ("cisco2980", 15, 12, 400),
    ("uplink", 15, 12, 1600),
    ("ibm416", 15, 12, 1600),
    ("cisco2980", 15, 12, 1600),
    ("uplink", 11, 30, 200),
    ("ibm416", 11, 30, 200),
    ("uplink", 11, 30, 1600),
    ("ibm416", 11, 30, 1600),
];

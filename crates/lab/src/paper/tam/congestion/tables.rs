//! Measures of the cells of Tables 4.1, 4.2 and 4.4.

use super::super::flow::{at, flows};
use super::{Answer, after, switch, table_4_1};
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Estimate, Grid, GridRow, Measured, Missing, Target};

/// Measures a claim; nothing if it is not about these tables.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    Some(match words[..] {
        ["t4", table, "series", what] => column_of(claim, table, what, e)?,
        ["t4", "1", p, w, to, what] => {
            let place = (after(p, "p")?, after(w, "w")?, after(to, "to")?);
            measured(e, "output", place, what).map(Measured::Number)
        }
        ["t4", _, name, p, w, to, "measured"] => {
            let (part, _) = switch(name)?;
            let place = (after(p, "p")?, after(w, "w")?, after(to, "to")?);
            measured(e, part, place, "measured").map(Measured::Number)
        }
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

fn measured(
    e: &Evidence,
    part: &str,
    place: (u32, u32, u32),
    what: &str,
) -> Result<Estimate, Missing> {
    let all = flows(e, part)?;
    let flow = at(&all, part, place)?;
    if what == "measured" {
        return Ok(flow.efficiency());
    }
    let (column, (senders, window, slots)) = (column(what), place);
    flow.column(column).ok_or_else(|| {
        Missing(format!(
            "{part} measured no {column} with {senders} senders, window {window}, time-out {slots} slots"
        ))
    })
}

/// A whole column of a table: its cells, in the order of the labels.
fn column_of(claim: &Claim, table: &str, what: &str, e: &Evidence) -> Option<Answer> {
    let Target::Series(series) = &claim.target else { return None };
    let cell = |label: &String| {
        let words: Vec<&str> = label.split('.').collect();
        let (part, place) = match (table, &words[..]) {
            ("1", place) => ("output", place),
            (_, [name, place @ ..]) => (switch(name)?.0, place),
            _ => return None,
        };
        let &[p, w, to] = place else { return None };
        let place = (after(p, "p")?, after(w, "w")?, after(to, "to")?);
        Some(measured(e, part, place, what))
    };
    let cells: Option<Vec<Result<Estimate, Missing>>> = series.labels.iter().map(cell).collect();
    Some(cells?.into_iter().collect::<Result<_, _>>().map(Measured::Series))
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

//! What every table of rows shares: which columns it has, and how a cell reads.

use crosstie_study::{Row, WorkKind, columns};

use crate::caption;
use crate::number;

/// The swept keys of all rows, in order of first appearance.
pub(crate) fn setting_keys(rows: &[Row]) -> Vec<&str> {
    distinct(rows.iter().flat_map(|row| &row.settings).map(|(key, _)| key.as_str()))
}

/// The kinds of work of all rows, each once.
pub(crate) fn kinds(rows: &[Row]) -> Vec<WorkKind> {
    WorkKind::among(rows.iter().map(|row| row.kind))
}

/// The measured columns that occur, in catalogue order, without those shown as ± of another.
pub(crate) fn measured_columns(rows: &[Row]) -> Vec<&str> {
    let names = rows.iter().flat_map(|row| &row.measured).map(|(name, _)| name.as_str());
    let mut present = distinct(names);
    let folded: Vec<&str> = present
        .iter()
        .filter_map(|name| caption::half_width_column(name))
        .map(|column| column.name)
        .collect();
    present.retain(|name| !folded.contains(name));
    let catalogue = columns(&kinds(rows));
    present.sort_by_key(|name| {
        catalogue.iter().position(|column| column.name == *name).unwrap_or(catalogue.len())
    });
    present
}

/// A measured value as text, with ± where its confidence interval is symmetric.
pub(crate) fn value(row: &Row, name: &str) -> String {
    let Some(value) = row.measured(name) else { return number::MISSING.to_owned() };
    match caption::interval(row, name) {
        Some((below, above)) if (below - above).abs() <= 1e-9 * above => {
            number::plus_minus(value, above)
        }
        _ => number::measured(value),
    }
}

fn distinct<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut known: Vec<&str> = Vec::new();
    for name in names {
        if !known.contains(&name) {
            known.push(name);
        }
    }
    known
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::Status;

    #[test]
    fn the_middle_of_an_interval_has_its_half_width() {
        let (low, high) = (0.2476, 0.4688);
        let columns = [
            ("saturation", f64::midpoint(low, high)),
            ("saturation_low", low),
            ("saturation_high", high),
        ];
        let row = Row {
            profile: None,
            point: 0,
            kind: WorkKind::Traffic,
            settings: Vec::new(),
            status: Status::NotConverged,
            note: String::new(),
            measured: columns.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        };
        assert_eq!(value(&row, "saturation"), "0.36 ± 0.11");
    }
}

//! What a column, a swept key or a point is called, and which column holds its confidence interval.

use crosstie_study::{Column, Row, column};

use crate::escape::{one_line, shortened};
use crate::figure::spelling;

/// Swept keys whose words alone do not say what they are, and their unit.
const KEYS: [(&str, &str, &str); 16] = [
    ("traffic.load", "offered load", "flits/cycle/host"),
    ("cluster.rails", "rails", ""),
    ("cluster.pes", "processing elements of a node", ""),
    ("fabric.tree.hosts", "hosts", ""),
    ("fabric.tree.k", "arity of the tree", ""),
    ("fabric.tree.n", "levels of the tree", ""),
    ("fabric.irregular.seed", "network, by its seed", ""),
    ("fabric.irregular.switches", "switches", ""),
    ("switch.virtual-channels", "virtual channels", ""),
    ("switch.buffer", "buffer of a virtual channel", "flits"),
    ("traffic.size.exponential.mean", "mean message size", ""),
    ("traffic.size.fixed.size", "message size", ""),
    ("schedule.ranks", "ranks", ""),
    ("work.ping.size", "message size", ""),
    ("work.stream.size", "message size", ""),
    // Of a collective operation.
    ("work.*.size", "size", ""),
];

/// What a column or a swept key is called: "accepted load", "virtual channels".
pub(crate) fn name(key: &str) -> String {
    match (column(key), known(key)) {
        (Some(Column { label, .. }), _) | (_, Some((_, label, _))) => (*label).to_owned(),
        _ => one_line(key).replace(['.', '_', '-'], " "),
    }
}

/// The unit of a column or a swept key; empty for a pure number.
pub(crate) fn unit(key: &str) -> &'static str {
    column(key).map_or_else(|| known(key).map_or("", |(.., unit)| unit), |column| column.unit)
}

fn known(key: &str) -> Option<&'static (&'static str, &'static str, &'static str)> {
    let matches = |name: &str| match name.split_once('*') {
        None => name == key,
        Some((start, end)) => key.starts_with(start) && key.ends_with(end),
    };
    KEYS.iter().find(|(name, ..)| matches(name))
}

/// Whether what runs along an axis is a load: the more of it, the nearer to saturation.
pub(crate) fn is_load(key: &str) -> bool {
    matches!(key, "offered" | "accepted") || leaf(key) == "load"
}

/// The names of columns that stand together: what they share is said once, in the first part.
pub(crate) fn names(keys: &[String]) -> (String, Vec<String>) {
    let stem = |key: &str| key.split_once('_').map(|(stem, _)| stem.to_owned());
    let shared = keys.first().and_then(|key| stem(key)).filter(|shared| {
        keys.len() > 1 && keys.iter().all(|key| stem(key).as_ref() == Some(shared))
    });
    match shared {
        Some(shared) => {
            let rest = keys.iter().map(|key| one_line(&key[shared.len() + 1..])).collect();
            (one_line(&shared), rest)
        }
        None => {
            let names: Vec<String> = keys.iter().map(|key| name(key)).collect();
            (names.join(", "), names)
        }
    }
}

/// The last part of a dotted key: "load" of "traffic.load".
pub(crate) fn leaf(key: &str) -> &str {
    key.rsplit('.').next().unwrap_or(key)
}

/// A point by its number and its settings: "point 7: engine adaptive, load 0.4".
pub(crate) fn point(rows: &[Row], point: u32) -> String {
    let row = rows.iter().find(|row| row.point == point);
    let settings: Vec<String> = row
        .iter()
        .flat_map(|row| &row.settings)
        .map(|(key, value)| format!("{} {}", leaf(key), spelling(value)))
        .collect();
    one_line(&match settings.is_empty() {
        true => format!("point {point}"),
        false => format!("point {point}: {}", settings.join(", ")),
    })
}

/// The label of an axis that carries these columns or keys, with their unit where they share one
/// and both fit into `room` characters.
pub(crate) fn axis(keys: &[String], room: usize) -> String {
    let Some(first) = keys.first() else { return String::new() };
    let label = names(keys).0;
    let shared = unit(first);
    if !shared.is_empty() && keys.iter().all(|key| unit(key) == shared) {
        let whole = format!("{label} [{shared}]");
        if whole.chars().count() <= room {
            return whole;
        }
    }
    shortened(&label, room)
}

/// The confidence interval of a measured column in a row, as distances below and above its value.
pub(crate) fn interval(row: &Row, key: &str) -> Option<(f64, f64)> {
    let usable = |x: &f64| x.is_finite() && *x >= 0.0;
    if let Some(half_width) = half_width_column(key).and_then(|column| row.measured(column.name)) {
        return Some((half_width, half_width)).filter(|(x, _)| usable(x));
    }
    let value = row.measured(key)?;
    let bound = |end: &str| row.measured(column(&format!("{key}_{end}"))?.name);
    let (below, above) = (value - bound("low")?, bound("high")? - value);
    Some((below, above)).filter(|(below, above)| usable(below) && usable(above))
}

/// The column with the half-width of the confidence interval of another one.
pub(crate) fn half_width_column(key: &str) -> Option<&'static Column> {
    let stem = key.strip_suffix("_mean").unwrap_or(key);
    column(&format!("{stem}_ci"))
}

/// Whether the column grows without bound where the network is saturated.
pub(crate) fn is_unbounded(key: &str) -> bool {
    key.starts_with("latency_") || key == "network_mean"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::{Status, WorkKind};

    fn axis_of(keys: &[&str]) -> String {
        axis(&keys.iter().map(|key| key.to_string()).collect::<Vec<_>>(), 48)
    }

    #[test]
    fn labels_are_short_and_carry_the_unit() {
        assert_eq!(axis_of(&["latency_mean"]), "mean latency [cycles]");
        assert_eq!(axis_of(&["latency_p50", "latency_p99"]), "latency [cycles]");
        assert_eq!(axis_of(&["latency_p50", "packets"]), "median latency, packets measured");
        assert_eq!(axis_of(&["accepted"]), "accepted load [flits/cycle/host]");
        assert_eq!(axis_of(&["traffic.load"]), "offered load [flits/cycle/host]");
        assert_eq!(axis_of(&["cluster.rails"]), "rails");
        assert_eq!(axis_of(&["link.wire"]), "link wire");
        assert_eq!(leaf("traffic.load"), "load");
    }

    #[test]
    fn intervals_are_found_by_the_name_of_their_column() {
        let row = Row {
            profile: None,
            point: 0,
            kind: WorkKind::Traffic,
            settings: Vec::new(),
            status: Status::Converged,
            note: String::new(),
            measured: [
                ("latency_mean", 100.0),
                ("latency_ci", 2.0),
                ("saturation", 0.5),
                ("saturation_low", 0.49),
                ("saturation_high", 0.52),
                ("accepted", 0.3),
                ("accepted_ci", f64::NAN),
            ]
            .map(|(name, value)| (name.to_owned(), value))
            .to_vec(),
        };
        assert_eq!(interval(&row, "latency_mean"), Some((2.0, 2.0)));
        let (below, above) = interval(&row, "saturation").unwrap();
        assert!((below - 0.01).abs() < 1e-12 && (above - 0.02).abs() < 1e-12);
        assert_eq!(interval(&row, "accepted"), None);
        assert_eq!(interval(&row, "latency_p50"), None);
    }
}

//! The results of an experiment at a glance, for a terminal.

use crosstie_report::Terminal;
use crosstie_study::{Row, Study};

use crate::console::harmless;

/// The most notes that are shown.
const NOTES: usize = 6;
/// The most points that a shared note names.
const NAMED: usize = 4;

/// Title, table, notes, tables of the experiment's own and small curves.
pub fn glance(study: &Study, rows: &[Row], terminal: &Terminal) -> String {
    let title = harmless(&study.title.replace('\n', " "));
    let tables = study.tables.iter().map(|table| terminal.sheets(table, rows));
    let curves = study.figures.iter().map(|figure| terminal.sparklines(figure, rows));
    let parts = [title + "\n", terminal.table(rows), notes(rows)];
    let parts: Vec<String> =
        parts.into_iter().chain(tables).chain(curves).filter(|part| !part.is_empty()).collect();
    parts.join("\n")
}

/// What is unusual about some points, each remark once.
fn notes(rows: &[Row]) -> String {
    let mut notes: Vec<(&str, Vec<u32>)> = Vec::new();
    for row in rows.iter().filter(|row| !row.note.is_empty()) {
        match notes.iter_mut().find(|(note, _)| *note == row.note) {
            Some((_, points)) => points.push(row.point),
            None => notes.push((&row.note, vec![row.point])),
        }
    }
    let line = |(note, points): &(&str, Vec<u32>)| format!("{}: {note}\n", named(points));
    let mut text: String = notes.iter().take(NOTES).map(line).collect();
    if notes.len() > NOTES {
        text += &format!("{} more notes are in rows.csv\n", notes.len() - NOTES);
    }
    harmless(&text)
}

fn named(points: &[u32]) -> String {
    let names: Vec<String> = points.iter().take(NAMED).map(u32::to_string).collect();
    match (points.len(), names.join(", ")) {
        (1, name) => format!("point {name}"),
        (count, names) if count > NAMED => format!("points {names} and {} more", count - NAMED),
        (_, names) => format!("points {names}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::{Status, WorkKind};

    fn row(point: u32, note: &str) -> Row {
        let (settings, measured) = (Vec::new(), Vec::new());
        let (kind, status, note) = (WorkKind::Traffic, Status::Converged, note.to_owned());
        Row { point, kind, settings, profile: None, status, note, measured }
    }

    #[test]
    fn a_note_that_points_share_is_told_once() {
        let mut rows: Vec<Row> = (0..6).map(|point| row(point, "the bus is slow")).collect();
        rows.extend([row(6, ""), row(7, "stopped at 100 cycles"), row(8, "odd"), row(9, "odd")]);
        assert_eq!(
            notes(&rows),
            "points 0, 1, 2, 3 and 2 more: the bus is slow\npoint 7: stopped at 100 cycles\n\
             points 8, 9: odd\n"
        );
        assert_eq!(notes(&[row(0, "")]), "");
    }

    #[test]
    fn many_notes_are_cut_and_harmless() {
        let rows: Vec<Row> = (0..9).map(|point| row(point, &format!("\x1b{point}"))).collect();
        let text = notes(&rows);
        assert_eq!(text.lines().count(), NOTES + 1);
        assert!(text.starts_with("point 0: \u{fffd}0\n"), "{text}");
        assert!(text.ends_with("\n3 more notes are in rows.csv\n"), "{text}");
    }
}

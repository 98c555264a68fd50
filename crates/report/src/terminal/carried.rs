//! What the rails of a box carried: a line for each end.

use crosstie_study::trace::{EndSummary, Summary};

use super::{Terminal, columns};
use crate::carried;
use crate::number;

/// More lines than that are no table at the end of a run.
const MOST: usize = 32;

pub(super) fn table(terminal: &Terminal, summary: &Summary) -> String {
    let mut ends: Vec<usize> = (0..summary.ends.len()).collect();
    ends.sort_by_key(|&i| std::cmp::Reverse((summary.ends[i].bytes, summary.ends[i].drops)));
    let further = ends.len().saturating_sub(MOST);
    ends.truncate(MOST);
    ends.sort_unstable();
    let ends: Vec<&EndSummary> = ends.into_iter().map(|i| &summary.ends[i]).collect();
    let columns: Vec<columns::Column> = carried::columns(summary, &ends)
        .into_iter()
        .filter(|column| !column.extra)
        .map(|column| columns::Column {
            right: column.cells.iter().any(|(_, value)| value.is_some()),
            head: match column.unit {
                "" => column.head.to_owned(),
                unit => format!("{} [{unit}]", column.head),
            },
            cells: column.cells.iter().map(|(cell, _)| terminal.spell(cell)).collect(),
        })
        .collect();
    let mut text = String::new();
    for number in std::iter::once(None).chain((0..ends.len()).map(Some)) {
        text += &columns::line(terminal, columns.iter(), number);
        text.push('\n');
    }
    if further > 0 {
        let lines = number::count(further, "end");
        text += &terminal.fitted(&format!("and {lines} that carried no more"), terminal.width);
        text.push('\n');
    }
    text
}

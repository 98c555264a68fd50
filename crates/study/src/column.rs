//! Measured columns: name, unit and meaning of every number a run can report. Which there are, the
//! kinds of work say.

use crate::kind::WorkKind;

/// A measured quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in result files and figures.
    pub name: &'static str,
    /// Its unit; empty for a pure number.
    pub unit: &'static str,
    /// What it is called on an axis.
    pub label: &'static str,
    /// What it means, in a sentence fragment.
    pub meaning: &'static str,
    /// Whether it is left out where it was not measured: only some worlds know it.
    pub optional: bool,
}

/// A column from its name, label, unit and meaning.
pub(crate) const fn c(
    name: &'static str,
    label: &'static str,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, label, unit, meaning, optional: false }
}

/// The same of what only some worlds know.
pub(crate) const fn optional(
    name: &'static str,
    label: &'static str,
    unit: &'static str,
    meaning: &'static str,
) -> Column {
    Column { name, label, unit, meaning, optional: true }
}

/// The columns of some kinds of work, each once, in the order of the result files.
pub fn columns(kinds: &[WorkKind]) -> Vec<&'static Column> {
    let mut columns: Vec<&Column> = Vec::new();
    for column in kinds.iter().flat_map(|kind| kind.columns()) {
        if !columns.contains(&column) {
            columns.push(column);
        }
    }
    columns
}

/// The column of that name. Kinds of work that share a name mean the same by it.
pub fn column(name: &str) -> Option<&'static Column> {
    let mut all = WorkKind::ALL.into_iter().flat_map(WorkKind::columns);
    all.find(|column| column.name == name)
}

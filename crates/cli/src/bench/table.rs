//! The table of a benchmark, in the familiar columns.

use std::fmt;

use serde::{Serialize, Serializer};

/// What was measured.
#[derive(Serialize)]
pub struct Table {
    /// The benchmark.
    pub benchmark: &'static str,
    /// The preset or file of what was simulated.
    pub sim: Option<String>,
    /// Where real ranks ran.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub live: Option<String>,
    /// What it is.
    pub machine: String,
    /// How many ranks took part in a collective operation.
    pub ranks: Option<u32>,
    /// What was measured, and in which unit.
    pub quantity: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// What the values of a line are of.
    pub columns: Vec<Column>,
    /// A size, if there is one, and what was found; `None` where a run failed.
    #[serde(rename = "rows", serialize_with = "as_rows")]
    pub lines: Vec<(Option<u64>, Vec<Option<f64>>)>,
}

/// What a column is of.
#[derive(Serialize)]
pub struct Column {
    /// The algorithm of a collective operation.
    pub algorithm: Option<String>,
    /// The world.
    pub world: String,
    /// Which of many times it is, where they vary; otherwise the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub statistic: Option<&'static str>,
}

fn as_rows<S: Serializer>(
    lines: &[(Option<u64>, Vec<Option<f64>>)],
    to: S,
) -> Result<S::Ok, S::Error> {
    #[derive(Serialize)]
    struct Line<'a> {
        size: Option<u64>,
        values: &'a [Option<f64>],
    }
    to.collect_seq(lines.iter().map(|(size, values)| Line { size: *size, values }))
}

/// A number with two decimals, or more of a small one.
fn number(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.2}") }
}

impl Table {
    /// What it was measured on.
    fn places(&self) -> String {
        let places: Vec<&str> = self.sim.iter().chain(&self.live).map(String::as_str).collect();
        places.join(" and ")
    }

    /// What tells columns apart, or the quantity if there is one only.
    fn heads(&self) -> Vec<String> {
        let several = |of: fn(&Column) -> &str| {
            self.columns.iter().any(|column| of(column) != of(&self.columns[0]))
        };
        let algorithms = several(|column| column.algorithm.as_deref().unwrap_or_default());
        let worlds = several(|column| &column.world);
        let head = |column: &Column| {
            let algorithm = column.algorithm.clone().filter(|_| algorithms);
            let world = Some(column.world.clone()).filter(|_| worlds);
            let statistic = column.statistic.map(str::to_owned);
            let words: Vec<String> = algorithm.into_iter().chain(world).chain(statistic).collect();
            if words.is_empty() {
                format!("{} [{}]", self.quantity, self.unit)
            } else {
                words.join(", ")
            }
        };
        self.columns.iter().map(head).collect()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = &self.columns[0];
        let same = |of: fn(&Column) -> Option<&str>| {
            let one = of(first).filter(|_| self.columns.iter().all(|c| of(c) == of(first)));
            one.map_or(String::new(), |word| format!(", {word}"))
        };
        let ranks = self.ranks.map_or(String::new(), |ranks| format!(", {ranks} ranks"));
        writeln!(
            f,
            "# {}{}{ranks} on {}{}",
            self.benchmark,
            same(|column| column.algorithm.as_deref()),
            self.places(),
            same(|column| Some(&column.world)),
        )?;
        for line in self.machine.lines() {
            writeln!(f, "# {line}")?;
        }
        let heads = self.heads();
        if !heads[0].starts_with(self.quantity) {
            writeln!(f, "# {} [{}]", self.quantity, self.unit)?;
        }
        let widths: Vec<usize> = heads.iter().map(|head| head.chars().count().max(12)).collect();
        let has_sizes = self.lines.iter().any(|(size, _)| size.is_some());
        write!(f, "#{}", if has_sizes { " size [B]" } else { "" })?;
        for (head, width) in heads.iter().zip(&widths) {
            write!(f, "  {head:>width$}")?;
        }
        for (size, values) in &self.lines {
            writeln!(f)?;
            match size {
                Some(size) => write!(f, "{size:<10}")?,
                None => write!(f, " ")?,
            }
            for (value, width) in values.iter().zip(&widths) {
                let text = value.map_or("failed".to_owned(), number);
                write!(f, "  {text:>width$}")?;
            }
        }
        writeln!(f)
    }
}

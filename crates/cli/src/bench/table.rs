//! The table of a benchmark, in the familiar columns.

use std::fmt;

use crosstie_lab::live::disturbance;
use serde::Serialize;

use super::catalogue::Quantity;

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
    /// What a reader should know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// How many ranks took part in a collective operation.
    pub ranks: Option<u32>,
    /// What was measured, and in which unit.
    pub quantity: &'static str,
    /// The unit.
    pub unit: &'static str,
    /// What the values of a line are of.
    pub columns: Vec<Column>,
    /// What was found.
    #[serde(rename = "rows")]
    pub lines: Vec<Line>,
}

/// What was found of one size.
#[derive(Default, Serialize)]
pub struct Line {
    /// The size, if there is one.
    pub size: Option<u64>,
    /// A value of each column; `None` where a run failed.
    pub values: Vec<Option<f64>>,
    /// The fastest of several algorithms in each world.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fastest: Vec<Fastest>,
    /// What each of several rails carries, in the columns of the model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rails: Vec<Rails>,
    /// The share of the cores that others had while real ranks worked, the largest of all columns.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub busy: Option<f64>,
}

/// What each of several rails carries by the model.
#[derive(Debug, PartialEq, Serialize)]
pub struct Rails {
    /// The algorithm of a collective operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// The share of all bytes.
    pub shares: Vec<f64>,
    /// How long NICs send them, in microseconds.
    pub busy: Vec<f64>,
}

/// Which algorithm takes the least time in a world.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Fastest {
    /// The world.
    pub world: String,
    /// The algorithm; the first of those that take the same.
    pub algorithm: String,
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

/// A number with two decimals, or more of a small one.
fn number(value: f64) -> String {
    if value < 10.0 { format!("{value:.3}") } else { format!("{value:.2}") }
}

impl Table {
    /// Names the fastest algorithm of each line, where there are several.
    pub fn rank(&mut self, quantity: Quantity) {
        // More bandwidth is less time.
        let sign = if matches!(quantity, Quantity::Bandwidth { .. }) { -1.0 } else { 1.0 };
        let worlds: Vec<&str> = self.worlds();
        let mut all: Vec<Vec<Fastest>> = Vec::new();
        for line in &self.lines {
            let fastest = worlds.iter().filter_map(|world| {
                let of_world = self
                    .columns
                    .iter()
                    .zip(&line.values)
                    .filter(|(column, _)| column.world == *world && column.statistic.is_none());
                let known: Vec<(&str, f64)> = of_world
                    .filter_map(|(column, value)| Some((column.algorithm.as_deref()?, (*value)?)))
                    .collect();
                let (algorithm, _) = known
                    .iter()
                    .copied()
                    .min_by(|a, b| (sign * a.1).total_cmp(&(sign * b.1)))
                    .filter(|_| known.len() > 1)?;
                Some(Fastest { world: (*world).to_owned(), algorithm: algorithm.to_owned() })
            });
            all.push(fastest.collect());
        }
        for (line, fastest) in self.lines.iter_mut().zip(all) {
            line.fastest = fastest;
        }
    }

    /// The worlds of its columns, each once.
    fn worlds(&self) -> Vec<&str> {
        let mut worlds: Vec<&str> = Vec::new();
        for column in &self.columns {
            if !worlds.contains(&column.world.as_str()) {
                worlds.push(&column.world);
            }
        }
        worlds
    }

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
        for line in self.machine.lines().chain(self.remarks.iter().map(String::as_str)) {
            writeln!(f, "# {line}")?;
        }
        let heads = self.heads();
        if !heads[0].starts_with(self.quantity) {
            writeln!(f, "# {} [{}]", self.quantity, self.unit)?;
        }
        let widths: Vec<usize> = heads.iter().map(|head| head.chars().count().max(12)).collect();
        let has_sizes = self.lines.iter().any(|line| line.size.is_some());
        write!(f, "#{}", if has_sizes { " size [B]" } else { "" })?;
        for (head, width) in heads.iter().zip(&widths) {
            write!(f, "  {head:>width$}")?;
        }
        let ranked: Vec<&str> = self.worlds();
        let ranked = ranked.into_iter().filter(|world| {
            self.lines.iter().any(|line| line.fastest.iter().any(|it| it.world == *world))
        });
        let ranked: Vec<&str> = ranked.collect();
        for world in &ranked {
            let world = if ranked.len() > 1 { format!(", {world}") } else { String::new() };
            write!(f, "  fastest{world}")?;
        }
        if self.lines.iter().any(|line| !line.rails.is_empty()) {
            write!(f, "  rails of the model [%]")?;
        }
        for Line { size, values, fastest, busy, rails } in &self.lines {
            writeln!(f)?;
            match size {
                Some(size) => write!(f, "{size:<10}")?,
                None => write!(f, " ")?,
            }
            for (value, width) in values.iter().zip(&widths) {
                let text = value.map_or("failed".to_owned(), number);
                write!(f, "  {text:>width$}")?;
            }
            for world in &ranked {
                let name = fastest.iter().find(|it| it.world == *world);
                let name = name.map_or("-", |it| it.algorithm.as_str());
                let width = if ranked.len() > 1 { "fastest, ".len() + world.len() } else { 0 };
                write!(f, "  {name:<width$}")?;
            }
            let shares = |rails: &Rails| {
                let shares = rails.shares.iter().map(|share| format!("{:.1}", 100.0 * share));
                shares.collect::<Vec<_>>().join("/")
            };
            for rails in rails {
                write!(f, "  {}", shares(rails))?;
            }
            if let Some(doubt) = busy.and_then(disturbance) {
                write!(f, "  # {doubt}")?;
            }
        }
        writeln!(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_was_disturbed_says_so() {
        let line = |size, busy| Line {
            size: Some(size),
            values: vec![Some(1.0)],
            busy,
            ..Line::default()
        };
        let column = Column { algorithm: None, world: "live".to_owned(), statistic: None };
        let table = Table {
            benchmark: "ping",
            sim: None,
            live: Some("localhost".to_owned()),
            machine: "This machine".to_owned(),
            remarks: Vec::new(),
            ranks: None,
            quantity: "latency",
            unit: "us",
            columns: vec![column],
            lines: vec![line(0, None), line(1, Some(0.01)), line(2, Some(0.5))],
        };
        let text = table.to_string();
        let marked = |line: &&str| line.contains("disturbed");
        let lines: Vec<&str> = text.lines().filter(marked).collect();
        assert_eq!(lines.len(), 1, "{text}");
        assert!(lines[0].starts_with("2 "), "{text}");
        assert!(lines[0].ends_with("# disturbed: others had 50 % of the cores"), "{text}");
    }
}

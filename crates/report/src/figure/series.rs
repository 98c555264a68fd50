//! The curves of a figure: rows grouped by their settings, in the order they are drawn.

use crosstie_study::{Figure, Row, Setting, Status};

use super::abscissa::{Abscissa, spelling};
use super::scale::drawable;
use crate::caption;
use crate::escape::one_line;
use crate::number;

/// One point of a curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Point {
    pub x: f64,
    pub y: f64,
    /// Confidence interval, as distances below and above `y`.
    pub interval: Option<(f64, f64)>,
    pub status: Status,
    /// What is shown when the reader points at it; lines of plain text.
    pub tip: String,
}

/// Where a curve has no value because the network did not carry the load.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct End {
    pub x: f64,
    pub status: Status,
    /// Whether it has none at larger x either: then the curve leaves the figure here.
    pub onward: bool,
    pub tip: String,
}

/// How a curve is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Look {
    /// With a marker at every point: each was measured for itself.
    Marked,
    /// As a bar over each of the names along x.
    Bars,
    /// As markers beside each other over the names along x, where no bar can begin at zero.
    Dots,
    /// As a line: points are many, and follow each other. Lines of higher levels are wider and lie
    /// below.
    Plain(usize),
    /// As a thin line that others are compared with.
    Thin,
}

impl Look {
    /// How wide its line is, in pixels. Lines that lie on each other are all seen, as stripes.
    pub fn width(self) -> f64 {
        match self {
            Look::Marked | Look::Bars | Look::Dots => 2.0,
            Look::Plain(level) => [1.6, 4.4, 7.2, 10.0][level.min(3)],
            Look::Thin => 1.0,
        }
    }
}

/// One curve.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Series {
    /// Its name in the legend; empty when the figure has one curve only.
    pub label: String,
    /// Which colour: curves that share the first key's value share it.
    pub colour: usize,
    /// Which dash: tells apart curves of one colour.
    pub dash: usize,
    /// How it is drawn.
    pub look: Look,
    /// In ascending order of x.
    pub points: Vec<Point>,
    /// Where there is nothing to draw: along a load the first such place alone, else each of them.
    pub ends: Vec<End>,
}

/// The curves that the rows make, in order of first appearance; without points, no curve.
pub(crate) fn series(figure: &Figure, rows: &[Row], abscissa: &Abscissa) -> Vec<Series> {
    let mut groups: Vec<(Vec<String>, Vec<usize>)> = Vec::new();
    for (i, row) in rows.iter().enumerate() {
        let values: Vec<String> = figure.series.iter().map(|key| value_name(row, key)).collect();
        match groups.iter_mut().find(|(known, _)| *known == values) {
            Some((_, members)) => members.push(i),
            None => groups.push((values, vec![i])),
        }
    }
    let mut first_values: Vec<String> = Vec::new();
    let mut rest_values: Vec<Vec<String>> = Vec::new();
    let (_, column_names) = caption::names(&figure.y);
    let look = match (abscissa.is_categorical, figure.log_y) {
        (false, _) => Look::Marked,
        (true, false) => Look::Bars,
        (true, true) => Look::Dots,
    };
    let mut all = Vec::new();
    for (values, members) in &groups {
        let (first, rest) = values
            .split_first()
            .map_or((String::new(), &[][..]), |(first, rest)| (first.clone(), rest));
        let colour = index_of(&mut first_values, first);
        let dash = index_of(&mut rest_values, rest.to_vec());
        let start = all.len();
        for (k, column) in figure.y.iter().enumerate() {
            let mut label = values.join(", ");
            if figure.y.len() > 1 {
                let separator = if label.is_empty() { "" } else { " · " };
                label = format!("{label}{separator}{}", column_names[k]);
            }
            // Without keys the columns themselves are told apart by colour.
            let (colour, dash) = match values.is_empty() {
                true => (k, 0),
                false => (colour, dash * figure.y.len() + k),
            };
            let curve = Curve { figure, rows, abscissa, column, label: &label };
            let (points, ends) = (curve.points(members), curve.ends(members));
            if !points.is_empty() || !ends.is_empty() {
                all.push(Series { label, colour, dash, look, points, ends });
            }
        }
        keep_last_ends(&mut all[start..]);
    }
    all
}

/// Columns of one network end together: one mark says so.
fn keep_last_ends(columns: &mut [Series]) {
    if let Some(last) = columns.iter().rposition(|series| !series.ends.is_empty()) {
        columns[..last].iter_mut().for_each(|series| series.ends.clear());
    }
}

fn index_of<T: PartialEq>(known: &mut Vec<T>, value: T) -> usize {
    known.iter().position(|k| *k == value).unwrap_or_else(|| {
        known.push(value);
        known.len() - 1
    })
}

/// A setting in a legend: words speak for themselves, numbers need their key.
fn value_name(row: &Row, key: &str) -> String {
    let text = match row.setting(key) {
        Some(setting) => spelling(setting),
        None => row.measured(key).map_or(number::MISSING.to_owned(), number::measured),
    };
    let speaks = text.starts_with(char::is_alphabetic) && text != "true" && text != "false";
    match row.setting(key) {
        Some(Setting::Text(_)) if speaks => text,
        _ => format!("{} {text}", one_line(caption::leaf(key))),
    }
}

struct Curve<'a> {
    figure: &'a Figure,
    rows: &'a [Row],
    abscissa: &'a Abscissa,
    column: &'a str,
    label: &'a str,
}

impl Curve<'_> {
    fn points(&self, members: &[usize]) -> Vec<Point> {
        let mut points: Vec<Point> = Vec::new();
        for runs in self.runs(members) {
            let of = |&i: &usize| {
                let row = &self.rows[i];
                let (x, y) = (self.x(i)?, self.y(row)?);
                let interval = caption::interval(row, self.column);
                Some(Point { x, y, interval, status: row.status, tip: self.tip(row, Some(y)) })
            };
            points.extend(together(runs.iter().filter_map(of).collect()));
        }
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        points
    }

    /// Rows that differ in nothing but the seed, together. Where x is measured, each has its own.
    fn runs(&self, members: &[usize]) -> Vec<Vec<usize>> {
        let others = |i: usize| {
            let settings = self.rows[i].settings.iter().filter(|(key, _)| key != "seed");
            settings.collect::<Vec<_>>()
        };
        let mut all: Vec<Vec<usize>> = Vec::new();
        for &i in members {
            let is_chosen = self.rows[i].setting(&self.figure.x).is_some();
            let same = |runs: &&mut Vec<usize>| is_chosen && others(runs[0]) == others(i);
            match all.iter_mut().find(same) {
                Some(runs) => runs.push(i),
                None => all.push(vec![i]),
            }
        }
        all
    }

    fn ends(&self, members: &[usize]) -> Vec<End> {
        let onward = caption::is_load(&self.figure.x);
        let mut ends: Vec<(f64, End)> = members
            .iter()
            .map(|&i| (i, &self.rows[i]))
            .filter(|(_, row)| stopped(row.status) && self.y(row).is_none())
            .filter_map(|(i, row)| {
                let x = self.x(i)?;
                // What is accepted may fall again beyond saturation: what was offered says where it
                // began.
                let place = row.measured("offered").filter(|_| onward).unwrap_or(x);
                Some((place, End { x, status: row.status, onward, tip: self.tip(row, None) }))
            })
            .collect();
        ends.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        ends.truncate(if onward { 1 } else { ends.len() });
        ends.into_iter().map(|(_, end)| end).collect()
    }

    fn x(&self, i: usize) -> Option<f64> {
        self.abscissa.values[i].filter(|&x| drawable(x, self.figure.log_x))
    }

    fn y(&self, row: &Row) -> Option<f64> {
        if stopped(row.status) && caption::is_unbounded(self.column) {
            return None;
        }
        row.measured(self.column).filter(|&y| drawable(y, self.figure.log_y))
    }

    fn tip(&self, row: &Row, y: Option<f64>) -> String {
        let mut lines = Vec::new();
        if !self.label.is_empty() {
            lines.push(self.label.to_owned());
        }
        let x = row.setting(&self.figure.x).map(spelling);
        let x =
            x.or_else(|| row.measured(&self.figure.x).map(number::measured)).unwrap_or_default();
        lines.push(format!("{} {x}", one_line(caption::leaf(&self.figure.x))));
        if let Some(y) = y {
            let value = match caption::interval(row, self.column) {
                Some((below, above)) if below == above => number::plus_minus(y, above),
                Some((below, above)) => format!(
                    "{} ({} to {})",
                    number::measured(y),
                    number::measured(y - below),
                    number::measured(y + above)
                ),
                None => number::measured(y),
            };
            let unit = crosstie_study::column(self.column).map_or("", |column| column.unit);
            lines.push(format!("{} {value} {unit}", self.column).trim_end().to_owned());
        }
        lines.push(status_words(row.status).to_owned());
        if !row.note.is_empty() {
            lines.push(one_line(&row.note));
        }
        lines.join("\n")
    }
}

/// Runs of one setting as one point: the middle one, with all of them between the ends of its
/// interval.
fn together(mut runs: Vec<Point>) -> Option<Point> {
    runs.sort_by(|a, b| a.y.total_cmp(&b.y));
    let count = runs.len();
    let (least, most) = (runs.first()?.y, runs.last()?.y);
    let mut middle = runs.swap_remove(count / 2);
    if count > 1 {
        middle.interval = Some((middle.y - least, most - middle.y));
        let (least, most) = (number::measured(least), number::measured(most));
        middle.tip += &format!("\nthe middle one of {count} runs: {least} to {most}");
    }
    Some(middle)
}

/// The status as a reader sees it.
pub(crate) fn status_words(status: Status) -> &'static str {
    match status {
        Status::Converged => "converged",
        Status::NotConverged => "not converged",
        Status::Saturated => "saturated",
        Status::Deadlocked => "deadlocked",
        Status::Completed => "completed",
        Status::Failed => "failed",
    }
}

/// Whether there is no value because the run came to no end.
fn stopped(status: Status) -> bool {
    match status {
        Status::Saturated | Status::Deadlocked | Status::Failed => true,
        Status::Converged | Status::NotConverged | Status::Completed => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::WorkKind;

    #[test]
    fn runs_that_differ_in_the_seed_alone_are_one_point() {
        let row = |(point, (load, seed, y)): (usize, (f64, f64, f64))| Row {
            profile: None,
            point: point as u32,
            kind: WorkKind::Traffic,
            settings: vec![
                ("load".to_owned(), Setting::Number(load)),
                ("seed".to_owned(), Setting::Number(seed)),
            ],
            status: Status::Completed,
            note: String::new(),
            measured: vec![("y".to_owned(), y)],
        };
        let found = [(2.0, 1.0, 7.0), (1.0, 1.0, 5.0), (1.0, 2.0, 1.0), (1.0, 3.0, 4.0)];
        let rows: Vec<Row> = found.into_iter().enumerate().map(row).collect();
        let figure = |series: &[&str]| Figure {
            name: "f".to_owned(),
            title: None,
            x: "load".to_owned(),
            y: vec!["y".to_owned()],
            series: series.iter().map(|&key| key.to_owned()).collect(),
            only: Default::default(),
            log_x: false,
            log_y: false,
            x_range: None,
            y_range: None,
        };
        let abscissa = Abscissa::of(&rows, "load");
        let [one] = &series(&figure(&[]), &rows, &abscissa)[..] else { panic!("one curve") };
        let places: Vec<_> = one.points.iter().map(|point| (point.x, point.y)).collect();
        assert_eq!(places, [(1.0, 4.0), (2.0, 7.0)]);
        assert_eq!(one.points[0].interval, Some((3.0, 1.0)));
        assert!(
            one.points[0].tip.ends_with("the middle one of 3 runs: 1 to 5"),
            "{:?}",
            one.points
        );
        assert_eq!(one.points[1].interval, None);
        // Unless seeds are what tells curves apart.
        assert_eq!(series(&figure(&["seed"]), &rows, &abscissa).len(), 3);
    }
}

//! Curves as a line of blocks.

use crosstie_study::{Figure, Row, Status};

use super::Terminal;
use crate::caption;
use crate::figure::{Abscissa, Series, series};
use crate::number;

const BLOCKS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const ASCII: [char; 8] = ['_', '.', '-', '~', '=', '+', '*', '#'];
/// A name takes at most this share of the line, as a divisor.
const NAME_SHARE: usize = 3;

pub(super) fn sparklines(terminal: &Terminal, figure: &Figure, rows: &[Row]) -> String {
    let Some(column) = figure.y.first() else { return String::new() };
    let rows = &figure.rows(rows);
    let figure = Figure { y: vec![column.clone()], ..figure.clone() };
    let abscissa = Abscissa::of(rows, &figure.x);
    let curves = series(&figure, rows, &abscissa);
    let xs = places(&curves);
    let (Some(first), Some(last)) = (xs.first(), xs.last()) else { return String::new() };
    let spelled = |x: f64| {
        let name = abscissa.names.iter().find(|(worth, _)| *worth == x);
        name.map_or_else(|| number::short(x), |(_, name)| name.clone())
    };

    let head = format!(
        "{} against {}, {} to {}",
        caption::axis(&figure.y, 48),
        caption::name(&figure.x),
        spelled(*first),
        spelled(*last)
    );
    let mut text = terminal.fitted(&head, terminal.width) + "\n";
    let names: Vec<String> = curves
        .iter()
        .map(|curve| terminal.fitted(&curve.label, terminal.width / NAME_SHARE))
        .collect();
    let name_width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let ends: Vec<String> = curves.iter().map(|curve| terminal.spell(&ends(curve))).collect();
    let end_width = ends.iter().map(|end| end.chars().count()).max().unwrap_or(0);
    let room = terminal.width.saturating_sub(name_width + end_width + 4).max(1);
    let scale = Levels::of(&curves, figure.log_y);
    for ((curve, name), end) in curves.iter().zip(&names).zip(&ends) {
        let blocks = blocks(terminal, curve, &xs, room, &scale);
        let line = format!("{name:<name_width$}  {blocks}  {end}");
        text += terminal.fitted(line.trim_end(), terminal.width).trim_start();
        text.push('\n');
    }
    text
}

/// Every x at which some curve has something to show, in ascending order.
fn places(curves: &[Series]) -> Vec<f64> {
    let points = curves.iter().flat_map(|curve| curve.points.iter().map(|point| point.x));
    let ends = curves.iter().flat_map(|curve| &curve.ends).map(|end| end.x);
    let mut xs: Vec<f64> = points.chain(ends).collect();
    xs.sort_by(f64::total_cmp);
    xs.dedup();
    xs
}

/// The least and the largest value of a curve.
fn ends(curve: &Series) -> String {
    let values = || curve.points.iter().map(|point| point.y);
    match curve.points.is_empty() {
        true => String::new(),
        false => format!(
            "{} to {}",
            number::measured(values().fold(f64::INFINITY, f64::min)),
            number::measured(values().fold(f64::NEG_INFINITY, f64::max))
        ),
    }
}

fn blocks(terminal: &Terminal, curve: &Series, xs: &[f64], room: usize, levels: &Levels) -> String {
    let (ramp, up, stop) = if terminal.unicode { (BLOCKS, '↑', '×') } else { (ASCII, '^', 'x') };
    let cells = xs.len().min(room);
    let mut line = vec![' '; cells];
    let cell_of = |x: f64| {
        let i = xs.partition_point(|&other| other < x);
        i * cells / xs.len()
    };
    let mut top = vec![f64::NEG_INFINITY; cells];
    for point in &curve.points {
        // Where several points share a cell the largest is shown: a peak must not vanish.
        let cell = cell_of(point.x);
        if point.y > top[cell] {
            top[cell] = point.y;
            line[cell] = ramp[levels.level(point.y)];
        }
    }
    for end in &curve.ends {
        let cell = cell_of(end.x);
        line[cell] = match end.status {
            Status::Deadlocked | Status::Failed => stop,
            Status::Saturated | Status::Converged | Status::NotConverged | Status::Completed => up,
        };
    }
    line.into_iter().collect()
}

/// The scale all curves of a figure share.
struct Levels {
    low: f64,
    high: f64,
    log: bool,
}

impl Levels {
    fn of(curves: &[Series], log: bool) -> Levels {
        let values = || curves.iter().flat_map(|curve| &curve.points).map(|point| point.y);
        let (low, high) =
            (values().fold(f64::INFINITY, f64::min), values().fold(f64::NEG_INFINITY, f64::max));
        Levels { low, high, log }
    }

    fn level(&self, y: f64) -> usize {
        let share = match self.log {
            true => (y / self.low).ln() / (self.high / self.low).ln(),
            false => (y - self.low) / (self.high - self.low),
        };
        // A single value has no scale: its share is not a number, and it stands at the foot.
        if share.is_nan() { 0 } else { (share * 8.0).clamp(0.0, 7.0) as usize }
    }
}

//! Figures as SVG: lines from result rows, and time lines.
//!
//! A curve is a group of rows that agree in the figure's series keys, sorted by x. Where a network
//! saturates or deadlocks there is no latency to draw: a hollow arrow (or a cross) at the top border
//! says at which x, and along a load the curve leaves there. The same input gives the same bytes.

mod abscissa;
mod curves;
mod frame;
mod legend;
mod scale;
mod series;
mod stroke;
mod text;
mod timeline;

use std::fmt::Write;

use crosstie_study::{Figure, Row, Status};

use crate::caption;
use crate::escape::{escape, one_line, shortened};
use crate::number;
pub(crate) use abscissa::{Abscissa, spelling};
use curves::Curves;
use frame::{Frame, Rect};
use legend::Legend;
use scale::Scale;
pub(crate) use series::{Series, series, status_words};
pub use timeline::{MOST_LINES, MOST_POINTS, MOST_RANKS, Timeline, Timelines, timelines};

const WIDTH: u32 = 720;
const HEIGHT: u32 = 440;
/// Room for the title.
const TOP: u32 = 44;
/// Room at the right when the legend is inside.
const RIGHT: u32 = 24;
/// Room below the axis label, and what a line of notes adds to it.
const BOTTOM: u32 = 10;
const NOTE: u32 = 20;

/// Draws a figure as a stand-alone SVG document.
pub fn draw(figure: &Figure, rows: &[Row]) -> String {
    let abscissa = Abscissa::of(rows, &figure.x);
    let series = series(figure, rows, &abscissa);
    let (x, y) = (x_scale(figure, &series, &abscissa), y_scale(figure, &series));
    let notes = notes(&series, &x, &y);
    let legend = Legend::of(&series);
    let bottom = if notes.is_empty() { BOTTOM } else { BOTTOM + NOTE };

    let x_label = caption::axis(std::slice::from_ref(&figure.x), 80);
    let y_label = caption::axis(&figure.y, 48);
    let mut frame = Frame {
        size: (WIDTH, HEIGHT),
        x: &x,
        y: &y,
        x_label: &x_label,
        y_label: &y_label,
        top: TOP,
        bottom,
        right: RIGHT,
    };
    let (mut around, mut plot) = frame.draw();
    let mut corner = None;
    if let Some(legend) = &legend {
        corner = legend.free_corner(&Curves { series: &series, x: &x, y: &y, plot });
        if corner.is_none() {
            frame.right = legend.width.ceil() as u32 + 20;
            frame.size.1 = HEIGHT.max(legend.height as u32 + TOP + bottom + 20);
            (around, plot) = frame.draw();
        }
    }

    let (width, height) = frame.size;
    let title = one_line(figure.title.as_deref().unwrap_or(&figure.name));
    let curves = number::count(series.len(), "curve");
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{around}\n",
        escape(&format!("{title}: {y_label} against {x_label}, {curves}"))
    );
    let across = (plot.left + plot.right) / 2.0;
    let bold = " text-anchor=\"middle\" font-weight=\"bold\"";
    svg += &text::element(f64::from(width) / 2.0, 26.0, text::LARGE, bold, &shortened(&title, 84));
    svg += &Curves { series: &series, x: &x, y: &y, plot }.draw();
    if series.is_empty() {
        let middle = (plot.top + plot.bottom) / 2.0;
        let centred = " text-anchor=\"middle\"";
        svg += &text::element(across, middle, text::MEDIUM, centred, "no points to draw");
    }
    if let Some(legend) = legend {
        svg += &legend.draw(corner.unwrap_or_else(|| legend.beside(plot)));
    }
    svg += &draw_notes(&notes, plot, f64::from(height));
    svg.push_str("</svg>\n");
    svg
}

fn x_scale(figure: &Figure, series: &[Series], abscissa: &Abscissa) -> Scale {
    if !abscissa.names.is_empty() {
        return Scale::named(&abscissa.names, figure.log_x, figure.x_range);
    }
    let points = series.iter().flat_map(|series| series.points.iter().map(|point| point.x));
    let ends = series.iter().flat_map(|series| &series.ends).map(|end| end.x);
    Scale::fitting(points.chain(ends), figure.log_x, figure.x_range)
}

fn y_scale(figure: &Figure, series: &[Series]) -> Scale {
    let points = || series.iter().flat_map(|series| &series.points);
    let tops = points().map(|point| point.y + point.interval.map_or(0.0, |(_, above)| above));
    let feet = points().map(|point| point.y - point.interval.map_or(0.0, |(below, _)| below));
    Scale::fitting(
        points().map(|point| point.y).chain(tops).chain(feet),
        figure.log_y,
        figure.y_range,
    )
}

/// A mark of the figure and what it means.
type Note = (fn(f64, f64) -> String, &'static str);

/// Explains the marks that are not ordinary points, where there are any.
fn notes(series: &[Series], x: &Scale, y: &Scale) -> Vec<Note> {
    let shown =
        |scale: &Scale, value| scale.place(value).is_some_and(|at| (0.0..=1.0).contains(&at));
    let ends = |status, onward| {
        let mut ends = series.iter().flat_map(|series| &series.ends);
        ends.any(|end| (end.status, end.onward) == (status, onward) && shown(x, end.x))
    };
    let unsure = series.iter().flat_map(|series| &series.points).any(|point| {
        point.status == Status::NotConverged && shown(x, point.x) && shown(y, point.y)
    });
    let mut notes: Vec<Note> = Vec::new();
    for (status, onward, mark, words) in [
        (
            Status::Saturated,
            true,
            stroke::arrow as fn(f64, f64) -> String,
            "saturated from here on",
        ),
        (Status::Saturated, false, stroke::arrow, "saturated"),
        (Status::Deadlocked, true, stroke::cross, "deadlocked from here on"),
        (Status::Deadlocked, false, stroke::cross, "deadlocked"),
        (Status::Failed, false, stroke::cross, "failed"),
    ] {
        if ends(status, onward) {
            notes.push((mark, words));
        }
    }
    if unsure {
        notes.push((|x, y| stroke::marker(0, x, y, true), "hollow: not converged"));
    }
    notes
}

fn draw_notes(notes: &[Note], plot: Rect, height: f64) -> String {
    let mut svg = String::new();
    let (mut x, y) = (plot.left + 6.0, height - 14.0);
    for (mark, words) in notes {
        let _ = writeln!(svg, "<g fill=\"#555555\" stroke=\"#555555\">{}</g>", mark(x, y));
        svg += &text::element(x + 12.0, y + 4.2, text::SMALL, " class=\"note\"", words);
        x += 12.0 + text::width(words, text::SMALL) + 28.0;
    }
    svg
}

//! Figures as SVG: lines from result rows and from traces, and time lines.
//!
//! A curve is a group of rows that agree in the figure's series keys, sorted by x. Where a network
//! saturates or deadlocks there is no latency to draw: a hollow arrow (or a cross) at the top
//! border says at which x, and along a load the curve leaves there. Over names there are bars and
//! no lines. Where something happened along x, a vertical line says what. The same input gives the
//! same bytes.

mod abscissa;
mod curves;
mod frame;
mod legend;
mod marks;
mod scale;
mod series;
mod stroke;
mod text;
mod timeline;
mod trace;

use std::fmt::Write;

use crosstie_study::{Figure, Row, Status};

use crate::caption;
use crate::escape::{escape, one_line, shortened};
use crate::number;
pub(crate) use abscissa::{Abscissa, spelling};
use curves::Curves;
use frame::{Frame, Rect};
use legend::Legend;
use marks::{Mark, Marks};
use scale::Scale;
use series::{Look, Point};
pub(crate) use series::{Series, series, status_words};
pub use timeline::{MOST_LINES, MOST_POINTS, MOST_RANKS, Timeline, Timelines, timelines};
pub use trace::{Drawing, rails};

const WIDTH: u32 = 720;
const HEIGHT: u32 = 440;
/// The widest plot, however many names there are along x.
const WIDEST: f64 = 1400.0;
/// Room for the title.
const TOP: u32 = 44;
/// Room at the right when the legend is inside.
const RIGHT: u32 = 24;
/// Room below the axis label, and what a line of notes adds to it.
const BOTTOM: u32 = 10;
const NOTE: u32 = 20;

/// Draws a figure as a stand-alone SVG document.
pub fn draw(figure: &Figure, rows: &[Row]) -> String {
    let rows = &figure.rows(rows);
    let abscissa = Abscissa::of(rows, &figure.x);
    let series = series(figure, rows, &abscissa);
    let (x, y) = (x_scale(figure, &series, &abscissa), y_scale(figure, &series));
    let notes = notes(&series, &x, &y);
    Picture {
        title: &one_line(figure.title.as_deref().unwrap_or(&figure.name)),
        x_label: &caption::axis(std::slice::from_ref(&figure.x), 80),
        y_label: &caption::axis(&figure.y, 48),
        x,
        y,
        series: &series,
        marks: &[],
        notes,
        room: if abscissa.is_categorical { room_for_names(&abscissa) } else { 0.0 },
    }
    .draw()
}

/// Curves with all that stands around them.
struct Picture<'a> {
    title: &'a str,
    x_label: &'a str,
    y_label: &'a str,
    x: Scale,
    y: Scale,
    series: &'a [Series],
    /// What happened along x.
    marks: &'a [Mark],
    notes: Vec<Note>,
    /// How wide the plot is at least, in pixels.
    room: f64,
}

/// The width of a plot in which every name along x can be read.
fn room_for_names(abscissa: &Abscissa) -> f64 {
    let names = abscissa.names.iter().map(|(_, name)| text::width(&text::cut(name), text::SMALL));
    let widest = names.fold(0.0, f64::max) + 12.0;
    (widest * abscissa.names.len() as f64).min(WIDEST)
}

impl Picture<'_> {
    /// The picture as a stand-alone SVG document.
    fn draw(&self) -> String {
        let Picture { title, x_label, y_label, x, y, series, marks, notes, room } = self;
        let legend = Legend::of(series);
        let bottom = if notes.is_empty() { BOTTOM } else { BOTTOM + NOTE };
        let size = (WIDTH, HEIGHT);
        let mut frame = Frame { size, x, y, x_label, y_label, top: TOP, bottom, right: RIGHT };
        let mut laid = lay_out(&mut frame, marks, *room);
        let mut corner = None;
        if let Some(legend) = &legend {
            corner = legend.free_corner(&Curves { series, x, y, plot: laid.plot });
            if corner.is_none() {
                frame.right = legend.width.ceil() as u32 + 20;
                laid = lay_out(&mut frame, marks, *room);
                let height = HEIGHT.max(legend.height as u32 + frame.top + bottom + 20);
                if height > frame.size.1 {
                    frame.size.1 = height;
                    laid = lay_out(&mut frame, marks, *room);
                }
            }
        }
        let LaidOut { around, plot, words } = laid;

        let (width, height) = frame.size;
        let curves = number::count(series.len(), "curve");
        let mut svg = format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{around}\n",
            escape(&format!("{title}: {y_label} against {x_label}, {curves}"))
        );
        let across = (plot.left + plot.right) / 2.0;
        let bold = " text-anchor=\"middle\" font-weight=\"bold\"";
        let middle = f64::from(width) / 2.0;
        svg += &text::element(middle, 26.0, text::LARGE, bold, &shortened(title, 84));
        svg += &words.draw(plot);
        svg += &Curves { series, x, y, plot }.draw();
        if series.is_empty() {
            let middle = (plot.top + plot.bottom) / 2.0;
            let centred = " text-anchor=\"middle\"";
            svg += &text::element(across, middle, text::MEDIUM, centred, "no points to draw");
        }
        if let Some(legend) = legend {
            svg += &legend.draw(corner.unwrap_or_else(|| legend.beside(plot)));
        }
        svg += &draw_notes(notes, plot, f64::from(height));
        svg.push_str("</svg>\n");
        svg
    }
}

/// A frame as it was drawn, and what is left for the curves.
struct LaidOut<'a> {
    around: String,
    plot: Rect,
    words: Marks<'a>,
}

/// Draws a frame with as much room above it as the words of marks take, and a plot of that width at
/// least.
fn lay_out<'a>(frame: &mut Frame<'_>, marks: &'a [Mark], room: f64) -> LaidOut<'a> {
    let (around, plot) = frame.draw();
    let words = Marks::place(marks, frame.x, plot);
    let (top, lacking) = (TOP + words.height(), (room - (plot.right - plot.left)).ceil());
    if frame.top == top && lacking <= 0.0 {
        return LaidOut { around, plot, words };
    }
    frame.top = top;
    frame.size.0 += lacking.max(0.0) as u32;
    let (around, plot) = frame.draw();
    LaidOut { around, plot, words: Marks::place(marks, frame.x, plot) }
}

fn x_scale(figure: &Figure, series: &[Series], abscissa: &Abscissa) -> Scale {
    if abscissa.is_categorical {
        // The same room for every name.
        let whole = [-0.5, abscissa.names.len() as f64 - 0.5];
        return Scale::named(&abscissa.names, false, figure.x_range.or(Some(whole)));
    }
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
    // Bars begin at zero.
    let zero = series.iter().any(|series| series.look == Look::Bars).then_some(0.0);
    Scale::fitting(
        points().map(|point| point.y).chain(tops).chain(feet).chain(zero),
        figure.log_y,
        figure.y_range,
    )
}

/// What is said below a figure: what a mark of it means, or something about all of it.
struct Note {
    mark: Option<fn(f64, f64) -> String>,
    words: String,
}

impl Note {
    /// Something about all of a figure.
    fn plain(words: String) -> Note {
        Note { mark: None, words }
    }

    fn of(mark: fn(f64, f64) -> String, words: &str) -> Note {
        Note { mark: Some(mark), words: words.to_owned() }
    }
}

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
            notes.push(Note::of(mark, words));
        }
    }
    if unsure {
        notes.push(Note::of(|x, y| stroke::marker(0, x, y, true), "hollow: not converged"));
    }
    notes
}

fn draw_notes(notes: &[Note], plot: Rect, height: f64) -> String {
    let mut svg = String::new();
    let (mut x, y) = (plot.left + 6.0, height - 14.0);
    for Note { mark, words } in notes {
        if let Some(mark) = mark {
            let _ = writeln!(svg, "<g fill=\"#555555\" stroke=\"#555555\">{}</g>", mark(x, y));
            x += 12.0;
        }
        svg += &text::element(x, y + 4.2, text::SMALL, " class=\"note\"", words);
        x += text::width(words, text::SMALL) + 28.0;
    }
    svg
}

//! The legend: in a corner that the curves leave free, else beside the plot.

use std::fmt::Write;

use super::curves::Curves;
use super::frame::Rect;
use super::series::{Look, Series};
use super::{stroke, text};

/// Height of an entry.
const LINE: f64 = 18.0;
/// Room inside the legend's border.
const PADDING: f64 = 8.0;
/// Length of the piece of curve in front of a name.
const SAMPLE: f64 = 28.0;
/// Distance between the legend and the frame.
const GAP: f64 = 10.0;
/// A legend in a corner may take at most this share of the plot.
const LARGEST_SHARE: f64 = 0.25;

/// The names of the curves.
pub(crate) struct Legend<'a> {
    series: &'a [Series],
    /// Its size in pixels.
    pub width: f64,
    /// Its size in pixels.
    pub height: f64,
}

impl<'a> Legend<'a> {
    /// The legend of several curves; one curve needs none unless it has a name.
    pub fn of(series: &'a [Series]) -> Option<Legend<'a>> {
        if series.iter().all(|series| series.label.is_empty()) {
            return None;
        }
        let names = series.iter().map(|series| text::width(&text::cut(&series.label), text::SMALL));
        let width = 2.0 * PADDING + SAMPLE + 8.0 + names.fold(0.0, f64::max);
        let height = 2.0 * PADDING + LINE * series.len() as f64;
        Some(Legend { series, width, height })
    }

    /// A corner of the plot where it hides nothing.
    pub fn free_corner(&self, curves: &Curves) -> Option<Rect> {
        let plot = curves.plot;
        let area = (plot.right - plot.left) * (plot.bottom - plot.top);
        if self.width * self.height > LARGEST_SHARE * area {
            return None;
        }
        let (left, right) = (plot.left + GAP, plot.right - GAP - self.width);
        let (top, bottom) = (plot.top + GAP, plot.bottom - GAP - self.height);
        let corners = [(left, top), (right, top), (right, bottom), (left, bottom)];
        let rects = corners.map(|(left, top)| Rect {
            left,
            top,
            right: left + self.width,
            bottom: top + self.height,
        });
        rects.into_iter().find(|rect| {
            let Rect { left, top, right, bottom } = *rect;
            let roomy =
                Rect { left: left - 8.0, top: top - 8.0, right: right + 8.0, bottom: bottom + 8.0 };
            curves.leave_free(roomy)
        })
    }

    /// The place to the right of a plot.
    pub fn beside(&self, plot: Rect) -> Rect {
        let left = plot.right + GAP;
        Rect { left, top: plot.top, right: left + self.width, bottom: plot.top + self.height }
    }

    /// The legend as SVG elements.
    pub fn draw(&self, at: Rect) -> String {
        let mut svg = String::from("<g class=\"legend\">\n");
        let _ = writeln!(
            svg,
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"3\" \
             fill=\"#FFFFFF\" fill-opacity=\"0.92\" stroke=\"#D5D5D5\"/>",
            at.left, at.top, self.width, self.height
        );
        for (i, series) in self.series.iter().enumerate() {
            let (x, y) = (at.left + PADDING, at.top + PADDING + LINE * (i as f64 + 0.5));
            let colour = stroke::colour(series.colour);
            let marker = || stroke::marker(i, x + SAMPLE / 2.0, y, false);
            let dash = stroke::dash(series.dash, series.colour);
            let width = series.look.width();
            let line =
                || format!("<path d=\"M{x:.1} {y:.1}h{SAMPLE}\" stroke-width=\"{width}\"{dash}/>");
            let sample = match series.look {
                Look::Marked => line() + &marker(),
                Look::Dots => marker(),
                Look::Bars => {
                    stroke::bar((x + 6.0, y - 6.0, x + SAMPLE - 6.0, y + 6.0), series.dash, false)
                }
                Look::Plain(_) | Look::Thin => line(),
            };
            let _ = writeln!(svg, "<g fill=\"{colour}\" stroke=\"{colour}\">{sample}</g>");
            let name = text::cut(&series.label);
            svg.push_str(&text::element(x + SAMPLE + 8.0, y + 4.2, text::SMALL, "", &name));
        }
        svg.push_str("</g>\n");
        svg
    }
}

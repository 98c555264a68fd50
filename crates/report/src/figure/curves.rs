//! The curves: lines, confidence intervals, markers, and the places where a curve ends.

use std::fmt::Write;

use crosstie_study::Status;

use super::frame::Rect;
use super::scale::Scale;
use super::series::{End, Look, Point, Series};
use super::stroke;
use crate::escape::escape;

/// Half the width of the bar that closes a confidence interval.
const CAP: f64 = 3.0;
/// Distance kept between marks at the border that would hide each other.
const APART: f64 = 12.0;
/// How far outside the frame a place may lie, in sizes of the frame: keeps slopes, not digits.
const BEYOND: f64 = 50.0;
/// How far around a point it can be pointed at, with a marker and without.
const REACH: [f64; 2] = [9.0, 5.0];
/// The share of the room of a name along x that its bars take, and the widest bar in pixels.
const BARS: (f64, f64) = (0.8, 56.0);
/// Points of lines beyond this number cannot be pointed at: the page would be slow.
const MOST_POINTED: usize = 3000;

/// Curves and where they are to be drawn.
pub(crate) struct Curves<'a> {
    pub series: &'a [Series],
    pub x: &'a Scale,
    pub y: &'a Scale,
    pub plot: Rect,
}

impl Curves<'_> {
    /// All curves as SVG elements, first lines, then markers, so that no line hides a marker.
    pub fn draw(&self) -> String {
        let mut svg = String::new();
        let Rect { left, top, right, bottom } = self.plot;
        let (width, height) = (right - left, bottom - top);
        // A nested document clips its content without an identifier that could clash on a page.
        let _ = writeln!(
            svg,
            "<svg class=\"lines\" x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"{left} {top} {width} {height}\" fill=\"none\" stroke-width=\"2\" \
             stroke-linejoin=\"round\">"
        );
        let mut lines: Vec<&Series> = self.series.iter().collect();
        lines.sort_by_key(|series| std::cmp::Reverse(series.look));
        for series in lines {
            self.line(&mut svg, series);
        }
        svg.push_str("</svg>\n");
        let mut taken: Vec<(f64, f64)> = Vec::new();
        let is_plain = |series: &&Series| matches!(series.look, Look::Plain(_) | Look::Thin);
        let plain = self.series.iter().filter(is_plain);
        let crowded = plain.map(|series| series.points.len()).sum::<usize>() > MOST_POINTED;
        for (i, series) in self.series.iter().enumerate() {
            let colour = stroke::colour(series.colour);
            let _ = writeln!(svg, "<g class=\"series\" fill=\"{colour}\" stroke=\"{colour}\">");
            for point in &series.points {
                match series.look {
                    Look::Marked | Look::Dots => self.point(&mut svg, i, point),
                    Look::Bars => self.bar(&mut svg, i, point),
                    Look::Plain(_) if !crowded => self.place_to_point_at(&mut svg, point),
                    Look::Plain(_) | Look::Thin => {}
                }
            }
            for end in &series.ends {
                self.end(&mut svg, i, end, &mut taken);
            }
            svg.push_str("</g>\n");
        }
        svg
    }

    /// Whether nothing is drawn inside a rectangle.
    pub fn leave_free(&self, rect: Rect) -> bool {
        self.series.iter().enumerate().all(|(i, series)| {
            let places: Vec<_> =
                series.points.iter().filter_map(|p| self.place_of(i, p.x, p.y)).collect();
            let ends = series.ends.iter().filter_map(|end| self.exit_of(i, end));
            if let Look::Bars | Look::Dots = series.look {
                let foot = self.foot(series.look);
                let bars = places.into_iter().map(|(x, y)| ((x, foot.unwrap_or(y)), (x, y)));
                return !bars.chain(ends.map(|end| (end, end))).any(|(a, b)| rect.meets(a, b));
            }
            let alone = places.iter().copied().chain(ends).map(|place| (place, place));
            let lines = places.windows(2).map(|pair| (pair[0], pair[1]));
            let exit = places.last().copied().zip(self.exit_onward(series));
            !alone.chain(lines).chain(exit).any(|(a, b)| rect.meets(a, b))
        })
    }

    fn line(&self, svg: &mut String, series: &Series) {
        if let Look::Bars | Look::Dots = series.look {
            return;
        }
        let places: Vec<_> = series.points.iter().filter_map(|p| self.place(p.x, p.y)).collect();
        let colour = stroke::colour(series.colour);
        if places.len() > 1 {
            let mut path = String::new();
            for (i, (x, y)) in places.iter().enumerate() {
                let _ = write!(path, "{}{x:.2} {y:.2}", if i == 0 { 'M' } else { 'L' });
            }
            let dash = stroke::dash(series.dash, series.colour);
            let width = match series.look {
                // As all lines here, unless they say otherwise.
                Look::Marked => String::new(),
                look => format!(" stroke-width=\"{}\"", look.width()),
            };
            let _ = writeln!(svg, "<path d=\"{path}\" stroke=\"{colour}\"{width}{dash}/>");
        }
        if let (Some((x1, y1)), Some((x2, y2))) = (places.last(), self.exit_onward(series)) {
            let _ = writeln!(
                svg,
                "<path class=\"exit\" d=\"M{x1:.2} {y1:.2}L{x2:.2} {y2:.2}\" stroke=\"{colour}\" \
                 stroke-width=\"1.2\" stroke-dasharray=\"1 4\" stroke-linecap=\"round\"/>"
            );
        }
    }

    fn point(&self, svg: &mut String, i: usize, point: &Point) {
        let place = self.place_of(i, point.x, point.y).filter(|&place| self.inside(place));
        let Some((x, y)) = place else { return };
        self.interval(svg, x, point);
        let marker = stroke::marker(i, x, y, point.status == Status::NotConverged);
        mark(svg, "point", x, y, &marker, &point.tip);
    }

    /// A bar from zero to a value, as far as it is inside.
    fn bar(&self, svg: &mut String, i: usize, point: &Point) {
        let Rect { left, top, right, bottom } = self.plot;
        let (Some((x, y)), Some(foot)) =
            (self.place_of(i, point.x, point.y), self.foot(self.series[i].look))
        else {
            return;
        };
        let half = self.bar_width() / 2.0;
        let (l, r) = ((x - half).max(left), (x + half).min(right));
        let (t, b) = (y.min(foot).max(top), y.max(foot).min(bottom));
        if r <= l || t > b {
            return;
        }
        let dash = self.series[i].dash;
        let bar = stroke::bar((l, t, r, b), dash, point.status == Status::NotConverged);
        let tip = escape(&point.tip);
        let _ = writeln!(svg, "<g class=\"point\"><title>{tip}</title>{bar}</g>");
        self.interval(svg, x, point);
    }

    /// The confidence interval of a point.
    fn interval(&self, svg: &mut String, x: f64, point: &Point) {
        if let Some((below, above)) = point.interval {
            let height = |value: f64| {
                let place = self.place(point.x, value).map_or(self.plot.bottom, |(_, y)| y);
                place.clamp(self.plot.top, self.plot.bottom)
            };
            let (low, high) = (height(point.y - below), height(point.y + above));
            // An interval that the marker hides is left out.
            if low - high > 2.0 * CAP {
                let (l, r) = (x - CAP, x + CAP);
                let _ = writeln!(
                    svg,
                    "<path class=\"interval\" stroke-width=\"1.2\" d=\"M{x:.2} {low:.2}V{high:.2}\
                     M{l:.2} {low:.2}H{r:.2}M{l:.2} {high:.2}H{r:.2}\"/>"
                );
            }
        }
    }

    /// Where bars begin; nothing for other curves.
    fn foot(&self, look: Look) -> Option<f64> {
        let (top, bottom) = (self.plot.top, self.plot.bottom);
        let up = self.y.place(0.0).filter(|_| look == Look::Bars)?;
        Some((bottom - up * (bottom - top)).clamp(top, bottom))
    }

    /// How wide a bar is, in pixels.
    fn bar_width(&self) -> f64 {
        let names = match (self.x.place(0.0), self.x.place(1.0)) {
            (Some(first), Some(second)) => (second - first) * (self.plot.right - self.plot.left),
            _ => 0.0,
        };
        (names * BARS.0 / self.series.len().max(1) as f64).min(BARS.1)
    }

    /// How far a curve stands beside the others over a name, in pixels.
    fn aside(&self, i: usize) -> f64 {
        match self.series[i].look {
            Look::Bars | Look::Dots => {
                (i as f64 - (self.series.len() - 1) as f64 / 2.0) * self.bar_width()
            }
            Look::Marked | Look::Plain(_) | Look::Thin => 0.0,
        }
    }

    /// The place of a value of a curve.
    fn place_of(&self, i: usize, x: f64, y: f64) -> Option<(f64, f64)> {
        self.place(x, y).map(|(x, y)| (x + self.aside(i), y))
    }

    /// Where a curve has no value.
    fn exit_of(&self, i: usize, end: &End) -> Option<(f64, f64)> {
        self.exit(end).map(|(x, y)| (x + self.aside(i), y))
    }

    /// A point of a line, which shows its value only to who points at it.
    fn place_to_point_at(&self, svg: &mut String, point: &Point) {
        let place = self.place(point.x, point.y).filter(|&place| self.inside(place));
        if let Some((x, y)) = place {
            reach(svg, "point", x, y, REACH[1], "", &point.tip);
        }
    }

    fn end(&self, svg: &mut String, i: usize, end: &End, taken: &mut Vec<(f64, f64)>) {
        let Some((mut x, mut y)) = self.exit_of(i, end).filter(|&place| self.inside(place)) else {
            return;
        };
        // Curves that end at the same place stand beside each other, not on top; where the place is
        // all that the mark says, below each other.
        let aside = if x + APART * 3.0 > self.plot.right { -APART } else { APART };
        let (across, down) = if end.onward { (aside, 0.0) } else { (0.0, APART) };
        let near = |a: f64, b: f64| (a - b).abs() < APART - 1.0;
        while taken.iter().any(|&(other_x, other_y)| near(other_x, x) && near(other_y, y)) {
            (x, y) = (x + across, y + down);
        }
        taken.push((x, y));
        let marker = match end.status {
            Status::Deadlocked | Status::Failed => stroke::cross(x, y),
            Status::Saturated | Status::Converged | Status::NotConverged | Status::Completed => {
                stroke::arrow(x, y)
            }
        };
        mark(svg, "point end", x, y, &marker, &end.tip);
    }

    /// Where a curve leaves for good.
    fn exit_onward(&self, series: &Series) -> Option<(f64, f64)> {
        series.ends.iter().find(|end| end.onward).and_then(|end| self.exit(end))
    }

    /// Where a curve without a value leaves through the top.
    fn exit(&self, end: &End) -> Option<(f64, f64)> {
        let across = self.x.place(end.x)?.clamp(-BEYOND, BEYOND);
        Some((self.plot.left + across * (self.plot.right - self.plot.left), self.plot.top))
    }

    fn place(&self, x: f64, y: f64) -> Option<(f64, f64)> {
        let across = self.x.place(x)?.clamp(-BEYOND, BEYOND);
        let up = self.y.place(y)?.clamp(-BEYOND, BEYOND);
        let Rect { left, top, right, bottom } = self.plot;
        Some((left + across * (right - left), bottom - up * (bottom - top)))
    }

    fn inside(&self, (x, y): (f64, f64)) -> bool {
        let Rect { left, top, right, bottom } = self.plot;
        (left - 0.5..=right + 0.5).contains(&x) && (top - 0.5..=bottom + 0.5).contains(&y)
    }
}

/// A marker with the text that is shown when the reader points at it, and an area to point at.
fn mark(svg: &mut String, class: &str, x: f64, y: f64, marker: &str, tip: &str) {
    reach(svg, class, x, y, REACH[0], marker, tip);
}

fn reach(svg: &mut String, class: &str, x: f64, y: f64, radius: f64, marker: &str, tip: &str) {
    let _ = writeln!(
        svg,
        "<g class=\"{class}\"><title>{}</title>{marker}<circle class=\"reach\" cx=\"{x:.2}\" \
         cy=\"{y:.2}\" r=\"{radius}\" fill=\"#FFFFFF\" fill-opacity=\"0\" stroke=\"none\"/></g>",
        escape(tip)
    );
}

//! The frame of a figure: axes, grid and labels, drawn by plotters.
//!
//! Plotters works in whole pixels and gives its elements no identity, so the curves are written
//! apart (see [`super::curves`]): at full precision, and with the values a reader can point at.
//! Both axes reach plotters as 0..1 because [`Scale`] has already placed the ticks.

use std::ops::Range;

use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::*;

use super::scale::{Scale, Tick};
use super::text;

/// A rectangle in pixels.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Rect {
    pub left: f64,
    pub top: f64,
    pub right: f64,
    pub bottom: f64,
}

impl Rect {
    /// Whether the straight line between two places touches the rectangle.
    pub fn meets(&self, a: (f64, f64), b: (f64, f64)) -> bool {
        // The part of the line, as a share of its length, that lies between two parallels.
        let between = |from: f64, to: f64, low: f64, high: f64| {
            if from == to {
                return (low..=high).contains(&from).then_some((0.0, 1.0));
            }
            let (s, t) = ((low - from) / (to - from), (high - from) / (to - from));
            Some((s.min(t), s.max(t)))
        };
        let Some((s1, t1)) = between(a.0, b.0, self.left, self.right) else { return false };
        let Some((s2, t2)) = between(a.1, b.1, self.top, self.bottom) else { return false };
        s1.max(s2).max(0.0) <= t1.min(t2).min(1.0)
    }
}

/// What surrounds the curves.
pub(crate) struct Frame<'a> {
    pub size: (u32, u32),
    pub x: &'a Scale,
    pub y: &'a Scale,
    pub x_label: &'a str,
    pub y_label: &'a str,
    /// Room above and below the plot, and to its right, in pixels.
    pub top: u32,
    pub bottom: u32,
    pub right: u32,
}

/// Plotters writes a font of this size where 1 pixel is meant.
const POINTS: f64 = 1.24;
const INK: RGBColor = RGBColor(0x22, 0x22, 0x22);
const GRID: RGBColor = RGBColor(0xE4, 0xE4, 0xE4);
const AXIS: RGBColor = RGBColor(0x88, 0x88, 0x88);

impl Frame<'_> {
    /// The elements of the frame as SVG, and the rectangle that is left for the curves.
    pub fn draw(&self) -> (String, Rect) {
        let mut svg = String::new();
        let plot = self
            .draw_into(&mut svg)
            .expect("drawing into a string performs no IO and so cannot fail");
        // Only the elements are wanted: the document around them is the figure's own.
        let inside = svg.find('>').map_or("", |open| &svg[open + 1..]);
        let inside = inside.trim_end().trim_end_matches("</svg>").trim();
        let group = "<g class=\"frame\" shape-rendering=\"crispEdges\">";
        (format!("{group}\n{inside}\n</g>"), plot)
    }

    fn draw_into(&self, svg: &mut String) -> Result<Rect, DrawingAreaErrorKind<std::io::Error>> {
        let root = SVGBackend::with_string(svg, self.size).into_drawing_area();
        root.fill(&WHITE)?;
        let widest = self.y.ticks.iter().map(|tick| text::width(&tick.label, text::SMALL));
        let widest = widest.fold(20.0, f64::max);
        let room = f64::from(self.size.0) - widest - f64::from(self.right);
        let mut chart = ChartBuilder::on(&root)
            .margin_top(self.top)
            .margin_left(8)
            .margin_right(self.right)
            .margin_bottom(self.bottom)
            .x_label_area_size(46)
            .y_label_area_size(widest as u32 + 34)
            .build_cartesian_2d(Ticks(thinned(self.x, room)), Ticks(self.y.ticks.clone()))?;
        let font = |size: f64| (text::FAMILY, size * POINTS).into_font().color(&INK);
        chart
            .configure_mesh()
            .max_light_lines(0)
            .bold_line_style(GRID)
            .axis_style(AXIS)
            .label_style(font(text::SMALL))
            .axis_desc_style(font(text::MEDIUM))
            .x_desc(self.x_label)
            .y_desc(self.y_label)
            .draw()?;
        let (x, y) = chart.plotting_area().get_pixel_range();
        root.present()?;
        Ok(Rect {
            left: f64::from(x.start),
            top: f64::from(y.start),
            right: f64::from(x.end),
            bottom: f64::from(y.end),
        })
    }
}

/// The ticks of an axis as plotters asks for them.
struct Ticks(Vec<Tick>);

impl Ranged for Ticks {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, at: &f64, (low, high): (i32, i32)) -> i32 {
        low + (f64::from(high - low) * at).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.0.iter().map(|tick| tick.at).collect()
    }

    fn range(&self) -> Range<f64> {
        0.0..1.0
    }
}

impl ValueFormatter<f64> for Ticks {
    fn format_ext(&self, at: &f64) -> String {
        let tick = self.0.iter().find(|tick| tick.at == *at);
        tick.map_or(String::new(), |tick| text::cut(&tick.label))
    }
}

/// Every n-th tick, so that the labels do not run into each other, however close some of them
/// stand.
fn thinned(scale: &Scale, room: f64) -> Vec<Tick> {
    let half = |tick: &Tick| text::width(&text::cut(&tick.label), text::SMALL) / 2.0;
    let apart = |pair: &[&Tick]| {
        let distance = (pair[1].at - pair[0].at).abs() * room;
        half(pair[0]) + half(pair[1]) + 10.0 <= distance
    };
    let every = |stride: usize| scale.ticks.iter().step_by(stride).collect::<Vec<_>>();
    let strides = 1..scale.ticks.len().max(1);
    let stride = strides.into_iter().find(|&stride| every(stride).windows(2).all(apart));
    every(stride.unwrap_or(scale.ticks.len().max(1))).into_iter().cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_that_stand_close_together_are_thinned() {
        let names: Vec<(f64, String)> = ["4 B", "64 B", "1 KiB", "512 KiB", "1 MiB"]
            .iter()
            .zip([4.0, 64.0, 1024.0, 524_288.0, 1_048_576.0])
            .map(|(name, at)| (at, (*name).to_owned()))
            .collect();
        let labels = |room: f64| {
            let scale = Scale::named(&names, true, None);
            let thin = thinned(&scale, room).into_iter().map(|tick| tick.label);
            thin.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(labels(2000.0), "4 B 64 B 1 KiB 512 KiB 1 MiB");
        // The last two would touch each other.
        assert_eq!(labels(600.0), "4 B 1 KiB 1 MiB");
        assert_eq!(labels(1.0), "4 B");
    }

    #[test]
    fn a_rectangle_knows_which_lines_touch_it() {
        let rect = Rect { left: 10.0, top: 10.0, right: 20.0, bottom: 20.0 };
        assert!(rect.meets((0.0, 0.0), (30.0, 30.0)));
        assert!(rect.meets((15.0, 15.0), (15.0, 15.0)));
        assert!(!rect.meets((0.0, 0.0), (30.0, 5.0)));
        assert!(!rect.meets((0.0, 25.0), (5.0, 30.0)));
    }
}

//! What happened along x: a vertical line each, and its words above the plot where there is room.

use std::fmt::Write;

use super::frame::Rect;
use super::scale::Scale;
use super::text;
use crate::escape::escape;

/// Height of a row of words.
const ROW: f64 = 15.0;
/// Rows of words at most; what finds no room in them is told to who points at its line.
const ROWS: usize = 3;
/// Distance between a line and its words, and between words.
const GAP: f64 = 4.0;

/// Something that happened at a place along x.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Mark {
    pub x: f64,
    /// What, in a few words.
    pub words: String,
    /// What is shown when the reader points at it; lines of plain text.
    pub tip: String,
}

/// Marks with the places of their words.
pub(crate) struct Marks<'a> {
    placed: Vec<Placed<'a>>,
}

struct Placed<'a> {
    mark: &'a Mark,
    x: f64,
    words: Option<Words>,
}

/// Where the words of a mark stand.
#[derive(Clone, Copy)]
struct Words {
    /// From the plot upwards.
    row: usize,
    from: f64,
    to: f64,
}

impl Words {
    /// Whether the line at `x` of words in a row goes through these.
    fn cut_by(&self, x: f64, row: usize) -> bool {
        self.row <= row && (self.from..self.to).contains(&x) && self.from != x
    }

    fn meet(&self, other: &Words) -> bool {
        self.row == other.row && self.from < other.to && other.from < self.to
    }
}

impl<'a> Marks<'a> {
    /// Finds places for words beside their lines.
    pub fn place(marks: &'a [Mark], scale: &Scale, plot: Rect) -> Marks<'a> {
        let mut inside: Vec<(f64, &Mark)> = marks
            .iter()
            .filter_map(|mark| Some((scale.place(mark.x)?, mark)))
            .filter(|(at, _)| (0.0..=1.0).contains(at))
            .map(|(at, mark)| (plot.left + at * (plot.right - plot.left), mark))
            .collect();
        // From right to left: words stand right of their line, so that earlier ones rise above
        // later ones.
        inside.sort_by(|(a, _), (b, _)| b.total_cmp(a));
        let mut placed: Vec<Placed<'a>> = Vec::with_capacity(inside.len());
        for (x, mark) in inside {
            let width = text::width(&text::cut(&mark.words), text::SMALL) + 2.0 * GAP;
            let (from, to) = if x + width > plot.right { (x - width, x) } else { (x, x + width) };
            let words = (0..ROWS).map(|row| Words { row, from, to }).find(|words| {
                placed.iter().all(|other| match &other.words {
                    Some(theirs) => {
                        !theirs.meet(words)
                            && !theirs.cut_by(x, words.row)
                            && !words.cut_by(other.x, theirs.row)
                    }
                    None => true,
                })
            });
            placed.push(Placed { mark, x, words });
        }
        placed.reverse();
        Marks { placed }
    }

    /// The room that words take above the plot, in pixels.
    pub fn height(&self) -> u32 {
        let rows = self.placed.iter().filter_map(|placed| placed.words).map(|words| words.row + 1);
        (ROW * rows.max().unwrap_or(0) as f64) as u32
    }

    /// The marks as SVG elements.
    pub fn draw(&self, plot: Rect) -> String {
        let mut svg = String::new();
        if self.placed.is_empty() {
            return svg;
        }
        svg.push_str("<g class=\"marks\" fill=\"none\" stroke=\"#555555\">\n");
        for Placed { mark, x, words } in &self.placed {
            let top = plot.top - words.map_or(0.0, |words| ROW * (words.row as f64 + 1.0) - 3.0);
            let _ = writeln!(
                svg,
                "<path class=\"point\" stroke-dasharray=\"4 3\" d=\"M{x:.2} {top:.2}V{:.2}\">\
                 <title>{}</title></path>",
                plot.bottom,
                escape(&mark.tip)
            );
        }
        svg.push_str("</g>\n");
        for Placed { mark, x, words } in &self.placed {
            let Some(words) = words else { continue };
            let y = plot.top - ROW * words.row as f64 - 4.0;
            let (x, more) = match words.from < *x {
                true => (x - GAP, " class=\"mark\" text-anchor=\"end\""),
                false => (x + GAP, " class=\"mark\""),
            };
            svg += &text::element(x, y, text::SMALL, more, &text::cut(&mark.words));
        }
        svg
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLOT: Rect = Rect { left: 0.0, top: 100.0, right: 600.0, bottom: 400.0 };

    fn rows(places: &[f64]) -> Vec<Option<usize>> {
        let marks: Vec<Mark> = places
            .iter()
            .map(|&x| Mark { x, words: "down".to_owned(), tip: String::new() })
            .collect();
        let scale = Scale::fitting([0.0, 10.0].into_iter(), false, None);
        let marks = Marks::place(&marks, &scale, PLOT);
        marks.placed.iter().map(|placed| placed.words.map(|words| words.row)).collect()
    }

    #[test]
    fn words_that_would_meet_stand_above_each_other() {
        assert_eq!(rows(&[1.0, 5.0]), [Some(0), Some(0)]);
        assert_eq!(rows(&[1.0, 4.0, 4.1, 9.0]), [Some(0), Some(1), Some(0), Some(0)]);
        let crowd = [4.0, 4.01, 4.02, 4.03, 4.04];
        assert_eq!(rows(&crowd), [None, None, Some(2), Some(1), Some(0)]);
    }

    #[test]
    fn words_stay_inside_and_lines_outside_are_left_out() {
        assert_eq!(
            rows(&[-1.0, 9.99, 10.0, 11.0]),
            [None, Some(0)],
            "the second is left of its line"
        );
        assert!(rows(&[f64::NAN, f64::INFINITY]).is_empty());
    }
}

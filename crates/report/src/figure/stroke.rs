//! Colours, markers and dashes: how curves are told apart, in print and by colour-blind readers.

use std::fmt::Write;

/// The palette of Okabe and Ito without its yellow, which vanishes on white.
const COLOURS: [&str; 8] =
    ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222", "#7F7F7F"];

/// Dash arrays in the order they are given out; the first is a solid line.
const DASHES: [&str; 4] = ["", "7 4", "2 3", "9 3 2 3"];

/// How solid bars of one colour are, in the order they are given out.
const SOLID: [f64; 4] = [1.0, 0.5, 0.25, 0.1];

/// Corners of the markers in units of their radius, chosen to look equally large.
const MARKERS: [&[(f64, f64)]; 7] = [
    &[(-0.9, -0.9), (0.9, -0.9), (0.9, 0.9), (-0.9, 0.9)],
    &[(0.0, -1.25), (1.25, 0.0), (0.0, 1.25), (-1.25, 0.0)],
    &[(-1.15, -0.8), (1.15, -0.8), (0.0, 1.2)],
    &[(0.0, -1.2), (1.15, 0.8), (-1.15, 0.8)],
    &[
        (-0.4, -1.2),
        (0.4, -1.2),
        (0.4, -0.4),
        (1.2, -0.4),
        (1.2, 0.4),
        (0.4, 0.4),
        (0.4, 1.2),
        (-0.4, 1.2),
        (-0.4, 0.4),
        (-1.2, 0.4),
        (-1.2, -0.4),
        (-0.4, -0.4),
    ],
    &[(0.0, -1.15), (1.1, -0.35), (0.68, 0.95), (-0.68, 0.95), (-1.1, -0.35)],
    &[(-1.1, -0.9), (1.1, -0.9), (-1.1, 0.9), (1.1, 0.9)],
];

/// Radius of a marker in pixels.
const RADIUS: f64 = 4.0;

/// The colour of that number.
pub(crate) fn colour(i: usize) -> &'static str {
    COLOURS[i % COLOURS.len()]
}

/// The attribute that dashes a line, with a leading space; empty for a solid line. Where the
/// colours have run out and begin again, the dash moves on.
pub(crate) fn dash(i: usize, colour: usize) -> String {
    match DASHES[(i + colour / COLOURS.len()) % DASHES.len()] {
        "" => String::new(),
        array => format!(" stroke-dasharray=\"{array}\""),
    }
}

/// A marker of that number at a place; hollow ones are for points to be read with care.
pub(crate) fn marker(i: usize, x: f64, y: f64, hollow: bool) -> String {
    let fill = if hollow { " fill=\"#FFFFFF\" stroke-width=\"1.5\"" } else { "" };
    match i % (MARKERS.len() + 1) {
        0 => format!("<circle cx=\"{x:.2}\" cy=\"{y:.2}\" r=\"{RADIUS}\"{fill}/>"),
        k => format!("<path d=\"{}\"{fill}/>", outline(MARKERS[k - 1], x, y)),
    }
}

/// A bar between left, top, right and bottom. Those that share a colour are told apart by how solid
/// they are.
pub(crate) fn bar((l, t, r, b): (f64, f64, f64, f64), dash: usize, hollow: bool) -> String {
    let solid = SOLID[dash % SOLID.len()];
    let fill = match hollow {
        true => " fill=\"#FFFFFF\" stroke-width=\"1.5\"".to_owned(),
        false if solid < 1.0 => format!(" fill-opacity=\"{solid}\" stroke-width=\"1\""),
        false => " stroke=\"none\"".to_owned(),
    };
    // A hair of room between neighbours.
    let (width, height) = ((r - l - 1.0).max(0.5), b - t);
    format!(
        "<rect x=\"{:.2}\" y=\"{t:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"{fill}/>",
        l + 0.5
    )
}

/// A hollow arrow head: the curve leaves the figure here.
pub(crate) fn arrow(x: f64, y: f64) -> String {
    let head = outline(&[(0.0, -1.6), (1.3, 0.6), (-1.3, 0.6)], x, y);
    format!("<path d=\"{head}\" fill=\"#FFFFFF\" stroke-width=\"1.5\"/>")
}

/// A cross: the network stopped here.
pub(crate) fn cross(x: f64, y: f64) -> String {
    let (l, r, t, b) = (x - RADIUS, x + RADIUS, y - RADIUS, y + RADIUS);
    let path = format!("M{l:.2} {t:.2}L{r:.2} {b:.2}M{r:.2} {t:.2}L{l:.2} {b:.2}");
    format!("<path d=\"{path}\" fill=\"none\" stroke-width=\"2\"/>")
}

fn outline(corners: &[(f64, f64)], x: f64, y: f64) -> String {
    let mut path = String::new();
    for (i, (dx, dy)) in corners.iter().enumerate() {
        let command = if i == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{:.2} {:.2}", x + dx * RADIUS, y + dy * RADIUS);
    }
    path.push('Z');
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_colour_that_returns_comes_with_another_dash() {
        assert_eq!(colour(1), colour(9));
        assert_ne!(dash(0, 1), dash(0, 9));
    }

    #[test]
    fn a_dark_page_has_a_tone_for_every_colour_that_needs_one() {
        let style = include_str!("../page/style.css");
        // Two of them are bright enough as they are.
        for colour in COLOURS.iter().filter(|colour| !["#E69F00", "#56B4E9"].contains(colour)) {
            assert!(style.contains(&format!("figure [fill=\"{colour}\"]")), "{colour}");
            assert!(style.contains(&format!("figure [stroke=\"{colour}\"]")), "{colour}");
        }
    }

    #[test]
    fn the_first_eight_curves_differ_in_colour_and_in_marker() {
        for i in 0..8 {
            for j in 0..i {
                assert_ne!(colour(i), colour(j));
                assert_ne!(marker(i, 0.0, 0.0, false), marker(j, 0.0, 0.0, false));
            }
        }
    }
}

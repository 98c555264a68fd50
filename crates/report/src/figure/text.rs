//! Lettering of figures: sizes, family, and how much room a text takes.

use crate::escape::{escape, one_line, shortened};

/// Fonts in the order they are tried.
pub(crate) const FAMILY: &str = "Helvetica, Arial, Liberation Sans, DejaVu Sans, sans-serif";
/// Font size of ticks, legends and notes, in pixels.
pub(crate) const SMALL: f64 = 12.0;
/// Font size of axis labels.
pub(crate) const MEDIUM: f64 = 13.0;
/// Font size of titles.
pub(crate) const LARGE: f64 = 15.0;
/// Longest label drawn, in characters.
const LONGEST: usize = 40;

/// How wide a text is at most, in pixels: as wide as the widest of the fonts that are tried has it.
pub(crate) fn width(text: &str, size: f64) -> f64 {
    let ems = text.chars().map(|c| match c {
        'i' | 'j' | 'l' | 't' | 'f' | 'r' | '.' | ',' | ' ' | '(' | ')' | '[' | ']' | '/' | '·'
        | '-' | ':' => 0.42,
        'm' | 'w' | 'M' | 'W' | '%' | '=' | '+' | '<' | '>' => 0.98,
        c if c.is_ascii_uppercase() => 0.78,
        c if c.is_ascii() => 0.64,
        _ => 1.0,
    });
    ems.sum::<f64>() * size
}

/// A label no longer than the figure can bear.
pub(crate) fn cut(text: &str) -> String {
    shortened(text, LONGEST)
}

/// A text element; `more` holds further attributes.
pub(crate) fn element(x: f64, y: f64, size: f64, more: &str, text: &str) -> String {
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-family=\"{FAMILY}\" font-size=\"{size}\" \
         fill=\"#222222\"{more}>{}</text>\n",
        escape(&one_line(text))
    )
}

//! Figures as pixels, for programs that show no SVG.

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree};

/// Pixels per unit of a figure that is to be printed.
pub(crate) const PRINT: f32 = 3.0;

/// Why a figure could not be turned into pixels.
#[derive(Debug, thiserror::Error)]
pub enum PngError {
    /// Not an SVG document.
    #[error("not a drawable SVG document: {0}")]
    Document(String),
    /// A scale of zero, or one that needs more memory than there is.
    #[error("cannot make an image of {width} x {height} pixels; choose another scale")]
    Size {
        /// Width asked for.
        width: f32,
        /// Height asked for.
        height: f32,
    },
    /// The encoder failed.
    #[error("cannot encode the image: {0}")]
    Encoding(String),
}

/// Renders an SVG document at `scale` pixels per unit, with the fonts of this system.
pub fn png(svg: &str, scale: f32) -> Result<Vec<u8>, PngError> {
    let mut options = Options::default();
    options.fontdb_mut().load_system_fonts();
    let tree =
        Tree::from_str(svg, &options).map_err(|error| PngError::Document(error.to_string()))?;
    let (width, height) = (tree.size().width() * scale, tree.size().height() * scale);
    let mut pixels = Pixmap::new(width.ceil() as u32, height.ceil() as u32)
        .ok_or(PngError::Size { width, height })?;
    resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
    pixels.encode_png().map_err(|error| PngError::Encoding(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SQUARE: &str = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4\" height=\"4\"><rect width=\"4\" height=\"4\"/></svg>";

    #[test]
    fn a_figure_becomes_an_image_of_its_size_times_the_scale() {
        let image = Pixmap::decode_png(&png(SQUARE, 3.0).unwrap()).unwrap();
        assert_eq!((image.width(), image.height()), (12, 12));
    }

    #[test]
    fn what_cannot_be_drawn_is_said() {
        assert!(matches!(png("no drawing", 1.0), Err(PngError::Document(_))));
        assert!(matches!(png(SQUARE, 0.0), Err(PngError::Size { .. })));
    }
}

//! What is wrong with an experiment file, shown at its place in the file.

use std::fmt;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use crate::document::Fault;

/// A mistake in an experiment file: what was found, what was expected, where, and what to do.
///
/// `Display` is [`render`](Diagnostic::render) without colour.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic(Box<Inner>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Inner {
    file: String,
    message: String,
    excerpt: Option<Excerpt>,
    help: Vec<String>,
}

/// The whole source with marks on it; the renderer cuts out the lines.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Excerpt {
    source: String,
    primary: (Range<usize>, String),
    context: Option<(Range<usize>, String)>,
}

impl Diagnostic {
    /// A mistake at a place in the text of a file.
    pub(crate) fn in_text(file: &str, source: &str, fault: Fault) -> Diagnostic {
        let inside = |(span, label)| (on_characters(source, span), label);
        let (message, label) = fault.words();
        let details = fault.details();
        let excerpt = Excerpt {
            source: source.to_owned(),
            primary: inside((details.span.unwrap_or(0..0), label)),
            context: details.context.map(inside),
        };
        let (file, help) = (file.to_owned(), details.help);
        Diagnostic(Box::new(Inner { file, message, excerpt: Some(excerpt), help }))
    }

    /// A mistake about a file as a whole, such as its absence.
    pub(crate) fn of_file(file: &str, message: String, help: &str) -> Diagnostic {
        let help = vec![help.to_owned()];
        Diagnostic(Box::new(Inner { file: file.to_owned(), message, excerpt: None, help }))
    }

    /// The mistake in one line, without its place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// The mistake and what to do, without its place: for text that nobody has written.
    pub fn without_place(&self) -> String {
        let inner = &*self.0;
        let label = inner.excerpt.as_ref().map(|excerpt| excerpt.primary.1.as_str());
        let label = label.filter(|label| !label.is_empty());
        let words =
            [inner.message.as_str()].into_iter().chain(label).collect::<Vec<_>>().join(": ");
        let help = inner.help.iter().map(|help| format!("\n  help: {help}"));
        words + &help.collect::<String>()
    }

    /// The file, as it was named by whoever opened it.
    pub fn file(&self) -> &str {
        &self.0.file
    }

    /// The line of the mistake, from 1; `None` if it concerns the file as a whole.
    pub fn line(&self) -> Option<usize> {
        let excerpt = self.0.excerpt.as_ref()?;
        Some(excerpt.source[..excerpt.primary.0.start].matches('\n').count() + 1)
    }

    /// The mistake with the source lines it concerns, ready to print; `color` adds terminal
    /// colours.
    pub fn render(&self, color: bool) -> String {
        let inner = &*self.0;
        let mut group = Group::with_title(Level::ERROR.primary_title(inner.message.as_str()));
        if let Some(excerpt) = &inner.excerpt {
            let (span, label) = &excerpt.primary;
            let mut snippet = Snippet::source(excerpt.source.as_str())
                .path(inner.file.as_str())
                .annotation(AnnotationKind::Primary.span(span.clone()).label(label.as_str()));
            if let Some((span, label)) = &excerpt.context {
                let mark = AnnotationKind::Context.span(span.clone()).label(label.as_str());
                snippet = snippet.annotation(mark);
            }
            group = group.element(snippet);
        }
        group = group.elements(inner.help.iter().map(|help| Level::HELP.message(help.as_str())));
        let renderer = if color { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group])
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(false))
    }
}

impl std::error::Error for Diagnostic {}

/// Moves a span inward to where characters begin; the renderer would panic inside of one.
fn on_characters(text: &str, span: Range<usize>) -> Range<usize> {
    let boundary = |at: usize| (0..=at.min(text.len())).rev().find(|&i| text.is_char_boundary(i));
    let start = boundary(span.start).unwrap_or(0);
    start..boundary(span.end).unwrap_or(0).max(start)
}

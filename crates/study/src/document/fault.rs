//! Something wrong at a place of a document, before it is tied to a file.

use std::fmt;
use std::ops::Range;

use crate::nearest::nearest;

/// What is wrong, where, and what to do about it. Boxed to keep results small.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault(Box<Details>);

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Details {
    kind: Kind,
    /// What the whole document is, with its article.
    whole: &'static str,
    /// The keys that lead to it, outermost first.
    path: Vec<String>,
    /// Its place in the text.
    pub span: Option<Range<usize>>,
    /// A second place that has to do with it.
    pub context: Option<(Range<usize>, String)>,
    /// What to do.
    pub help: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A title, and words for the place.
    Words(String, String),
    /// The value of the key at the path is not what it should be.
    Value(String),
    /// A key that the table at the path does not have.
    UnknownKey(String),
    /// A name that is none of the choices at the path.
    UnknownChoice(String),
    /// A key that the table at the path must have.
    MissingKey(&'static str),
}

impl Fault {
    /// A fault with a title and with words for its place.
    pub fn new(title: impl Into<String>, label: impl Into<String>) -> Fault {
        Fault::of(Kind::Words(title.into(), label.into()))
    }

    fn of(kind: Kind) -> Fault {
        let (path, help) = (Vec::new(), Vec::new());
        let whole = "an experiment";
        Fault(Box::new(Details { kind, whole, path, span: None, context: None, help }))
    }

    /// A wrong value: what was found and what was expected.
    pub fn value(found: impl fmt::Display, expected: impl fmt::Display) -> Fault {
        Fault::of(Kind::Value(format!("found {found}, expected {expected}")))
    }

    /// A name that is none of the known ones; suggests the nearest.
    pub fn unknown<'a>(
        what: &str,
        found: &str,
        known: impl Iterator<Item = &'a str> + Clone,
    ) -> Fault {
        let title = format!("unknown {what} {}", quoted(found));
        Fault::new(title, format!("no {what} has this name")).among(found, known)
    }

    /// Gives the place, unless a nearer one is known already.
    pub fn at(mut self, span: Range<usize>) -> Fault {
        self.0.span.get_or_insert(span);
        self
    }

    /// Says that the place is inside of `key`.
    pub fn within(mut self, key: &str) -> Fault {
        self.0.path.insert(0, key.to_owned());
        self
    }

    /// Says that the keys that lead to it are called otherwise, from the outermost on.
    pub fn called(mut self, name: &str, otherwise: &str) -> Fault {
        let name: Vec<&str> = name.split('.').collect();
        if self.0.path.len() >= name.len() && self.0.path.iter().zip(&name).all(|(a, b)| a == b) {
            self.0.path.splice(..name.len(), otherwise.split('.').map(str::to_owned));
        }
        self
    }

    /// Says what the whole document is, if it is no experiment.
    pub fn of_whole(mut self, whole: &'static str) -> Fault {
        self.0.whole = whole;
        self
    }

    /// Adds a second place.
    pub fn with_context(mut self, span: Range<usize>, label: impl Into<String>) -> Fault {
        self.0.context = Some((span, label.into()));
        self
    }

    /// Adds what to do.
    pub fn with_help(mut self, help: impl Into<String>) -> Fault {
        self.0.help.push(help.into());
        self
    }

    /// Adds the nearest of the known names, and all of them.
    fn among<'a>(self, found: &str, known: impl Iterator<Item = &'a str> + Clone) -> Fault {
        let all = known.clone().collect::<Vec<_>>().join(", ");
        let fault = match nearest(found, known) {
            Some(name) => self.with_help(format!("did you mean `{name}`?")),
            None => self,
        };
        if all.is_empty() { fault } else { fault.with_help(format!("known here: {all}")) }
    }

    /// Its place, its second place, and what to do.
    pub fn details(self) -> Details {
        *self.0
    }

    /// The title, and the words for the place.
    pub fn words(&self) -> (String, String) {
        let path = self.0.path.join(".");
        let inside = if path.is_empty() { self.0.whole.into() } else { format!("`{path}`") };
        match &self.0.kind {
            Kind::Words(title, label) => (title.clone(), label.clone()),
            Kind::Value(label) if path.is_empty() => ("wrong value".into(), label.clone()),
            Kind::Value(label) => (format!("wrong value for `{path}`"), label.clone()),
            Kind::UnknownKey(key) => {
                (format!("unknown key {}", quoted(key)), format!("{inside} has no such key"))
            }
            Kind::UnknownChoice(name) => {
                (format!("unknown choice {}", quoted(name)), format!("not a choice for {inside}"))
            }
            Kind::MissingKey(key) => {
                (format!("missing key `{key}`"), format!("{inside} needs `{key}`"))
            }
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (title, label) = self.words();
        write!(f, "{title}: {label}")
    }
}

impl std::error::Error for Fault {}

impl serde::de::Error for Fault {
    fn custom<T: fmt::Display>(message: T) -> Fault {
        Fault::of(Kind::Value(message.to_string()))
    }

    fn invalid_type(found: serde::de::Unexpected<'_>, expected: &dyn serde::de::Expected) -> Fault {
        match found {
            // With its point: `1.0` is no whole number.
            serde::de::Unexpected::Float(real) => Fault::value(format!("`{real:?}`"), expected),
            found => Fault::value(plain_words(found), expected),
        }
    }

    fn invalid_value(
        found: serde::de::Unexpected<'_>,
        expected: &dyn serde::de::Expected,
    ) -> Fault {
        Fault::value(plain_words(found), expected)
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Fault {
        Fault::of(Kind::UnknownKey(key.to_owned())).among(key, known.iter().copied())
    }

    fn unknown_variant(name: &str, known: &'static [&'static str]) -> Fault {
        Fault::of(Kind::UnknownChoice(name.to_owned())).among(name, known.iter().copied())
    }

    fn missing_field(key: &'static str) -> Fault {
        Fault::of(Kind::MissingKey(key))
    }
}

/// A found value in the words of someone who writes TOML.
fn plain_words(found: serde::de::Unexpected<'_>) -> String {
    use serde::de::Unexpected::{Bool, Float, Map, Seq, Signed, Str, Unsigned};
    match found {
        Bool(flag) => format!("`{flag}`"),
        Unsigned(whole) => format!("`{whole}`"),
        Signed(whole) => format!("`{whole}`"),
        Float(real) => format!("`{real}`"),
        Str(text) => format!("\"{}\"", shortened(text)),
        Seq => "a list".into(),
        Map => "a table".into(),
        other => other.to_string(),
    }
}

/// Outside text between backticks, fit for a message.
pub(crate) fn quoted(text: &str) -> String {
    format!("`{}`", shortened(text))
}

/// Outside text cut where it is long, control characters made visible.
fn shortened(text: &str) -> String {
    const LONGEST: usize = 60;
    let mut shown: String = text.chars().take(LONGEST).collect();
    if shown.len() < text.len() {
        shown.push_str("...");
    }
    if shown.contains(char::is_control) { shown.escape_debug().to_string() } else { shown }
}

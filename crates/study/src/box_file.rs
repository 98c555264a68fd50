//! Files that describe a box, checked as experiment files are.

use std::path::Path;

use crosstie_box::Spec;
use crosstie_units::Misfit;

use crate::diagnostic::Diagnostic;
use crate::document::{self, Fault};
use crate::source;

/// Reads a box file; all of it is sound.
pub fn load(path: impl AsRef<Path>) -> Result<Spec, Diagnostic> {
    let path = path.as_ref();
    parse(&path.display().to_string(), &text(path)?)
}

/// The text of a box file, which may be anything yet.
pub fn text(path: impl AsRef<Path>) -> Result<String, Diagnostic> {
    source::text(path.as_ref(), "a box file")
}

/// Reads a box from text; `name` stands for the file in error messages.
pub fn parse(name: &str, text: &str) -> Result<Spec, Diagnostic> {
    understand(text).map_err(|fault| Diagnostic::in_text(name, text, fault.of_whole("a box")))
}

/// Whether a file describes a box rather than an experiment, or means to.
pub fn is_one(path: impl AsRef<Path>) -> bool {
    let Ok(text) = source::text(path.as_ref(), "a box file") else { return false };
    document::parse(&text).is_ok_and(|root| root.contains_key("rail") || root.contains_key("hosts"))
}

fn understand(text: &str) -> Result<Spec, Fault> {
    let root = document::parse(text)?;
    let spec: Spec = document::decode_table(&root)?;
    match spec.check() {
        Ok(()) => Ok(spec),
        Err(Misfit { key, title, problem, help, .. }) => {
            let place = document::place(&root, &key).map_or(0..0, |(_, value)| value);
            let fault = Fault::new(title, problem).at(place);
            Err(help.into_iter().fold(fault, Fault::with_help))
        }
    }
}

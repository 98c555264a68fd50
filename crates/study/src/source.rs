//! Getting at files: the experiment itself, and those it refers to.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::diagnostic::Diagnostic;
use crate::document::{Fault, quoted};
use crate::fingerprint::Fingerprint;

/// The largest experiment file. Real ones have a few KiB; this keeps a wrong file from being read.
const LARGEST: u64 = 1 << 20;
/// The largest file an experiment may refer to.
const LARGEST_INPUT: u64 = 64 << 20;

/// Reads the text of a file that is `what`, such as "an experiment file".
pub(crate) fn text(path: &Path, what: &str) -> Result<String, Diagnostic> {
    let name = path.display().to_string();
    let refuse = |message: String, help: &str| Err(Diagnostic::of_file(&name, message, help));
    let bytes = match bytes(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let help = format!("expected {what}: text in TOML, at most 1 MiB");
            return refuse(format!("cannot read `{name}`: {reason}"), &help);
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let message = format!("`{name}` is not text: line {line} is not UTF-8");
            refuse(message, &format!("expected {what}: text in TOML, encoded as UTF-8"))
        }
    }
}

/// Reads a file of at most so many bytes, or says why not.
fn bytes(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let why = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file".to_owned(),
        std::io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        _ => error.to_string(),
    };
    let too_large = || format!("it is larger than {} MiB", most >> 20);
    let file = File::open(path).map_err(why)?;
    let about = file.metadata().map_err(why)?;
    if about.is_dir() {
        return Err("it is a folder".into());
    }
    if about.len() > most {
        return Err(too_large());
    }
    let mut bytes = Vec::new();
    // Pipes and devices do not tell their size beforehand.
    file.take(most + 1).read_to_end(&mut bytes).map_err(why)?;
    if bytes.len() as u64 > most { Err(too_large()) } else { Ok(bytes) }
}

/// The folder, inside a folder of results, for copies of the files that the experiment refers to.
const COPIES: &str = "inputs";

/// A file that an experiment refers to, as it was when the experiment was read.
#[derive(Debug)]
pub(crate) struct Input {
    /// Its content.
    pub content: Vec<u8>,
    /// What its content is known by.
    pub fingerprint: Fingerprint,
}

/// Where a folder of results keeps its copy of a file: called after the file and its content, so
/// that two files of one name do not meet, and a copy of a copy has the same name.
pub(crate) fn copy_of(path: &str, content: Fingerprint) -> String {
    let name = Path::new(path).file_name().unwrap_or_default().to_string_lossy();
    let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
    let mark = format!("-{}", &content.to_string()[..8]);
    let safe = |text: &str, most: usize| -> String {
        let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        text.chars().take(most).map(|c| if fits(c) { c } else { '-' }).collect()
    };
    let stem = safe(stem.strip_suffix(mark.as_str()).unwrap_or(stem), 64);
    let dot = if ending.is_empty() { "" } else { "." };
    format!("{COPIES}/{stem}{mark}{dot}{}", safe(ending, 16))
}

/// The files an experiment refers to, each known by its content.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// The experiment file, from whose folder relative paths start; `None` leaves all files alone.
    experiment: Option<PathBuf>,
    known: BTreeMap<String, Input>,
}

impl Inputs {
    /// Files found from the folder of an experiment file.
    pub fn beside(experiment: &Path) -> Inputs {
        Inputs { experiment: Some(experiment.to_owned()), known: BTreeMap::new() }
    }

    /// The experiment file, if there is one.
    pub fn experiment(&self) -> Option<&Path> {
        self.experiment.as_deref()
    }

    /// Where a path of the experiment file leads.
    pub fn locate(&self, path: &str) -> PathBuf {
        let folder = self.experiment.as_deref().and_then(Path::parent);
        folder.unwrap_or(Path::new("")).join(path)
    }

    /// The fingerprint of a file's content; `None` if files are left alone.
    pub fn fingerprint(&mut self, path: &str) -> Result<Option<Fingerprint>, Fault> {
        if self.experiment.is_none() {
            return Ok(None);
        }
        if let Some(known) = self.known.get(path) {
            return Ok(Some(known.fingerprint));
        }
        let place = self.locate(path);
        let content = bytes(&place, LARGEST_INPUT).map_err(|reason| {
            Fault::new(format!("cannot read {}", quoted(path)), reason)
                .with_help("paths are relative to the experiment file")
        })?;
        let fingerprint = Fingerprint::of(&content);
        self.known.insert(path.to_owned(), Input { content, fingerprint });
        Ok(Some(fingerprint))
    }

    /// Every file seen so far, by path.
    pub fn known(&self) -> &BTreeMap<String, Input> {
        &self.known
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_have_names_of_their_own_that_do_not_change() {
        let (one, other) = (Fingerprint::of(b"one"), Fingerprint::of(b"other"));
        let name = copy_of("../nets/my ring.anynet", one);
        assert_eq!(name, format!("inputs/my-ring-{}.anynet", &one.to_string()[..8]));
        assert_ne!(copy_of("ring.anynet", one), copy_of("ring.anynet", other));
        for path in ["../nets/my ring.anynet", "a.b/network", ".edges", "", "..", &"x".repeat(300)]
        {
            let copy = copy_of(path, one);
            assert_eq!(copy_of(&copy, one), copy, "{path}");
        }
    }
}

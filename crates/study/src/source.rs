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

/// Reads the text of an experiment file.
pub(crate) fn text(path: &Path) -> Result<String, Diagnostic> {
    let name = path.display().to_string();
    let refuse = |message: String, help: &str| Err(Diagnostic::of_file(&name, message, help));
    let bytes = match bytes(path, LARGEST) {
        Ok(bytes) => bytes,
        Err(reason) => {
            let help = "expected an experiment file: text in TOML, at most 1 MiB";
            return refuse(format!("cannot read `{name}`: {reason}"), help);
        }
    };
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) => {
            let good = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..good].iter().filter(|&&byte| byte == b'\n').count() + 1;
            let message = format!("`{name}` is not text: line {line} is not UTF-8");
            refuse(message, "expected an experiment file: text in TOML, encoded as UTF-8")
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

/// The files an experiment refers to, each known by its content.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// Where relative paths start; `None` leaves all files alone.
    folder: Option<PathBuf>,
    known: BTreeMap<String, Fingerprint>,
}

impl Inputs {
    /// Files found from the folder of an experiment file.
    pub fn beside(experiment: &Path) -> Inputs {
        let folder = experiment.parent().unwrap_or(Path::new("")).to_owned();
        Inputs { folder: Some(folder), known: BTreeMap::new() }
    }

    /// Where a path of the experiment file leads.
    pub fn locate(&self, path: &str) -> PathBuf {
        self.folder.as_deref().unwrap_or(Path::new("")).join(path)
    }

    /// The fingerprint of a file's content; `None` if files are left alone.
    pub fn fingerprint(&mut self, path: &str) -> Result<Option<Fingerprint>, Fault> {
        if self.folder.is_none() {
            return Ok(None);
        }
        if let Some(&known) = self.known.get(path) {
            return Ok(Some(known));
        }
        let place = self.locate(path);
        let content = bytes(&place, LARGEST_INPUT).map_err(|reason| {
            Fault::new(format!("cannot read {}", quoted(path)), reason)
                .with_help("paths are relative to the experiment file")
        })?;
        let fingerprint = Fingerprint::of(&content);
        self.known.insert(path.to_owned(), fingerprint);
        Ok(Some(fingerprint))
    }

    /// Every file seen so far, by path.
    pub fn known(&self) -> &BTreeMap<String, Fingerprint> {
        &self.known
    }
}

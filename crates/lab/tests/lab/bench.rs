//! A folder with an experiment and what it refers to, run by one call.

use crosstie_lab::{LabError, Progress, RunOptions, RunSummary, Silent, check, revision, run};
use crosstie_study::{Row, Store, Study};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use tempfile::TempDir;

/// A scratch folder.
pub struct Bench {
    folder: TempDir,
}

impl Bench {
    /// With these files in it, by name and content.
    pub fn with(files: &[(&str, &str)]) -> Bench {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in files {
            std::fs::write(folder.path().join(name), content).unwrap();
        }
        Bench { folder }
    }

    /// Reads an experiment from text.
    pub fn study(&self, text: &str) -> Study {
        let path = self.path("study.toml");
        std::fs::write(&path, text).unwrap();
        Study::load(path).unwrap_or_else(|mistake| panic!("{mistake}"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Runs a study into a folder.
    pub fn run(
        &self,
        study: &Study,
        results: &str,
        threads: usize,
        cancel: &AtomicBool,
        progress: &dyn Progress,
    ) -> Result<RunSummary, LabError> {
        let store = Store::open(self.path(results), study, "test", &revision).unwrap();
        let threads = NonZeroUsize::new(threads).unwrap();
        run(study, store, RunOptions { threads, cancel, executable: None, lead: None }, progress)
    }

    /// Runs an experiment and gives its rows.
    pub fn rows(&self, text: &str) -> Vec<Row> {
        let study = self.study(text);
        let cancel = AtomicBool::new(false);
        let summary = self.run(&study, "results", 2, &cancel, &Silent).unwrap();
        assert_eq!(summary.rows.len(), study.points().len());
        summary.rows
    }

    /// Why an experiment cannot run.
    pub fn refusal(&self, text: &str) -> LabError {
        let study = self.study(text);
        self.run(&study, "results", 1, &AtomicBool::new(false), &Silent).unwrap_err()
    }

    /// Whether `check` came to its end, or why an experiment cannot run.
    pub fn check(&self, text: &str) -> Result<bool, LabError> {
        let (threads, cancel) = (NonZeroUsize::MIN, &AtomicBool::new(false));
        check(
            &self.study(text),
            RunOptions { threads, cancel, executable: None, lead: None },
            &Silent,
        )
    }

    /// The bytes of every file of a folder, by its path there.
    pub fn bytes(&self, results: &str) -> BTreeMap<String, Vec<u8>> {
        let mut files = BTreeMap::new();
        for entry in std::fs::read_dir(self.path(results)).unwrap().map(|entry| entry.unwrap()) {
            let name = entry.file_name().into_string().unwrap();
            if entry.file_type().unwrap().is_dir() {
                let inner = self.bytes(&format!("{results}/{name}"));
                files.extend(
                    inner.into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)),
                );
            } else {
                files.insert(name, std::fs::read(entry.path()).unwrap());
            }
        }
        files
    }
}

/// A ring of five switches with three hosts each, in BookSim's format.
pub fn ring() -> String {
    (0..5)
        .map(|s| {
            let nodes: String = (3 * s..3 * s + 3).map(|node| format!(" node {node}")).collect();
            format!("router {s}{nodes} router {}\n", (s + 1) % 5)
        })
        .collect()
}

/// A column that a row must have.
pub fn get(row: &Row, column: &str) -> f64 {
    row.measured(column).unwrap_or_else(|| panic!("{column} in {row:?}"))
}

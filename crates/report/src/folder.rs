//! A report on disk: `figures/NAME.svg`, `figures/timeline-POINT.svg` and `report.html` in the
//! folder of an experiment, `figures/rail-NAME.svg`, `figures/drops.svg` and `report.html` in that
//! of a trace.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crosstie_study::trace::TraceFolder;
use crosstie_study::{Figure, ResultSet, ResultsError};

use crate::figure::{self, Drawing, Timeline};
use crate::page::{PaperReport, page, paper_page, trace_page};

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file system refused.
    #[error("cannot write {}: {source}; is the folder writable, and is there room?", path.display())]
    Refused {
        /// The file or folder that was to be written.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What stands beside the rows could not be read.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// A figure could not be turned into pixels.
    #[cfg(feature = "png")]
    #[error("figure `{name}`: {source}")]
    Png {
        /// The figure.
        name: String,
        /// What went wrong.
        source: crate::png::PngError,
    },
}

/// The last line of every figure on disk, by which it is known again.
const SIGNATURE: &str = "<!-- drawn by Crosstie -->\n";

/// Writes all figures, time lines and the page into a folder, which is made if missing, and returns
/// the files. Figures of an earlier report that are no longer asked for are removed.
///
/// Every file appears whole or not at all: a reader never sees half a figure, and a failure leaves
/// the previous report as it was.
pub fn write(results: &ResultSet, folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let side = results.side_tables()?;
    let timelines = figure::timelines(&results.rows, &side.timeline).drawn;
    let reserved: Vec<String> = timelines.iter().map(Timeline::name).collect();
    let mut stems = stems(&results.figures, &reserved);
    stems.extend(reserved);
    let drawn = results.figures.iter().map(|figure| figure::draw(figure, &results.rows));
    let svgs = drawn.chain(timelines.into_iter().map(|timeline| timeline.svg));
    let drawings: Vec<Drawing> =
        stems.into_iter().zip(svgs).map(|(name, svg)| Drawing { name, svg }).collect();
    let mut files = write_figures(&drawings, folder)?;
    files.push(write_whole(folder.join("report.html"), page(results, &side).as_bytes())?);
    Ok(files)
}

/// Writes the figures and the page of a trace into a folder, as [`write()`] does.
pub fn write_trace(trace: &TraceFolder, folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let drawings = figure::rails(trace);
    let mut files = write_figures(&drawings, folder)?;
    let page = trace_page(trace, &drawings);
    files.push(write_whole(folder.join("report.html"), page.as_bytes())?);
    Ok(files)
}

/// Writes figures, whose names are those of their files, and removes others that were drawn here.
fn write_figures(drawings: &[Drawing], folder: &Path) -> Result<Vec<PathBuf>, WriteError> {
    let figures = folder.join("figures");
    let target = if drawings.is_empty() { folder } else { &figures };
    fs::create_dir_all(target)
        .map_err(|source| WriteError::Refused { path: target.to_owned(), source })?;
    let mut files = Vec::new();
    for Drawing { name: stem, svg } in drawings {
        #[cfg(feature = "png")]
        {
            let png = crate::png::png(svg, crate::png::PRINT)
                .map_err(|source| WriteError::Png { name: stem.clone(), source })?;
            files.push(write_whole(figures.join(format!("{stem}.png")), &png)?);
        }
        let svg = format!("{svg}{SIGNATURE}");
        files.push(write_whole(figures.join(format!("{stem}.svg")), svg.as_bytes())?);
    }
    remove_others(&figures, drawings)?;
    Ok(files)
}

/// Removes the figures that were drawn here under other names. What somebody else put there stays.
fn remove_others(figures: &Path, drawings: &[Drawing]) -> Result<(), WriteError> {
    let Ok(entries) = fs::read_dir(figures) else { return Ok(()) };
    for path in entries.flatten().map(|entry| entry.path()) {
        let stem = path.file_stem().unwrap_or_default();
        let current = drawings.iter().any(|drawing| stem == drawing.name.as_str());
        let drawn = || fs::read_to_string(&path).is_ok_and(|text| text.ends_with(SIGNATURE));
        if path.extension().is_some_and(|ending| ending == "svg") && !current && drawn() {
            fs::remove_file(&path)
                .map_err(|source| WriteError::Refused { path: path.clone(), source })?;
            // Its pixels, if there are any.
            let _ = fs::remove_file(path.with_extension("png"));
        }
    }
    Ok(())
}

/// Writes the page of a paper, `report.html`, into a folder, which is made if missing, and returns
/// the file. The folders of the parts are left alone.
pub fn write_paper(paper: &PaperReport<'_>, folder: &Path) -> Result<PathBuf, WriteError> {
    fs::create_dir_all(folder)
        .map_err(|source| WriteError::Refused { path: folder.to_owned(), source })?;
    write_whole(folder.join("report.html"), paper_page(paper).as_bytes())
}

/// File names of the figures: safe on every system, and different from each other and from those
/// that are reserved.
fn stems(figures: &[Figure], reserved: &[String]) -> Vec<String> {
    let mut stems: Vec<String> = Vec::new();
    for figure in figures {
        let safe = |c: char| match c {
            c if c.is_ascii_alphanumeric() => c.to_ascii_lowercase(),
            _ => '-',
        };
        let mut stem: String = figure.name.chars().take(64).map(safe).collect();
        if stem.is_empty() {
            stem.push_str("figure");
        }
        let mut unique = stem.clone();
        let mut count = 2;
        while stems.contains(&unique) || reserved.contains(&unique) {
            unique = format!("{stem}-{count}");
            count += 1;
        }
        stems.push(unique);
    }
    stems
}

/// Writes a draft beside the file and then puts it in the file's place.
fn write_whole(path: PathBuf, bytes: &[u8]) -> Result<PathBuf, WriteError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".tmp");
    let draft = path.with_file_name(name);
    let written = fs::write(&draft, bytes).and_then(|()| fs::rename(&draft, &path));
    written.map_err(|source| {
        // The first error is the one to report; a draft that stays behind does no harm.
        let _ = fs::remove_file(&draft);
        WriteError::Refused { path: path.clone(), source }
    })?;
    Ok(path)
}

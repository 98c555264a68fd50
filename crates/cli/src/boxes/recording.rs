//! What the rails carry while programs run, kept in a folder.

use std::ffi::OsString;
use std::path::Path;
use std::sync::mpsc::{self, Receiver, Sender};

use crosstie_box::{Cluster, End, Happening, Timetable, Trace};
use crosstie_study::trace::{EndSummary, Summary, TraceError, TraceWriter};
use serde::Serialize;

use super::BoxFile;
use crate::console::{self, Console};
use crate::exit::Failure;

/// A recording while programs run.
pub struct Recording<'a> {
    trace: Trace<'a>,
    /// Happenings come this way, so that whoever makes them happen never waits for a disk.
    told: Receiver<Happening>,
    log: Log,
}

/// What has been recorded.
pub struct Log {
    writer: TraceWriter,
    /// How many events there were to be, and how many came to pass.
    planned: usize,
    passed: usize,
    /// Why the folder is not whole.
    problem: Option<String>,
}

impl<'a> Recording<'a> {
    /// Begins before the programs do, so that nothing is missed; returns who is to be told what
    /// happens to the rails.
    pub fn begin(
        cluster: &'a Cluster,
        folder: &Path,
        file: &BoxFile,
        words: &[OsString],
    ) -> Result<(Recording<'a>, Sender<Happening>), Failure> {
        let program: Vec<String> =
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let version = env!("CARGO_PKG_VERSION");
        let writer = TraceWriter::create(folder, &file.text, &file.spec, &program, version)?;
        let trace = Trace::new(cluster)
            .map_err(|error| Failure::user(format!("cannot look at the rails: {error}")))?;
        let planned = file.spec.occurrences().len();
        let (tell, told) = mpsc::channel();
        let log = Log { writer, planned, passed: 0, problem: None };
        Ok((Recording { trace, told, log }, tell))
    }

    /// Records until the clock is stopped. What cannot be recorded is told at once; the run goes
    /// on.
    pub fn run(&mut self, clock: &Timetable) {
        let Recording { trace, told, log } = self;
        let looked = trace.record(clock, |samples| {
            log.keep_happenings(told);
            let kept = log.writer.record(samples);
            log.note(kept);
            Ok(())
        });
        if let Err(error) = looked {
            log.complain(format!("cannot look at the rails: {error}"));
        }
    }

    /// Ends the recording, when nothing happens any more.
    pub fn finish(self) -> Log {
        let Recording { told, mut log, .. } = self;
        log.keep_happenings(&told);
        // What was broken off says so by having no end.
        if log.problem.is_none() {
            let kept = log.writer.finish();
            log.note(kept);
        }
        log
    }
}

impl Log {
    fn keep_happenings(&mut self, told: &Receiver<Happening>) {
        for happening in told.try_iter() {
            self.passed += 1;
            let kept = self.writer.happened(&happening);
            self.note(kept);
        }
    }

    fn note(&mut self, kept: Result<(), TraceError>) {
        if let Err(error) = kept {
            self.complain(error.to_string());
        }
    }

    /// Also when quiet: whoever asked for a trace wants to know that it is not whole.
    fn complain(&mut self, problem: String) {
        let seconds = self.writer.summary().seconds;
        let problem = console::harmless(&problem);
        console::complain(&format!(
            "trace: {problem}; nothing after {seconds:.1} s is kept, and the programs run on"
        ));
        self.problem.get_or_insert(problem);
    }

    /// A table of what each rail carried, and where the trace is.
    pub fn show(&self, console: &Console) {
        let folder = self.writer.folder().display().to_string();
        let folder = console::harmless(&folder);
        let table = console.terminal().carried(self.writer.summary());
        let events = match (self.passed, self.planned) {
            (_, 0) => String::new(),
            (passed, planned) if passed < planned => {
                format!(", {passed} of {planned} events; the others would have come later")
            }
            (passed, _) => format!(", {passed} event{}", if passed == 1 { "" } else { "s" }),
        };
        let seconds = self.writer.summary().seconds;
        let drawn = match &self.problem {
            Some(problem) => format!("trace: {folder} is not whole: {problem}"),
            None => format!("trace: {folder}; `crosstie report {folder}` draws it"),
        };
        console.remark(format_args!("\n{table}{seconds:.3} s{events}\n{drawn}"));
    }

    /// The same as data.
    pub fn listing(&self) -> TraceListing<'_> {
        let summary = self.writer.summary();
        TraceListing {
            folder: self.writer.folder(),
            problem: self.problem.as_deref(),
            seconds: summary.seconds,
            events: self.passed,
            planned_events: self.planned,
            rails: summary.ends.iter().map(|end| EndListing::of(end, summary)).collect(),
        }
    }
}

/// A trace as data.
#[derive(Serialize)]
pub struct TraceListing<'a> {
    folder: &'a Path,
    problem: Option<&'a str>,
    seconds: f64,
    events: usize,
    planned_events: usize,
    rails: Vec<EndListing<'a>>,
}

/// What one end of a rail carried.
#[derive(Serialize)]
struct EndListing<'a> {
    rail: &'a str,
    host: &'a str,
    end: End,
    line_rate_bit_s: Option<u64>,
    bytes: u64,
    frames: u64,
    mean_bit_s: f64,
    busiest_bit_s: f64,
    busiest_share: Option<f64>,
    drops: u64,
    longest_queue_bytes: u64,
}

impl EndListing<'_> {
    fn of<'a>(end: &'a EndSummary, summary: &Summary) -> EndListing<'a> {
        EndListing {
            rail: &end.rail,
            host: &end.host,
            end: end.end,
            line_rate_bit_s: end.line_rate.map(|rate| 8 * rate.bytes_per_second()),
            bytes: end.bytes,
            frames: end.frames,
            mean_bit_s: summary.mean(end),
            busiest_bit_s: end.busiest_bits(),
            busiest_share: end.busiest_share(),
            drops: end.drops,
            longest_queue_bytes: end.longest_queue,
        }
    }
}

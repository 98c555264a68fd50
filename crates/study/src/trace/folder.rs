//! Reading a trace.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crosstie_box::{End, Happening, Sample, Spec};
use crosstie_units::Rate;
use csv::StringRecord;

use super::{
    BOX, EVENT_COLUMNS, EVENTS, FORMAT, META, RAIL_COLUMNS, RAILS, Summary, TraceError, TraceMeta,
    doing, names,
};
use crate::box_file;

/// No run is longer: some 30 years, in seconds.
const LONGEST: f64 = 1e9;

/// How many damaged lines are listed beside the first.
const LISTED: usize = 8;

/// The longest line that may be without its end, and then counts as not written.
const LONGEST_LINE: u64 = 4096;

/// A trace as it was read: everything that a report needs.
#[derive(Debug, Clone, PartialEq)]
pub struct TraceFolder {
    /// Where it was read from.
    pub folder: PathBuf,
    /// What the folder says about itself.
    pub meta: TraceMeta,
    /// The text of `box.toml`.
    pub box_file: String,
    /// The box.
    pub spec: Spec,
    /// What the run came to.
    pub summary: Summary,
    /// What each end carried in time; as in the summary.
    pub ends: Vec<EndTrace>,
    /// What happened to the rails, in the order of the file.
    pub happenings: Vec<Happening>,
}

/// What one end of a rail carried in time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct EndTrace {
    /// In the order of time.
    pub readings: Vec<Reading>,
}

/// What one end of a rail carried for a while.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reading {
    /// From when on, in seconds since the programs began.
    pub since: f64,
    /// Until when.
    pub time: f64,
    /// Bytes carried.
    pub bytes: u64,
    /// Frames that found no room.
    pub drops: u64,
    /// Bytes that waited at the end of it.
    pub queue: u64,
}

impl TraceFolder {
    /// Whether a folder is, or was to be, a trace.
    pub fn is_one(folder: &Path) -> bool {
        [META, RAILS].iter().any(|name| folder.join(name).is_file())
    }

    /// Reads a folder; of one that is still being written, what is there by now.
    pub fn open(folder: impl Into<PathBuf>) -> Result<TraceFolder, TraceError> {
        let folder = folder.into();
        let meta = read_meta(&folder.join(META))?;
        let path = folder.join(BOX);
        let box_file = box_file::text(&path)?;
        let spec = box_file::parse(&path.display().to_string(), &box_file)?;
        let summary = Summary::of(&spec);
        let ends = vec![EndTrace::default(); summary.ends.len()];
        let happenings = Vec::new();
        let mut trace = TraceFolder { folder, meta, box_file, spec, summary, ends, happenings };
        trace.read_rails()?;
        trace.read_events()?;
        Ok(trace)
    }

    fn read_rails(&mut self) -> Result<(), TraceError> {
        let mut guess = 0;
        let path = self.folder.join(RAILS);
        let header: Vec<&str> = names(&RAIL_COLUMNS).collect();
        let (summary, ends) = (&mut self.summary, &mut self.ends);
        each_line(&path, &header, |line| {
            let sample = Sample {
                time: line.seconds(0)?,
                rail: line.text(1).to_owned(),
                host: line.text(2).to_owned(),
                end: match line.text(3) {
                    "nic" => End::Nic,
                    "switch" => End::Switch,
                    _ => return Err(line.wrong(3, "`nic` or `switch`")),
                },
                bytes: line.whole(4)?,
                frames: line.whole(5)?,
                drops: line.whole(6)?,
                queue: line.whole(7)?,
            };
            let Sample { time, bytes, drops, queue, .. } = sample;
            let i =
                summary.find(&sample.rail, &sample.host, sample.end, guess).ok_or_else(|| {
                    let named = [1, 2, 3].map(|field| line.shown(field)).join(", ");
                    format!("there is no {named} in {BOX}")
                })?;
            let since = ends[i].readings.last().map_or(0.0, |before| before.time);
            if time < since {
                return Err(format!(
                    "its time is {time}, but a line above of this end has {since}"
                ));
            }
            guess = i + 1;
            ends[i].readings.push(Reading { since, time, bytes, drops, queue });
            summary.ends[i].add(&sample, time - since);
            summary.seconds = summary.seconds.max(time);
            Ok(())
        })
    }

    fn read_events(&mut self) -> Result<(), TraceError> {
        let path = self.folder.join(EVENTS);
        let header: Vec<&str> = names(&EVENT_COLUMNS).collect();
        let rails = self.spec.rail_names();
        let (spec, happenings) = (&self.spec, &mut self.happenings);
        each_line(&path, &header, |line| {
            let rail = rails.iter().position(|rail| rail == line.text(2));
            let rail = rail.ok_or_else(|| line.wrong(2, &format!("a rail of {BOX}")))?;
            let hosts = spec.members(rail).into_iter().map(|host| &spec.hosts.names()[host]);
            let host = line.text(3);
            if !host.is_empty() && !hosts.into_iter().any(|known| known == host) {
                return Err(line.wrong(3, "nothing, or a host that the rail joins"));
            }
            let what = line.text(4);
            if !["down", "up"].contains(&what) && Rate::from_str(what).is_err() {
                return Err(line.wrong(4, "a rate, `down` or `up`"));
            }
            happenings.push(Happening {
                time: line.seconds(0)?,
                late: line.seconds(1)?,
                rail: rails[rail].clone(),
                host: host.to_owned(),
                what: what.to_owned(),
            });
            Ok(())
        })
    }
}

fn read_meta(path: &Path) -> Result<TraceMeta, TraceError> {
    let text = fs::read_to_string(path).map_err(doing("read", path))?;
    let damaged =
        |line, reason: String| TraceError::Damaged { path: path.to_owned(), line, reason };
    let wrong = |error: serde_json::Error| damaged(Some(error.line() as u64), error.to_string());
    /// Read first, for whatever else is in a file of another format.
    #[derive(serde::Deserialize)]
    struct Version {
        format: u32,
    }
    let version: Version = serde_json::from_str(&text).map_err(wrong)?;
    if version.format != FORMAT {
        let reason = format!("its format is {}, expected {FORMAT}", version.format);
        return Err(damaged(None, reason));
    }
    serde_json::from_str(&text).map_err(wrong)
}

/// A line of a table.
struct Line<'a> {
    record: &'a StringRecord,
    names: &'a [&'static str],
}

impl Line<'_> {
    fn text(&self, field: usize) -> &str {
        self.record.get(field).unwrap_or_default()
    }

    /// A field as it may be printed, whatever is in it.
    fn shown(&self, field: usize) -> String {
        let short: String = self.text(field).chars().take(40).collect();
        format!("{} `{}`", self.names[field], short.escape_debug())
    }

    fn wrong(&self, field: usize, expected: &str) -> String {
        let short: String = self.text(field).chars().take(40).collect();
        format!("`{}` is `{}`, expected {expected}", self.names[field], short.escape_debug())
    }

    fn whole(&self, field: usize) -> Result<u64, String> {
        let number = self.text(field).parse();
        number.map_err(|_| self.wrong(field, "a whole number below 2^64"))
    }

    fn seconds(&self, field: usize) -> Result<f64, String> {
        let number = self.text(field).parse().ok();
        let number = number.filter(|seconds| (0.0..=LONGEST).contains(seconds));
        number.ok_or_else(|| self.wrong(field, "seconds, from 0 to a billion"))
    }
}

/// Reads a table line by line. All damaged lines are told, the first of them with what is wrong.
fn each_line(
    path: &Path,
    names: &[&'static str],
    mut read: impl FnMut(&Line<'_>) -> Result<(), String>,
) -> Result<(), TraceError> {
    let file = File::open(path).map_err(doing("read", path))?;
    let lines = whole_lines(file).map_err(doing("read", path))?;
    // Nothing that is written needs quotes, so that a line is a line.
    let mut csv = csv::ReaderBuilder::new().quoting(false).has_headers(false).from_reader(lines);
    let mut damage: Option<(u64, String)> = None;
    let mut others: Vec<u64> = Vec::new();
    let mut further = 0;
    let mut tell = |line: u64, reason: String| {
        if damage.is_none() {
            damage = Some((line, reason));
        } else if others.len() < LISTED {
            others.push(line);
        } else {
            further += 1;
        }
        // Without the right columns every line would be wrong.
        if line == 1 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let head = names.join(",");
    let mut record = StringRecord::new();
    let mut first = true;
    loop {
        let told = match csv.read_record(&mut record) {
            Ok(false) if first => tell(1, format!("it is empty, expected `{head}`")),
            Ok(false) => break,
            Ok(true) if first => {
                first = false;
                match record.iter().eq(names.iter().copied()) {
                    true => continue,
                    false => tell(1, format!("expected `{head}`")),
                }
            }
            Ok(true) => {
                let line = record.position().map_or(0, csv::Position::line);
                match read(&Line { record: &record, names }) {
                    Ok(()) => continue,
                    Err(reason) => tell(line, reason),
                }
            }
            Err(error) => {
                let line = error.position().map_or(1, csv::Position::line);
                match error.into_kind() {
                    csv::ErrorKind::Io(error) => return Err(doing("read", path)(error)),
                    csv::ErrorKind::UnequalLengths { len, expected_len, .. } => {
                        tell(line, format!("it has {len} fields, expected {expected_len}"))
                    }
                    csv::ErrorKind::Utf8 { .. } => tell(line, "it is not UTF-8".to_owned()),
                    other => tell(line, format!("{other:?}")),
                }
            }
        };
        if told.is_break() {
            break;
        }
    }
    let Some((line, mut reason)) = damage else { return Ok(()) };
    if !others.is_empty() {
        let list = others.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        reason += &format!("; so are lines {list}");
        if further > 0 {
            reason += &format!(" and {further} more");
        }
    }
    Err(TraceError::Damaged { path: path.to_owned(), line: Some(line), reason })
}

/// A file without a last line that does not end.
fn whole_lines(mut file: File) -> io::Result<impl Read> {
    let length = file.metadata()?.len();
    let start = length.saturating_sub(LONGEST_LINE);
    file.seek(SeekFrom::Start(start))?;
    let mut tail = Vec::new();
    (&mut file).take(length - start).read_to_end(&mut tail)?;
    let end = match tail.iter().rposition(|byte| *byte == b'\n') {
        Some(last) => start + last as u64 + 1,
        // One line only, or one that is far too long: there is something to complain about.
        None => length,
    };
    file.seek(SeekFrom::Start(0))?;
    Ok(file.take(end))
}

//! Time lines: ranks down, time across, a bar where a rank sends or computes and an arrow for every
//! message, as in the viewers of MPI traces.
//!
//! What a rank does at the same time shares the height of its lane, so that no bar hides another.

use std::fmt::Write;

use crosstie_study::{Row, TimelineRow};

use super::frame::{Frame, Rect};
use super::scale::{Scale, drawable};
use super::{BOTTOM, NOTE, RIGHT, TOP, stroke, text};
use crate::caption;
use crate::escape::{escape, shortened};
use crate::number;

/// More ranks than that cannot be told apart.
pub const MOST_RANKS: usize = 64;
/// More messages and computations than that are a grey area.
pub const MOST_LINES: usize = 2000;
/// Points of a study whose time lines are drawn.
pub const MOST_POINTS: usize = 12;

/// Wider than other figures: time needs room.
const WIDTH: u32 = 960;
/// Room for the axis below the lanes, as [`Frame`] takes it.
const AXIS: u32 = 46;
/// What the lanes of a figure share, and how high one of them is.
const LANES: u32 = 420;
const LANE: [u32; 2] = [14, 44];
/// The share of a lane that its bars take.
const FILLED: f64 = 0.64;
/// The least a bar measures, whatever it shows.
const THINNEST: [f64; 2] = [1.0, 2.0];
/// Length and half the width of the head of an arrow.
const HEAD: [f64; 2] = [6.0, 2.2];
/// More arrows than that fade, down to the faintest, so that the bars below them are seen.
const FEW: f64 = 300.0;
const FAINTEST: f64 = 0.35;
/// Length of what stands in front of a word of the legend.
const SAMPLE: f64 = 22.0;

/// Colours, of bars as in curves.
const SENDING: usize = 0;
const COMPUTING: usize = 4;
const MESSAGE: &str = "#222222";

/// The time lines of a study.
#[derive(Debug, Clone, PartialEq)]
pub struct Timelines {
    /// Those that are drawn, in the order of the points.
    pub drawn: Vec<Timeline>,
    /// How many points have more than [`MOST_RANKS`] ranks or [`MOST_LINES`] lines.
    pub large: usize,
    /// How many points could be drawn and are not, as [`MOST_POINTS`] are.
    pub further: usize,
}

/// The time line of one point.
#[derive(Debug, Clone, PartialEq)]
pub struct Timeline {
    /// The point.
    pub point: u32,
    /// A stand-alone SVG document.
    pub svg: String,
}

impl Timeline {
    /// The name of the figure.
    pub fn name(&self) -> String {
        format!("timeline-{}", self.point)
    }
}

/// Draws the time lines of the first points that can be drawn; the rows say what the points are.
pub fn timelines(rows: &[Row], lines: &[TimelineRow]) -> Timelines {
    let mut lines: Vec<&TimelineRow> = lines.iter().collect();
    lines.sort_by_key(|line| line.point);
    let mut found = Timelines { drawn: Vec::new(), large: 0, further: 0 };
    for lines in lines.chunk_by(|a, b| a.point == b.point) {
        let point = lines[0].point;
        if lines.len() > MOST_LINES || ranks(lines) > MOST_RANKS {
            found.large += 1;
        } else if found.drawn.len() == MOST_POINTS {
            found.further += 1;
        } else {
            let title = format!("Time line of {}", caption::point(rows, point));
            found.drawn.push(Timeline { point, svg: draw(&title, lines) });
        }
    }
    found
}

/// How many ranks there are: those up to the last that occurs.
fn ranks(lines: &[&TimelineRow]) -> usize {
    let last = lines.iter().map(|line| line.rank.max(line.to.unwrap_or(0))).max();
    last.map_or(0, |rank| rank as usize + 1)
}

fn draw(title: &str, lines: &[&TimelineRow]) -> String {
    let ranks = ranks(lines);
    // Even, so that the middle of a lane is a whole pixel.
    let lane = (LANES / ranks as u32).clamp(LANE[0], LANE[1]) & !1;
    let times = || lines.iter().flat_map(|line| [line.begin, line.left, line.end]);
    let (first, last) = times()
        .filter(|&time| drawable(time, false))
        .fold((0.0, 0.0), |(first, last), time| (f64::min(first, time), f64::max(last, time)));
    // Rank 0 on top: the axis of ranks counts backwards.
    let names: Vec<(f64, String)> =
        (0..ranks).map(|rank| (-(rank as f64), format!("rank {rank}"))).collect();
    let x = Scale::fitting(times(), false, Some([first, last + 0.01 * (last - first)]));
    let y = Scale::named(&names, false, Some([0.5 - ranks as f64, 0.5]));
    let size = (WIDTH, TOP + ranks as u32 * lane + AXIS + BOTTOM + NOTE);
    let (around, plot) = Frame {
        size,
        x: &x,
        y: &y,
        x_label: "time [us]",
        y_label: "",
        top: TOP,
        bottom: BOTTOM + NOTE,
        right: RIGHT,
    }
    .draw();
    let picture = Picture { x: &x, y: &y, plot, lane: f64::from(lane) };
    let bars = picture.bars(lines, ranks);

    let (width, height) = size;
    let messages = lines.iter().filter(|line| line.to.is_some()).count();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\">\n{around}\n",
        escape(&format!(
            "{title}: {}, {}, {}",
            number::count(ranks, "rank"),
            number::count(messages, "message"),
            number::count(lines.len() - messages, "computation")
        ))
    );
    let bold = " text-anchor=\"middle\" font-weight=\"bold\"";
    let middle = f64::from(width) / 2.0;
    svg += &text::element(middle, 26.0, text::LARGE, bold, &shortened(title, 112));
    let sends = |bar: &&Bar| bar.line.to.is_some();
    for (class, colour, bars) in [
        ("sending", SENDING, bars.iter().filter(sends).collect::<Vec<_>>()),
        ("computing", COMPUTING, bars.iter().filter(|bar| !sends(bar)).collect()),
    ] {
        let _ = writeln!(svg, "<g class=\"{class}\"{}>", paint(colour));
        bars.iter().for_each(|bar| bar.draw(&mut svg));
        svg.push_str("</g>\n");
    }
    let fading = (FEW / messages.max(1) as f64).clamp(FAINTEST, 1.0);
    let _ = writeln!(
        svg,
        "<g class=\"messages\" fill=\"{MESSAGE}\" stroke=\"{MESSAGE}\" stroke-width=\"0.8\" \
         fill-opacity=\"{fading:.2}\" stroke-opacity=\"{fading:.2}\">"
    );
    bars.iter().for_each(|bar| picture.message(&mut svg, bar));
    svg.push_str("</g>\n");
    svg += &legend(messages > 0, messages < lines.len(), plot.left, f64::from(height) - 14.0);
    svg.push_str("</svg>\n");
    svg
}

/// Where ranks and times are.
struct Picture<'a> {
    x: &'a Scale,
    y: &'a Scale,
    plot: Rect,
    lane: f64,
}

/// A bar of a lane, in pixels.
struct Bar<'a> {
    line: &'a TimelineRow,
    left: f64,
    right: f64,
    top: f64,
    height: f64,
}

impl Picture<'_> {
    /// The bars of all lanes, rank by rank and in the order of time.
    fn bars<'a>(&self, lines: &[&'a TimelineRow], ranks: usize) -> Vec<Bar<'a>> {
        let mut lanes: Vec<Vec<Bar<'a>>> = (0..ranks).map(|_| Vec::new()).collect();
        for line in lines {
            let (Some(left), Some(right)) = (self.across(line.begin), self.across(line.left))
            else {
                continue;
            };
            let right = right.max(left + THINNEST[0]);
            lanes[line.rank as usize].push(Bar { line, left, right, top: 0.0, height: 0.0 });
        }
        for lane in &mut lanes {
            lane.sort_by(|a, b| a.left.total_cmp(&b.left));
            self.stack(lane);
        }
        lanes.into_iter().flatten().collect()
    }

    /// Gives bars that are under way at the same time their share of the lane; the others have all
    /// of it.
    fn stack(&self, mut bars: &mut [Bar<'_>]) {
        while !bars.is_empty() {
            // Where each of the tracks is free again, and the track of each bar that meets another.
            let (mut free, mut tracks): (Vec<f64>, Vec<usize>) = (Vec::new(), Vec::new());
            for bar in bars.iter() {
                if !free.is_empty() && free.iter().all(|&end| end <= bar.left) {
                    break;
                }
                let track = free.iter().position(|&end| end <= bar.left);
                let track = track.unwrap_or_else(|| {
                    free.push(bar.right);
                    free.len() - 1
                });
                free[track] = bar.right;
                tracks.push(track);
            }
            let (together, rest) = bars.split_at_mut(tracks.len());
            for (bar, track) in together.iter_mut().zip(tracks) {
                self.settle(bar, track, free.len());
            }
            bars = rest;
        }
    }

    /// Puts a bar on one of the tracks of its lane.
    fn settle(&self, bar: &mut Bar<'_>, track: usize, tracks: usize) {
        let room = self.lane * FILLED;
        let height = (room / tracks as f64).max(THINNEST[1]);
        let step = (room - height) / (tracks - 1).max(1) as f64;
        bar.top = self.down(bar.line.rank) - room / 2.0 + step * track as f64;
        // A hair between bars that stand on each other.
        bar.height = if tracks > 1 && height > 3.0 { height - 0.75 } else { height };
    }

    /// The arrow of a message, from its bar to the lane of the receiver.
    fn message(&self, svg: &mut String, bar: &Bar<'_>) {
        let line = bar.line;
        let (Some(to), Some(x2)) = (line.to, self.across(line.end)) else { return };
        let (x1, y1) = (bar.left, bar.top + bar.height / 2.0);
        let path = arrow((x1, y1), (x2, self.down(to)));
        let _ = writeln!(
            svg,
            "<path class=\"point\" d=\"{path}\"><title>{}: {}</title></path>",
            name(line),
            span(line.begin, line.end)
        );
    }

    fn across(&self, time: f64) -> Option<f64> {
        let Rect { left, right, .. } = self.plot;
        self.x.place(time).map(|at| left + at * (right - left))
    }

    /// The middle of a lane.
    fn down(&self, rank: u32) -> f64 {
        let Rect { top, bottom, .. } = self.plot;
        self.y.place(-f64::from(rank)).map_or(bottom, |up| bottom - up * (bottom - top))
    }
}

impl Bar<'_> {
    fn draw(&self, svg: &mut String) {
        let Bar { line, left, right, top, height } = self;
        let doing = if line.to.is_some() { "sending" } else { "computing" };
        let _ = writeln!(
            svg,
            "<rect class=\"point\" x=\"{left:.2}\" y=\"{top:.2}\" width=\"{:.2}\" \
             height=\"{height:.2}\"><title>{}, {doing}: {}</title></rect>",
            right - left,
            name(line),
            span(line.begin, line.left)
        );
    }
}

/// The attributes of bars: light, so that an arrow across them is seen, with a border that parts
/// them.
fn paint(colour: usize) -> String {
    let colour = stroke::colour(colour);
    format!(" fill=\"{colour}\" fill-opacity=\"0.5\" stroke=\"{colour}\" stroke-width=\"0.8\"")
}

/// Who does something, and what: "rank 0 to rank 3, 1024 B".
fn name(line: &TimelineRow) -> String {
    let mut name = format!("rank {}", line.rank);
    if let Some(to) = line.to {
        let _ = write!(name, " to rank {to}");
    }
    if let Some(bytes) = line.bytes {
        let _ = write!(name, ", {} B", number::chosen(f64::from(bytes)));
    }
    name
}

fn span(from: f64, to: f64) -> String {
    format!("{} to {} us", number::chosen(from), number::chosen(to))
}

/// A line with a head, as the data of one path.
fn arrow((x1, y1): (f64, f64), (x2, y2): (f64, f64)) -> String {
    let length = (x2 - x1).hypot(y2 - y1);
    let (dx, dy) = if length > 0.0 { ((x2 - x1) / length, (y2 - y1) / length) } else { (1.0, 0.0) };
    // A short arrow is not all head.
    let [long, wide] = HEAD.map(|size| size * (length / (2.0 * HEAD[0])).min(1.0));
    let (x, y) = (x2 - dx * long, y2 - dy * long);
    let (across, down) = (-dy * wide, dx * wide);
    format!(
        "M{x1:.2} {y1:.2}L{x2:.2} {y2:.2}L{:.2} {:.2}L{:.2} {:.2}L{x2:.2} {y2:.2}",
        x + across,
        y + down,
        x - across,
        y - down
    )
}

/// What bars and arrows are, of those there are.
fn legend(sends: bool, computes: bool, left: f64, y: f64) -> String {
    let bar = |x: f64, colour: usize| {
        format!(
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"{SAMPLE}\" height=\"10\"{}/>",
            y - 5.0,
            paint(colour)
        )
    };
    let message = |x: f64| {
        let path = arrow((x, y), (x + SAMPLE, y));
        format!("<path d=\"{path}\" fill=\"{MESSAGE}\" stroke=\"{MESSAGE}\" stroke-width=\"0.8\"/>")
    };
    let mut svg = String::from("<g class=\"legend\">\n");
    let mut x = left;
    for (there, sample, words) in [
        (sends, &(|x| bar(x, SENDING)) as &dyn Fn(f64) -> String, "sending"),
        (computes, &|x| bar(x, COMPUTING), "computing"),
        (sends, &message, "message"),
    ] {
        if there {
            let _ = writeln!(svg, "{}", sample(x));
            svg += &text::element(x + SAMPLE + 8.0, y + 4.2, text::SMALL, "", words);
            x += SAMPLE + 8.0 + text::width(words, text::SMALL) + 24.0;
        }
    }
    svg.push_str("</g>\n");
    svg
}

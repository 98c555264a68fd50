//! Time lines as a reader sees them.

mod samples;

use std::collections::BTreeMap;

use crosstie_report::figure::{MOST_LINES, MOST_POINTS, MOST_RANKS, Timelines, timelines};
use crosstie_study::{Setting, TimelineRow};
use proptest::prelude::*;
use roxmltree::{Document, Node};

/// The only drawing there is.
fn svg(lines: &[TimelineRow]) -> String {
    let mut found = timelines(&samples::pings(), lines);
    assert_eq!((found.drawn.len(), found.large, found.further), (1, 0, 0));
    found.drawn.remove(0).svg
}

/// What can be pointed at in a group, by the text it shows.
fn marks<'a>(document: &'a Document, class: &str) -> BTreeMap<String, Node<'a, 'a>> {
    let group = document.descendants().find(|node| node.attribute("class") == Some(class)).unwrap();
    let points = group.children().filter(|node| node.attribute("class") == Some("point"));
    let tip = |node: &Node| node.first_element_child().unwrap().text().unwrap().to_owned();
    points.map(|node| (tip(&node), node)).collect()
}

fn number(node: &Node, name: &str) -> f64 {
    node.attribute(name).unwrap().parse().unwrap()
}

/// Left, right, top and bottom of a bar.
fn edges(bar: &Node) -> [f64; 4] {
    let (x, y) = (number(bar, "x"), number(bar, "y"));
    [x, x + number(bar, "width"), y, y + number(bar, "height")]
}

/// Where an arrow begins and where its head is.
fn ends(arrow: &Node) -> [(f64, f64); 2] {
    let path = arrow.attribute("d").unwrap();
    let mut places = path.trim_start_matches('M').split('L').map(|place| {
        let (x, y) = place.split_once(' ').unwrap();
        (x.parse().unwrap(), y.parse().unwrap())
    });
    [places.next().unwrap(), places.next().unwrap()]
}

#[test]
fn every_message_is_a_bar_and_an_arrow_and_every_computation_a_bar() {
    let svg = svg(&samples::timeline(0));
    let document = Document::parse(&svg).unwrap();
    let names = |class| marks(&document, class).into_keys().collect::<Vec<_>>();
    assert_eq!(
        names("sending"),
        [
            "rank 0 to rank 1, 1024 B, sending: 1 to 2.5 us",
            "rank 0 to rank 2, 1024 B, sending: 2 to 4 us",
            "rank 1 to rank 0, 1024 B, sending: 4.25 to 5 us",
            "rank 2 to rank 0, 1024 B, sending: 6 to 7.5 us",
        ]
    );
    assert_eq!(names("computing"), ["rank 0, computing: 0 to 3 us"]);
    assert_eq!(
        names("messages"),
        [
            "rank 0 to rank 1, 1024 B: 1 to 4.25 us",
            "rank 0 to rank 2, 1024 B: 2 to 6 us",
            "rank 1 to rank 0, 1024 B: 4.25 to 8 us",
            "rank 2 to rank 0, 1024 B: 6 to 9.5 us",
        ]
    );
    let texts: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("text"))
        .map(|node| node.text().unwrap().trim())
        .collect();
    for text in ["rank 0", "rank 2", "time [us]", "sending", "computing", "message", "8"] {
        assert!(texts.contains(&text), "no {text}: {texts:?}");
    }
    assert!(texts.contains(&"Time line of point 0: world wormhole, size 8 B"), "{texts:?}");
}

#[test]
fn time_runs_to_the_right_and_ranks_run_down() {
    let svg = svg(&samples::timeline(0));
    let document = Document::parse(&svg).unwrap();
    let arrows: Vec<_> =
        marks(&document, "messages").into_values().map(|node| ends(&node)).collect();
    // Begun at 1, 2, 4.25 and 6; received at 4.25, 6, 8 and 9.5.
    assert!(arrows.is_sorted_by(|a, b| a[0].0 < b[0].0 && a[1].0 < b[1].0));
    assert!(arrows.iter().all(|[from, to]| from.0 < to.0));
    assert_eq!(arrows[0][1].0, arrows[2][0].0, "received and answered at once");
    let [[_, one], [_, two], [_, zero], _] = arrows[..] else { panic!("four arrows") };
    assert!(zero.1 < one.1 && one.1 < two.1);

    let bars = marks(&document, "sending");
    for ([from, _], bar) in arrows.iter().zip(bars.values()) {
        let [left, _, top, bottom] = edges(bar);
        assert!(left == from.0 && top < from.1 && from.1 < bottom, "an arrow begins at its bar");
    }
}

#[test]
fn bars_of_one_time_stand_on_each_other() {
    let svg = svg(&samples::timeline(0));
    let document = Document::parse(&svg).unwrap();
    let mut bars: Vec<_> = marks(&document, "sending").into_values().map(|n| edges(&n)).collect();
    bars.extend(marks(&document, "computing").into_values().map(|node| edges(&node)));
    for (i, a) in bars.iter().enumerate() {
        for b in &bars[..i] {
            let apart = |low: usize, high: usize| a[high] <= b[low] || b[high] <= a[low];
            assert!(apart(0, 1) || apart(2, 3), "{a:?} hides {b:?}");
        }
    }
    let height = |bar: &[f64; 4]| bar[3] - bar[2];
    assert!(height(&bars[0]) < 0.4 * height(&bars[3]), "who is alone has the lane");
}

#[test]
fn what_takes_no_time_is_seen() {
    let lines: Vec<TimelineRow> = samples::timeline(0)
        .into_iter()
        .map(|line| TimelineRow { begin: 0.0, left: 0.0, end: 0.0, ..line })
        .collect();
    let svg = svg(&lines);
    let document = Document::parse(&svg).unwrap();
    assert!(marks(&document, "sending").values().all(|bar| number(bar, "width") >= 1.0));
}

#[test]
fn what_cannot_be_read_is_counted_and_not_drawn() {
    let found = |lines: &[TimelineRow]| {
        let Timelines { drawn, large, further } = timelines(&[], lines);
        (drawn.iter().map(|timeline| timeline.point).collect::<Vec<_>>(), large, further)
    };
    let mut lines = samples::timeline(0);
    lines[4].to = Some(MOST_RANKS as u32 - 1);
    assert_eq!(found(&lines), (vec![0], 0, 0));
    lines[4].to = Some(MOST_RANKS as u32);
    assert_eq!(found(&lines), (vec![], 1, 0), "65 ranks");
    lines[4].to = Some(u32::MAX);
    assert_eq!(found(&lines), (vec![], 1, 0));
    let line = &samples::timeline(3)[0];
    assert_eq!(found(&vec![line.clone(); MOST_LINES]), (vec![3], 0, 0));
    assert_eq!(found(&vec![line.clone(); MOST_LINES + 1]), (vec![], 1, 0));
    lines.extend((1..16).rev().flat_map(samples::timeline));
    let first: Vec<u32> = (1..=MOST_POINTS as u32).collect();
    assert_eq!(found(&lines), (first, 1, 3), "a large point is none of the first");
    assert_eq!(found(&[]), (vec![], 0, 0));
}

#[test]
fn markup_in_settings_stays_text() {
    let mut rows = samples::pings();
    let attack = "</text><script>alert('x')</script> & \"more\"";
    rows[0].settings = vec![("work".to_owned(), Setting::Text(attack.to_owned()))];
    let found = timelines(&rows, &samples::timeline(0));
    let document = Document::parse(&found.drawn[0].svg).unwrap();
    assert!(!document.descendants().any(|node| node.has_tag_name("script")));
    let title = format!("Time line of point 0: work {attack}");
    assert!(document.descendants().any(|node| node.text() == Some(&title)));
}

proptest! {
    #[test]
    fn any_lines_make_a_valid_document(
        lines in prop::collection::vec(
            (0..5u32, prop::option::of(0..5u32), [(); 3].map(|()| samples::any_number())),
            1..12,
        )
    ) {
        let line = |(rank, to, [begin, left, end]): (u32, Option<u32>, [f64; 3])| TimelineRow {
            point: 0, rank, to, bytes: to, begin, left, end,
        };
        let lines: Vec<TimelineRow> = lines.into_iter().map(line).collect();
        let svg = svg(&lines);
        let document = Document::parse(&svg).unwrap();
        for node in document.descendants() {
            for name in ["x", "y", "width", "height", "d"] {
                let place = node.attribute(name).unwrap_or("");
                prop_assert!(!place.contains("NaN") && !place.contains("inf"), "{name}={place}");
            }
        }
        prop_assert_eq!(self::svg(&lines), svg, "the same lines give the same bytes");
    }
}

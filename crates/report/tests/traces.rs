//! What the rails of a box carried, drawn and told.

use std::fs;
use std::path::Path;

use crosstie_report::{Terminal, figure, trace_page, write_trace};
use crosstie_study::trace::TraceFolder;
use roxmltree::{Document, Node, ParsingOptions};
use tempfile::{TempDir, tempdir};

const BOX: &str = "title = \"A <b>rail</b> that dies\"\ndescription = \"Down & up\"\nhosts = 2\n\
                   [[rail]]\nname = \"dying\"\nrate = \"1 Gbit/s\"\nshape = \"switch\"\n\
                   [[rail]]\nname = \"free\"\n\
                   [[event]]\nat = \"300 ms\"\nrail = \"dying\"\ndown = true\nfor = \"200 ms\"\n\
                   [[event]]\nat = \"9 s\"\nrail = \"dying\"\nrate = \"250 Mbit/s\"\n";

const META: &str = r#"{"format": 1, "crosstie": "0.1.0", "program": ["sh", "-c", "echo '</pre>'"],
    "seconds": 0.805, "columns": {}}"#;

const EVENTS: &str = "time_s,late_s,rail,host,what\n0.3,0.0004,dying,,down\n0.5,0.0002,dying,,up\n";

/// A second in which host0 sends to host1 but while the rail is down; nothing on the other rail.
fn rails() -> String {
    let mut text = String::from("time_s,rail,host,end,bytes,frames,drops,queue_bytes\n");
    for tick in 1..=8u32 {
        let time = f64::from(tick) / 10.0;
        let down = (4..=5).contains(&tick);
        let bytes = if down { 0 } else { 12_500_000 };
        let (drops, queue) = (u32::from(tick == 7) * 20, if down { 0 } else { 1_000_000 });
        text += &format!("{time},dying,host0,nic,{bytes},8333,{drops},{queue}\n");
        text += &format!("{time},dying,host1,switch,{bytes},8333,0,0\n");
    }
    text + "0.805,dying,host0,nic,1250000,833,0,0\n0.805,free,host0,nic,0,0,0,0\n"
}

fn folder() -> TempDir {
    let folder = tempdir().unwrap();
    let files = [("box.toml", BOX), ("trace.json", META), ("events.csv", EVENTS)];
    for (name, content) in files.into_iter().chain([("rails.csv", rails().as_str())]) {
        fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

fn open(folder: &Path) -> TraceFolder {
    TraceFolder::open(folder).unwrap()
}

fn texts<'a>(document: &'a Document<'_>, class: &str) -> Vec<&'a str> {
    let texts = document.descendants().filter(|node| node.attribute("class") == Some(class));
    texts.filter_map(|node| node.text()).collect()
}

/// The text of every title below an element of a class.
fn tips<'a>(document: &'a Document<'_>, class: &str) -> Vec<&'a str> {
    let is = |node: &Node<'_, '_>| node.attribute("class") == Some(class);
    let marks = document.descendants().filter(is).flat_map(|node| node.descendants());
    marks.filter(|node| node.has_tag_name("title")).filter_map(|node| node.text()).collect()
}

#[test]
fn every_rail_is_drawn_and_drops_if_there_were_any() {
    let drawings = figure::rails(&open(folder().path()));
    let names: Vec<&str> = drawings.iter().map(|drawing| drawing.name.as_str()).collect();
    assert_eq!(names, ["rail-dying", "rail-free", "drops"]);

    let document = Document::parse(&drawings[0].svg).unwrap();
    assert_eq!(texts(&document, "mark"), ["down", "up"]);
    assert_eq!(
        tips(&document, "marks"),
        ["down\n0.3 s, 0.4000 ms late", "up\n0.5 s, 0.2000 ms late"]
    );
    let svg = &drawings[0].svg;
    for words in [">from host0<", ">to host1<", ">line rate<", "rate [Mbit/s]", "time [s]"] {
        assert!(svg.contains(words), "{words}: {svg}");
    }
    assert!(!svg.contains("from host1"), "nothing came from there");
    // What host0 sends is what host1 receives: the later one is narrower, and neither hides the
    // other.
    let lines = document.descendants().find(|node| node.attribute("class") == Some("lines"));
    let strokes: Vec<_> = lines
        .unwrap()
        .children()
        .filter(|node| node.has_tag_name("path"))
        .map(|node| ["stroke", "stroke-width", "stroke-dasharray"].map(|name| node.attribute(name)))
        .collect();
    assert_eq!(
        strokes,
        [("#7F7F7F", "1"), ("#0072B2", "4.4"), ("#D55E00", "1.6")].map(|(colour, width)| [
            Some(colour),
            Some(width),
            None
        ])
    );
    let points = tips(&document, "series");
    assert_eq!(points[0], "from host0\n0.05000 s\n1000 Mbit/s");
    assert_eq!(points[3], "from host0\n0.3500 s\n0 Mbit/s");
    // The last 5 ms carried 1.25 MB, which a bucket lets through at once; they are no peak of their
    // own.
    assert_eq!(points[7], "from host0\n0.7525 s\n1048 Mbit/s");

    let free = &drawings[1].svg;
    assert!(free.contains("nothing was carried") && !free.contains("line rate"), "{free}");
    let drops = Document::parse(&drawings[2].svg).unwrap();
    assert_eq!(texts(&drops, "mark"), ["dying down", "dying up"]);
    assert_eq!(tips(&drops, "series")[6], "dying, from host0\n0.6500 s\n200.0 frames/s");

    let quiet = folder();
    let without = rails().replace(",20,", ",0,");
    fs::write(quiet.path().join("rails.csv"), without).unwrap();
    assert_eq!(figure::rails(&open(quiet.path())).len(), 2, "nothing was dropped");
}

#[test]
fn the_page_holds_everything_and_no_markup_of_others() {
    let trace = open(folder().path());
    let html = trace_page(&trace, &figure::rails(&trace));
    for part in ["figures", "results", "events", "rerun"] {
        assert!(html.contains(&format!("<section id=\"{part}\"")), "no section {part}");
    }
    assert!(html.contains("<h1>A &lt;b&gt;rail&lt;/b&gt; that dies</h1>"), "{html}");
    assert!(html.contains("<dt>events</dt><dd>2 of 3</dd>"), "{html}");
    assert!(html.contains("-- sh -c &#39;echo &#39;\\&#39;&#39;&lt;/pre&gt;"), "{html}");
    assert!(html.contains("for = &quot;200 ms&quot;"), "{html}");
    assert!(!html.contains("has no end"), "{html}");
    let mut markup = html.clone();
    for tag in ["style", "script"] {
        let (start, end) = (markup.find(&format!("<{tag}>")), markup.rfind(&format!("</{tag}>")));
        markup.replace_range(start.unwrap()..end.unwrap() + tag.len() + 3, "");
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let document = Document::parse_with_options(&markup, options).unwrap();
    let rows = document.descendants().filter(|node| node.has_tag_name("tr"));
    let cells = |row: Node<'_, '_>| -> String {
        let cells = row.children().map(|cell| {
            let texts = cell.descendants().filter(|node| node.is_text());
            texts.filter_map(|text| text.text()).collect::<Vec<_>>().join(" ")
        });
        cells.collect::<Vec<_>>().join(" | ")
    };
    let rows: Vec<String> = rows.map(cells).collect();
    assert_eq!(
        rows[..2],
        [
            "rail | host | end | carried MB | frames | mean Mbit/s | peak Mbit/s | busiest | dropped | \
             queue kB",
            "dying | host0 | nic | 76.25 | 67,497 | 757.8 | 1000.0 | 100.0% | 20 | 1000.0"
        ]
    );
    assert_eq!(rows[5], "free | host0 | nic | 0 | 0 | 0 | 0 | – | 0 | 0");
}

#[test]
fn a_report_of_a_trace_is_figures_and_a_page() {
    let folder = folder();
    let figures = folder.path().join("figures");
    let files = write_trace(&open(folder.path()), folder.path()).unwrap();
    let expected = ["rail-dying.svg", "rail-free.svg", "drops.svg"].map(|name| figures.join(name));
    assert!(expected.iter().all(|file| files.contains(file)), "{files:?}");
    assert_eq!(files.last(), Some(&folder.path().join("report.html")));
    let page = fs::read(folder.path().join("report.html")).unwrap();
    fs::write(folder.path().join("rails.csv"), rails().replace(",20,", ",0,")).unwrap();
    write_trace(&open(folder.path()), folder.path()).unwrap();
    assert!(!figures.join("drops.svg").exists(), "what is no longer drawn is gone");
    fs::write(folder.path().join("rails.csv"), rails()).unwrap();
    write_trace(&open(folder.path()), folder.path()).unwrap();
    assert_eq!(fs::read(folder.path().join("report.html")).unwrap(), page, "the same bytes");
}

#[test]
fn what_was_broken_off_says_so() {
    let folder = folder();
    fs::write(folder.path().join("trace.json"), META.replace("0.805", "null")).unwrap();
    let trace = open(folder.path());
    assert!(trace_page(&trace, &[]).contains("reaches to 0.8050 s"));
}

#[test]
fn long_runs_of_many_hosts_stay_readable() {
    let folder = folder();
    let many = "hosts = 40\n[[rail]]\nname = \"wide\"\nrate = \"10 Gbit/s\"\n";
    fs::write(folder.path().join("box.toml"), many).unwrap();
    let event = |i: usize| format!("{i},0,wide,host{},down\n", i % 40);
    let events: String = (0..500).map(event).collect();
    let events = format!("time_s,late_s,rail,host,what\n{events}");
    fs::write(folder.path().join("events.csv"), events).unwrap();
    let mut text = String::from("time_s,rail,host,end,bytes,frames,drops,queue_bytes\n");
    for second in 1..=3600 {
        for host in 0..40 {
            text += &format!("{second},wide,host{host},nic,{},9,0,0\n", 1_000_000 * (host + 1));
        }
    }
    fs::write(folder.path().join("rails.csv"), text).unwrap();
    let trace = open(folder.path());
    let drawing = figure::rails(&trace).remove(0);
    assert!(drawing.svg.contains("every point is the mean over 10 s"), "one pixel and more");
    assert!(drawing.svg.contains("16 of 40 ends are drawn, those with most"));
    assert!(drawing.svg.contains("the first 200 of 500 events are marked"));
    assert!(drawing.svg.contains(">from host39<") && !drawing.svg.contains(">from host7<"));
    assert!(drawing.svg.len() < 300_000, "{}", drawing.svg.len());
    assert!(trace_page(&trace, &[drawing]).len() < 600_000);
    let table = Terminal { width: 100, unicode: true, colour: false }.carried(&trace.summary);
    assert_eq!(table.lines().count(), 34);
    assert!(table.ends_with("and 48 ends that carried no more\n"), "{table}");
}

#[test]
fn numbers_that_no_run_has_are_drawn_without_harm() {
    let folder = folder();
    let most = u64::MAX;
    for times in [["0", "0"], ["0.1", "1e9"], ["0", "1e-300"], ["1e9", "1e9"]] {
        let [one, other] = times;
        let lines = format!(
            "time_s,rail,host,end,bytes,frames,drops,queue_bytes\n\
             {one},dying,host0,nic,{most},{most},{most},{most}\n\
             {other},dying,host0,nic,{most},{most},{most},{most}\n{other},free,host0,nic,1,1,1,1\n"
        );
        fs::write(folder.path().join("rails.csv"), lines).unwrap();
        let trace = open(folder.path());
        for drawing in figure::rails(&trace) {
            Document::parse(&drawing.svg).unwrap();
            assert!(!drawing.svg.contains("NaN"), "{}", drawing.svg);
        }
        trace_page(&trace, &[]);
        Terminal { width: 40, unicode: false, colour: false }.carried(&trace.summary);
    }
}

#[test]
fn the_table_has_one_unit_per_column() {
    let trace = open(folder().path());
    let table = Terminal { width: 100, unicode: true, colour: false }.carried(&trace.summary);
    let expected = "\
rail   host   end     carried [MB]  mean [Mbit/s]  busiest  dropped  queue [kB]
dying  host0  nic            76.25          757.8   100.0%       20      1000.0
dying  host0  switch             0              0     0.0%        0           0
dying  host1  nic                0              0     0.0%        0           0
dying  host1  switch         75.00          745.3   100.0%        0           0
free   host0  nic                0              0        –        0           0
free   host1  nic                0              0        –        0           0
";
    assert_eq!(table, expected);
    let narrow = Terminal { width: 40, unicode: false, colour: false }.carried(&trace.summary);
    assert!(narrow.lines().all(|line| line.chars().count() <= 40), "{narrow}");
    assert!(narrow.is_ascii(), "{narrow}");
}

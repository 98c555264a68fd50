//! The page: complete, self-contained, and deaf to markup in foreign text.

mod samples;

use crosstie_report::page;
use crosstie_study::{ChannelRow, ResultSet, SideTables, Table};
use proptest::prelude::*;
use roxmltree::{Document, ParsingOptions};

/// The page without its script and style, which are no XML.
fn markup(html: &str) -> String {
    let mut markup = html.to_owned();
    for tag in ["style", "script"] {
        let start = markup.find(&format!("<{tag}>")).unwrap();
        let end = markup.rfind(&format!("</{tag}>")).unwrap();
        markup.replace_range(start..end + tag.len() + 3, "");
    }
    markup
}

fn parse(markup: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(markup, options).unwrap()
}

/// The cells of a section's tables, as text, row by row.
fn cells(document: &Document, section: &str) -> Vec<Vec<String>> {
    let section =
        document.descendants().find(|node| node.attribute("id") == Some(section)).unwrap();
    let rows = section.descendants().filter(|node| node.has_tag_name("tr"));
    rows.map(|row| {
        let cells = row.children().filter(|node| node.is_element());
        cells
            .map(|cell| {
                cell.descendants()
                    .filter_map(|node| node.text())
                    .next_back()
                    .unwrap_or("")
                    .to_owned()
            })
            .collect()
    })
    .collect()
}

#[test]
fn the_page_holds_everything_and_asks_for_nothing() {
    let html = page(&samples::results(), &samples::side());
    for part in ["figures", "results", "channels", "rerun", "glossary"] {
        assert!(html.contains(&format!("<section id=\"{part}\"")), "no section {part}");
    }
    assert_eq!(html.matches("<figure ").count(), 3);
    assert!(html.contains("crosstie run study.toml"));
    assert!(html.contains("[fabric.tree]"));
    assert!(html.contains("prefers-color-scheme: dark") && html.contains("@media print"));
    for asking in [" src=", " href=", "url(", "@import", "fetch("] {
        assert!(!html.contains(asking), "the page must not load anything: found `{asking}`");
    }
    let elsewhere = html.matches("http").count();
    let names = html.matches("xmlns=\"http://www.w3.org/2000/svg\"").count();
    let policy = html.matches("http-equiv").count();
    assert_eq!(elsewhere, names + policy, "the only addresses are XML names");
}

#[test]
fn rows_read_as_in_a_paper() {
    let html = page(&samples::results(), &SideTables::default());
    let markup = markup(&html);
    let document = parse(&markup);
    let table = cells(&document, "results");
    assert_eq!(table.len(), 43);
    let start = |row: &[String], cells: usize| row[..cells].join(" | ");
    assert_eq!(
        start(&table[1], 7),
        "0 | adaptive | 0.05 | converged | 0.05000 | 0.04998 ± 0.00020 | 63.49 ± 0.68"
    );
    assert_eq!(
        start(&table[13], 7),
        "12 | adaptive | 0.65 | saturated | 0.6500 | 0.6191 ± 0.0040 | –"
    );
    // Numbers first, words last.
    let last = |row: &[String]| row.last().cloned().unwrap_or_default();
    assert_eq!(
        (last(&table[1]), last(&table[13])),
        ("".into(), "accepted stays below offered".into())
    );
    assert!(!html.contains("<section id=\"channels\""));
}

#[test]
fn channels_are_ranked_twice() {
    let html = page(&samples::results(), &samples::side());
    let markup = markup(&html);
    let document = parse(&markup);
    let table = cells(&document, "channels");
    let column = |rows: &[Vec<String>], i: usize| -> Vec<f64> {
        rows.iter().map(|row| row[i].trim_end_matches('%').parse().unwrap()).collect()
    };
    assert_eq!(table.len(), 2 * 21);
    assert!(column(&table[1..21], 3).is_sorted_by(|a, b| a >= b));
    assert!(column(&table[22..], 4).is_sorted_by(|a, b| a >= b));
    assert!(html.contains("point 7: engine adaptive, load 0.4"));
}

#[test]
fn tables_are_laid_out_in_the_page() {
    let mut results = samples::closed_loop();
    results.tables = vec![Table {
        name: Some("latency".to_owned()),
        title: Some("Latency <of> a ping".to_owned()),
        rows: "work.ping.size".to_owned(),
        columns: Some("world".to_owned()),
        value: vec!["latency".to_owned()],
    }];
    let html = page(&results, &SideTables::default());
    let markup = markup(&html);
    let table = cells(&parse(&markup), "tables");
    assert_eq!(table[0], ["size", "wormhole", "ideal"]);
    assert_eq!(table[2], ["1 KiB", "3.170", "2.610"]);
    assert_eq!(table[3], ["64 KiB", "164.5", "failed"]);
    assert!(html.contains("<h3>Latency &lt;of&gt; a ping [us]</h3>"), "{html}");
}

#[test]
fn ranks_are_listed_where_they_are_few() {
    let few = samples::ranks(&samples::pings(), 2);
    let html = page(&samples::closed_loop(), &few);
    let markup = markup(&html);
    let table = cells(&parse(&markup), "ranks");
    assert_eq!(table[1..3], [["0", "250.5"], ["1", "251.5"]]);
    assert!(html.contains("2 ranks, the last done at 251.5 us"), "{html}");
    for word in ["completed", "failed", "all of the work is done"] {
        assert!(html.contains(word), "no {word}");
    }
    assert!(!html.contains("converged: every mean"), "words of traffic");
    let many = page(&samples::closed_loop(), &samples::ranks(&samples::pings(), 64));
    assert!(many.contains("ranks.csv") && !many.contains("<td class=\"number\">250.5</td>"));
}

#[test]
fn time_lines_follow_the_figures() {
    let mut results = samples::closed_loop();
    let html = page(&results, &samples::timelines(2));
    let markup = markup(&html);
    parse(&markup);
    assert!(html.contains("<section id=\"timelines\">\n<h2>Time lines</h2>"));
    assert!(html.contains("<figure data-name=\"timeline-1\">"));
    assert!(html.contains(">Time line of point 1: world wormhole, size 1 KiB</text>"));
    assert!(!html.contains("Not drawn"), "nothing is left out");

    results.figures = samples::figures();
    let html = page(&results, &samples::timelines(1));
    let at = |id: &str| html.find(&format!("<section id=\"{id}\"")).unwrap();
    assert!(at("figures") < at("timelines") && at("timelines") < at("results"));
    assert!(!page(&results, &SideTables::default()).contains("id=\"timelines\""));
}

#[test]
fn the_page_says_which_time_lines_are_not_drawn() {
    let results = samples::closed_loop();
    let mut side = samples::timelines(15);
    assert!(page(&results, &side).contains("Not drawn: 3 points after the first 12. All of"));
    side.timeline[0].to = Some(64);
    assert!(page(&results, &side).contains(
        "Not drawn: 1 point with more than 64 ranks, or more than 2000 messages and computations; \
         2 points after the first 12. All of them are in timeline.csv."
    ));
}

#[test]
fn an_unfinished_study_says_how_much_is_missing() {
    let mut results = samples::results();
    results.rows.truncate(5);
    assert!(page(&results, &SideTables::default()).contains("<dd>5 of 42</dd>"));
}

fn poisoned(text: &str) -> ResultSet {
    let mut results = samples::results();
    let meta = &mut results.meta;
    for field in [&mut meta.title, &mut meta.crosstie, &mut meta.rerun, &mut results.study] {
        text.clone_into(field);
    }
    (meta.citation, meta.description) = (Some(text.to_owned()), Some(text.to_owned()));
    results.figures[0].name = text.to_owned();
    results.rows.truncate(3);
    results.rows[0].note = text.to_owned();
    results.rows[0].settings[0].0 = text.to_owned();
    results
}

#[test]
fn markup_in_foreign_text_stays_text() {
    let attack = "</pre></style></script><script>alert(1)</script><img onerror=\"x\" '";
    let mut side = samples::side();
    let ChannelRow { from, to, kind, .. } = &mut side.channels[0];
    for text in [from, to, kind] {
        attack.clone_into(text);
    }
    let html = page(&poisoned(attack), &side);
    assert_eq!(html.matches("<script").count(), 1, "the page's own");
    assert!(!html.contains("<img"));
    parse(&markup(&html));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_results_make_a_well_formed_page(
        text in any::<String>(),
        rows in samples::any_rows(),
        figure in samples::any_figure(),
        share in samples::any_number(),
        time in samples::any_number(),
    ) {
        let mut results = poisoned(&text);
        results.rows = rows;
        results.figures = vec![figure];
        let mut side = samples::side();
        (side.channels[0].utilisation, side.channels[1].blocked) = (share, share);
        side.timeline = samples::timeline(0);
        (side.timeline[0].left, side.timeline[1].begin) = (time, time);
        parse(&markup(&page(&results, &side)));
    }
}

//! The page and the terminal table of a paper.

mod samples;

use crosstie_report::{PaperPart, PaperReport, Terminal, paper_page, write_paper};
use crosstie_study::paper::{
    Estimate, Finding, Grid, GridRow, Measured, Missing, Parameter, Published, Truth,
};
use proptest::prelude::*;
use roxmltree::{Document, ParsingOptions};

const PUBLISHED: &str = "
[[claim]]
id = 'headline'
source = 'Abstract'
says = 'largest gain of dynamic over local-dynamic'
kind = 'stated'
value = 49
unit = '%'
tolerance = { abs = 15 }

[[claim]]
id = 'f12.loss'
source = 'Figure 12'
says = 'loss from 32 to 128 nodes'
kind = 'unreadable'
min = 2
max = 9
pattern = 'd%'
unit = '%'
note = 'one digit that is not 1'

[[claim]]
id = 'f16.dynamic'
source = 'Figure 16'
says = 'saturation point of dynamic by message size'
kind = 'stated'
shape = 'rises'

[[claim]]
id = 'intro.pci'
source = 'Section 1'
says = 'bandwidth of a PCI bus'
kind = 'inferred'
value = 300
unit = 'MB/s'
tolerance = 'exact'

[[claim]]
id = 'concl.gain'
source = 'Section 7'
says = 'gain of `hybrid`'
kind = 'stated'
value = 5
unit = '%'
tolerance = { abs = 4 }

[[parameter]]
id = 'par.rails'
source = 'Section 5.1'
says = 'rails where nothing else is said'
kind = 'stated'
published = '4'
used = '4'

[[check]]
id = 'check.1'
asks = 'gain is shown'
claims = ['headline']
tests = ['crates/report/tests/papers.rs the_page_has_claims_parts_and_parameters']
";

fn published() -> Published {
    Published::parse("published", PUBLISHED).unwrap_or_else(|mistake| panic!("{mistake}"))
}

/// One finding of every kind.
fn findings() -> Vec<Finding> {
    let outcomes = [
        Ok(Measured::Number(Estimate::about(41.25, 2.5))),
        Ok(Measured::exact(14.0)),
        Err(Missing("fig16 has not been run to its end".to_owned())),
        Ok(Measured::beyond("a property of hardware of the time")),
        Ok(Measured::Number(Estimate { value: 4.0, low: -1.0, high: 12.0 })),
    ];
    let findings = published().claims.into_iter().zip(outcomes);
    findings
        .map(|(claim, outcome)| {
            let remark = (claim.id == "f12.loss").then(|| "the topology is a guess".to_owned());
            Finding { claim, outcome, live: None, remark }
        })
        .collect()
}

fn parts() -> Vec<PaperPart> {
    let part = |name: &str, results| PaperPart {
        name: name.to_owned(),
        title: format!("All of {name}"),
        results,
    };
    vec![part("fig12", Some(samples::results())), part("fig16", None)]
}

fn html(findings: &[Finding], parameters: &[Parameter], parts: &[PaperPart], text: &str) -> String {
    paper_page(&PaperReport {
        title: text,
        citation: text,
        quick: true,
        version: text,
        rerun: text,
        findings,
        parameters,
        checks: &published().checks,
        drawings: &[(samples::latency_figure(), samples::load_curves())],
        grids: &[Grid {
            title: "Table 1".to_owned(),
            heads: vec!["nodes".to_owned()],
            columns: vec!["gain".to_owned(), "loss".to_owned()],
            rows: vec![GridRow {
                names: vec!["128".to_owned()],
                cells: vec!["headline".to_owned(), "not there".to_owned()],
            }],
        }],
        parts,
    })
}

/// Parses a page without its script and style, which are no XML.
fn assert_well_formed(html: &str) {
    let mut markup = html.to_owned();
    for tag in ["style", "script"] {
        let start = markup.find(&format!("<{tag}>")).unwrap();
        let end = markup.rfind(&format!("</{tag}>")).unwrap();
        markup.replace_range(start..end + tag.len() + 3, "");
    }
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(&markup, options).unwrap();
}

#[test]
fn the_page_has_claims_parts_and_parameters() {
    let html = html(&findings(), &published().parameters, &parts(), "Rails");
    for words in [
        "1 agrees, 1 differs, 1 not resolved, 1 not checkable, 1 missing",
        "<summary>1 claim: the interval of the measurement",
        "<li>gain of <code>hybrid</code> (Section 7). Published: 5%. Measured: 4.0% (-1.0 to 12.0%).</li>",
        "<strong>The quick form:</strong>",
        "49%<br/><small>stated, accepted: 34 to 64%</small>",
        "<td class=\"words\"><span>41.2 ± 2.5%</span></td>",
        "d%: 2 to 9%",
        "<td class=\"status differs\"><span>differs</span></td>",
        "<td class=\"note\">the topology is a guess<br/>one digit that is not 1</td>",
        "fig16 has not been run to its end.",
        "<summary>42 points as a table</summary>",
        "<a href=\"fig12/report.html\">",
        "rails where nothing else is said",
        "<li>loss from 32 to 128 nodes (Figure 12). Published: d%: 2 to 9%. Measured: 14%.</li>\n</ul>\n\
         <p class=\"remark\">the topology is a guess</p>",
        "<h2>Further figures</h2>",
        "<h2>What a reproduction must show</h2>",
        "headline: agrees",
        "<tr><td>128</td><td class=\"number cell\">49%</td><td class=\"number status agrees\"><span>41.2 ± \
         2.5%</span></td><td class=\"number\">0.84</td><td class=\"number cell\">–</td>",
    ] {
        assert!(html.contains(words), "no `{words}`");
    }
    assert_eq!(html.matches("<figure ").count(), 1 + 3);
    assert_well_formed(&html);
}

#[test]
fn the_page_is_written_into_its_folder() {
    let folder = tempfile::tempdir().unwrap();
    let (findings, parts) = (findings(), parts());
    let paper = PaperReport {
        title: "Rails",
        citation: "Coll et al.",
        quick: false,
        version: "0.1.0",
        rerun: "crosstie paper coll-multirail",
        findings: &findings,
        parameters: &[],
        checks: &[],
        drawings: &[],
        grids: &[],
        parts: &parts,
    };
    let file = write_paper(&paper, &folder.path().join("coll")).unwrap();
    assert_eq!(file, folder.path().join("coll/report.html"));
    let html = std::fs::read_to_string(file).unwrap();
    assert!(html.contains("<pre><code>crosstie paper coll-multirail</code></pre>"));
    assert!(!html.contains("The quick form") && !html.contains("Further figures"));
}

#[test]
fn the_terminal_lists_claims_and_tells_differences_in_full() {
    let terminal = Terminal { width: 72, unicode: true, colour: false };
    assert_eq!(
        terminal.claims(&findings()),
        "\
claim        kind        published    measured      ratio  agreement
headline     stated      49%          41.2 ± 2.5%   0.84   agrees
f12.loss     unreadable  d%: 2 to 9%  14%                  differs
f16.dynamic  stated      rises        fig16 has n…         missing
intro.pci    inferred    300 MB/s     a property …         not checkable
concl.gain   stated      5%           4.0% (-1.0 …  0.80   not resolved

f12.loss, Figure 12: loss from 32 to 128 nodes
  published: d%: 2 to 9%
  measured:  14%
  remark:    the topology is a guess

1 agrees, 1 differs, 1 not resolved, 1 not checkable, 1 missing
"
    );
    let coloured = Terminal { colour: true, unicode: false, ..terminal }.claims(&findings());
    assert!(coloured.contains("\x1b[35mdiffers\x1b[0m\n") && coloured.contains("41.2 +- 2.5%"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn any_text_makes_a_well_formed_page_and_short_lines(
        text in any::<String>(),
        number in samples::any_number(),
        width in 0usize..200,
    ) {
        let mut findings = findings();
        for finding in &mut findings {
            let claim = &mut finding.claim;
            for field in [&mut claim.id, &mut claim.source, &mut claim.says, &mut claim.unit] {
                text.clone_into(field);
            }
            finding.remark = Some(text.clone());
        }
        findings[0].outcome = Ok(Measured::Number(Estimate { value: number, low: -number, high: number }));
        findings[1].outcome = Ok(Measured::shape(Truth::Open, text.as_str()));
        let mut parts = parts();
        text.clone_into(&mut parts[0].name);
        text.clone_into(&mut parts[1].title);
        assert_well_formed(&html(&findings, &published().parameters, &parts, &text));
        let shown = Terminal { width, unicode: false, colour: false }.claims(&findings);
        prop_assert!(shown.is_ascii() && !shown.contains('\x1b'));
        let table = shown.lines().take(1 + findings.len());
        let most = width.max(40);
        prop_assert!(table.into_iter().all(|line| line.len() <= most), "{shown}");
    }
}

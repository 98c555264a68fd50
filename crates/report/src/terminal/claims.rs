//! Claims beside measurements: a line each, outcomes first, and in full where they differ.

use crosstie_study::paper::{Agreement, Finding};

use super::Terminal;
use crate::comparison::{self, Apart};
use crate::escape::one_line;

/// Space between columns.
const GAP: usize = 2;
/// A column of words is not cut below this.
const LEAST: usize = 12;

pub(super) fn claims(terminal: &Terminal, findings: &[Finding]) -> String {
    let counted: Vec<&Finding> = findings.iter().filter(|f| f.claim.counts()).collect();
    let mut text = table(terminal, &counted);
    for apart in Apart::ALL {
        let there: Vec<&Finding> = apart.of(findings).collect();
        if !there.is_empty() {
            text += &format!("\napart from the totals: {}\n", apart.words());
            text += &table(terminal, &there);
        }
    }
    let live = live(terminal, findings);
    text + &differences(terminal, findings) + &live + "\n" + &comparison::count(findings) + "\n"
}

/// A line for each claim.
fn table(terminal: &Terminal, findings: &[&Finding]) -> String {
    let cells = |cell: &dyn Fn(&Finding) -> String, head: &str| -> Vec<String> {
        let spell = |text: String| terminal.spell(&one_line(&text));
        std::iter::once(head.to_owned()).chain(findings.iter().map(|f| spell(cell(f)))).collect()
    };
    let mut columns = [
        cells(&|finding| finding.claim.id.clone(), "claim"),
        cells(&|finding| finding.claim.kind.word().to_owned(), "kind"),
        cells(&|finding| comparison::published(&finding.claim), "published"),
        cells(&|finding| comparison::measured(finding), "measured"),
        cells(&|finding| comparison::ratio(finding), "ratio"),
    ];
    let width = |cells: &[String]| cells.iter().map(|cell| cell.chars().count()).max().unwrap_or(0);
    let agreement = Agreement::ALL.map(|agreement| agreement.words().len());
    let agreement = agreement.into_iter().max().unwrap_or(0);
    // Published and measured share what the others leave, and a short one leaves its half.
    let others = [0, 1, 4].map(|column| width(&columns[column])).iter().sum::<usize>();
    let rest = terminal.width.saturating_sub(others + agreement + 5 * GAP);
    let least = (rest / 2).max(LEAST);
    let (published, measured) = (width(&columns[2]), width(&columns[3]));
    let measured = measured.min(least.max(rest.saturating_sub(published)));
    let published = published.min(rest.saturating_sub(measured).max(LEAST));
    for (column, room) in [(2, published), (3, measured)] {
        for cell in &mut columns[column] {
            *cell = terminal.fitted(cell, room);
        }
    }
    let widths = columns.each_ref().map(|cells| width(cells));
    let mut text = String::new();
    for line in 0..=findings.len() {
        let padded = columns.iter().zip(widths).map(|(cells, width)| {
            let cell = &cells[line];
            format!("{cell:<width$}{:GAP$}", "")
        });
        let start: String = padded.collect();
        let room = terminal.width.saturating_sub(agreement);
        let start = terminal.fitted(&start, room);
        let end = match line.checked_sub(1).map(|i| findings[i].agreement()) {
            None => "agreement".to_owned(),
            Some(agreement) if terminal.colour => {
                format!("\x1b[{}m{agreement}\x1b[0m", ansi(agreement))
            }
            Some(agreement) => agreement.to_string(),
        };
        text += &format!("{start}{end}\n");
    }
    text
}

/// What real ranks have measured, claim by claim.
fn live(terminal: &Terminal, findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let found = comparison::live(finding).zip(finding.live_agreement());
        let Some((found, agreement)) = found else { continue };
        if text.is_empty() {
            text += "\non real rails, by real ranks\n";
        }
        let line = format!("{}: {agreement}: {found}", finding.claim.id);
        text += &wrapped(&one_line(&line), terminal.width);
    }
    let lines = text.lines().map(|line| terminal.spell(&one_line(line)) + "\n");
    lines.collect()
}

/// Every claim that differs, in full; those that differ for one reason, with the reason once.
fn differences(terminal: &Terminal, findings: &[Finding]) -> String {
    let mut text = String::new();
    for (remark, alike) in comparison::alike(findings, Agreement::Differs) {
        for finding in alike {
            let claim = &finding.claim;
            text += &format!("\n{}, {}: {}\n", claim.id, claim.source, claim.says);
            let accepted = comparison::accepted(claim);
            let accepted = accepted.map(|text| format!(" (accepted: {text})")).unwrap_or_default();
            let published = format!("published: {}{accepted}", comparison::published(claim));
            let measured = format!("measured:  {}", comparison::measured(finding));
            for line in [published, measured] {
                text += &wrapped(&one_line(&line), terminal.width);
            }
        }
        if let Some(remark) = remark {
            text += &wrapped(&one_line(&format!("remark:    {remark}")), terminal.width);
        }
    }
    let lines = text.lines().map(|line| terminal.spell(&one_line(line)) + "\n");
    lines.collect()
}

/// A text broken into lines of at most `width`, indented, the first less than the others.
fn wrapped(text: &str, width: usize) -> String {
    let (mut lines, mut line) = (String::new(), "  ".to_owned());
    for word in text.split(' ') {
        let longer = line.chars().count() + 1 + word.chars().count();
        if longer > width && !line.trim().is_empty() {
            lines += &(line.trim_end().to_owned() + "\n");
            line = "    ".to_owned();
        } else if !line.trim().is_empty() {
            line.push(' ');
        }
        line += word;
    }
    lines + line.trim_end() + "\n"
}

fn ansi(agreement: Agreement) -> &'static str {
    match agreement {
        Agreement::Agrees => "32",
        Agreement::Differs => "35",
        Agreement::NotResolved | Agreement::Missing => "33",
        Agreement::NotCheckable => "2",
    }
}

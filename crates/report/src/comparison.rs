//! Published and measured in words: what the page and the terminal share.

use crosstie_study::paper::{
    Agreement, Certainty, Claim, Estimate, Finding, Measured, Missing, Role, Series, Target,
    Tolerance,
};

use crate::number;

/// What was published: "49%", "20 to 37%", or a shape. Of an unreadable number, how it looks and
/// what it can have been.
pub(crate) fn published(claim: &Claim) -> String {
    let unit = |text: String| with_unit(text, &claim.unit);
    let text = match &claim.target {
        Target::Value(value) => unit(number::chosen(*value)),
        Target::Range { min, max } => unit(range(*min, *max)),
        Target::Shape(shape) => shape.clone(),
        Target::Series(series) => unit(column(series)),
    };
    match (&claim.pattern, claim.kind) {
        (Some(pattern), Certainty::Unreadable) => format!("{pattern}: {text}"),
        _ => text,
    }
}

/// A published column: "8x2 11.23, 8x3 8.23".
fn column(series: &Series) -> String {
    let pairs = series.labels.iter().zip(&series.values);
    let words: Vec<String> =
        pairs.map(|(label, value)| format!("{label} {}", number::chosen(*value))).collect();
    words.join(", ")
}

/// What of a column counts as the same.
fn criteria(series: &Series) -> String {
    let mut words = Vec::new();
    let mut add = |what: &str, bound: Option<f64>| {
        words.extend(bound.map(|bound| format!("{what} {}", number::chosen(bound))));
    };
    add("rank correlation at least", series.rank_min);
    add("mean distance at most", series.mean_abs_max);
    add("mean relative distance at most", series.mean_rel_max);
    add("largest over smallest at least", series.spread_min);
    add("largest over smallest at most", series.spread_max);
    words.extend(series.order.iter().map(|order| String::from(order.clone())));
    words.join(", ")
}

/// What still agrees with a claim, where that is more than what was published.
pub(crate) fn accepted(claim: &Claim) -> Option<String> {
    if let Target::Series(series) = &claim.target {
        return Some(criteria(series));
    }
    if matches!(claim.tolerance, None | Some(Tolerance::Exact)) {
        return None;
    }
    let (min, max) = claim.accepted()?;
    let ends = [min, max].map(|end| end.is_finite().then_some(end));
    Some(with_unit(range(ends[0], ends[1]), &claim.unit))
}

/// What was measured, or why nothing was.
pub(crate) fn measured(finding: &Finding) -> String {
    told(finding, &finding.outcome)
}

/// What real ranks have measured, or why they have not; nothing where they are not asked.
pub(crate) fn live(finding: &Finding) -> Option<String> {
    finding.live.as_ref().map(|live| told(finding, live))
}

fn told(finding: &Finding, outcome: &Result<Measured, Missing>) -> String {
    match outcome {
        Ok(Measured::Number(number)) => estimate(*number, &finding.claim.unit),
        other => finding.words(other).unwrap_or_default(),
    }
}

/// A number with its interval: "44.2 ± 2.5%", or "15% (4 to 75%)" where it does not lie in the
/// middle.
fn estimate(Estimate { value, low, high }: Estimate, unit: &str) -> String {
    let (below, above) = (value - low, high - value);
    let wide = below.max(above);
    if wide == 0.0 || !value.is_finite() {
        return with_unit(number::measured(value), unit);
    }
    if wide.is_finite() && (below - above).abs() <= MIDDLE * wide {
        return with_unit(number::plus_minus(value, wide), unit);
    }
    let ends = [low, high].map(|end| end.is_finite().then(|| number::rounded(end, wide)));
    let interval = match ends {
        [Some(low), Some(high)] => format!("{low} to {high}"),
        [Some(low), None] => format!("at least {low}"),
        [None, Some(high)] => format!("at most {high}"),
        [None, None] => return format!("{} (uncertain)", with_unit(number::measured(value), unit)),
    };
    let value = with_unit(number::rounded(value, wide), unit);
    format!("{value} ({})", with_unit(interval, unit))
}

/// How far from the middle of its interval a value may lie, as a share of the wider half, and still
/// be written with ±.
const MIDDLE: f64 = 0.2;

/// Measured over published: "1.07", or nothing where they are no numbers.
pub(crate) fn ratio(finding: &Finding) -> String {
    finding.ratio().map(|ratio| format!("{ratio:.2}")).unwrap_or_default()
}

/// What stands alike, by the remark that explains it, in the order in which remarks first appear.
pub(crate) fn alike(
    findings: &[Finding],
    agreement: Agreement,
) -> Vec<(Option<&str>, Vec<&Finding>)> {
    let mut groups: Vec<(Option<&str>, Vec<&Finding>)> = Vec::new();
    for finding in findings.iter().filter(|f| f.agreement() == agreement) {
        let remark = finding.remark.as_deref();
        match groups.iter_mut().find(|(other, _)| *other == remark) {
            Some((_, alike)) => alike.push(finding),
            None => groups.push((remark, vec![finding])),
        }
    }
    groups
}

/// How many outcomes agree, differ and so on, and what is listed apart: "41 agree, 3 differ; apart:
/// arithmetic: 20 agree".
pub(crate) fn count(findings: &[Finding]) -> String {
    let counted: Vec<&Finding> = findings.iter().filter(|f| f.claim.counts()).collect();
    let apart: Vec<String> = Apart::ALL
        .into_iter()
        .filter_map(|apart| {
            let there: Vec<&Finding> = apart.of(findings).collect();
            (!there.is_empty()).then(|| format!("{}: {}", apart.words(), totals(&there)))
        })
        .collect();
    match apart.is_empty() {
        true => totals(&counted),
        false => format!("{}; apart: {}", totals(&counted), apart.join("; ")),
    }
}

fn totals(findings: &[&Finding]) -> String {
    let counts = Agreement::ALL.map(|agreement| {
        let count = findings.iter().filter(|finding| finding.agreement() == agreement).count();
        (agreement, count)
    });
    let words: Vec<String> = counts
        .into_iter()
        .filter(|&(agreement, count)| count > 0 || agreement == Agreement::Agrees)
        .map(|(agreement, count)| format!("{count} {}", verb(agreement, count)))
        .collect();
    words.join(", ")
}

/// Claims that do not count in totals, and why.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Apart {
    /// They restate others.
    Restated,
    /// Experiments were fitted to them.
    Fitted,
    /// They follow from other published numbers.
    Arithmetic,
    /// They are inputs.
    Parameters,
}

impl Apart {
    /// All of them, in the order in which they are listed.
    pub const ALL: [Apart; 4] =
        [Apart::Restated, Apart::Fitted, Apart::Arithmetic, Apart::Parameters];

    /// The words for a list of them.
    pub fn words(self) -> &'static str {
        match self {
            Apart::Restated => "restated",
            Apart::Fitted => "fitted",
            Apart::Arithmetic => "arithmetic",
            Apart::Parameters => "parameters",
        }
    }

    /// What makes them so, in a sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Apart::Restated => "Claims that restate others, which count once.",
            Apart::Fitted => {
                "Outcomes to which something of the experiments was fitted: that they agree says \
                 nothing."
            }
            Apart::Arithmetic => "Numbers that follow from other published numbers, recomputed.",
            Apart::Parameters => {
                "Inputs of the machine and of the experiments: the experiments carry them, so that \
                 they are not reproduced."
            }
        }
    }

    /// Those of them among the findings.
    pub fn of(self, findings: &[Finding]) -> impl Iterator<Item = &Finding> {
        findings.iter().filter(move |finding| Apart::why(&finding.claim) == Some(self))
    }

    fn why(claim: &Claim) -> Option<Apart> {
        match claim.role {
            Role::Parameter => Some(Apart::Parameters),
            Role::Arithmetic => Some(Apart::Arithmetic),
            Role::Outcome if claim.fitted.is_some() => Some(Apart::Fitted),
            Role::Outcome => claim.same_as.is_some().then_some(Apart::Restated),
        }
    }
}

fn verb(agreement: Agreement, count: usize) -> &'static str {
    match (agreement, count) {
        (Agreement::Agrees, 1) => "agrees",
        (Agreement::Agrees, _) => "agree",
        (Agreement::Differs, 1) => "differs",
        (Agreement::Differs, _) => "differ",
        (other, _) => other.words(),
    }
}

fn range(min: Option<f64>, max: Option<f64>) -> String {
    match (min, max) {
        (Some(min), Some(max)) => format!("{} to {}", number::chosen(min), number::chosen(max)),
        (Some(min), None) => format!("at least {}", number::chosen(min)),
        (None, Some(max)) => format!("at most {}", number::chosen(max)),
        (None, None) => number::MISSING.to_owned(),
    }
}

fn with_unit(number: String, unit: &str) -> String {
    match unit {
        "" => number,
        "%" => number + "%",
        // Of a word there may be one: "1 rail". Symbols such as "ns" and "MB/s" stay as they are.
        word if number == "1" && word.len() > 3 && word.chars().all(char::is_alphabetic) => {
            let long = ["ches", "sses"].into_iter().any(|ending| word.ends_with(ending));
            format!("1 {}", word.strip_suffix(if long { "es" } else { "s" }).unwrap_or(word))
        }
        unit => format!("{number} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crosstie_study::paper::{Missing, Published};

    fn claim(rest: &str) -> Claim {
        let text = format!("[[claim]]\nid = 'x'\nsource = 'Figure 1'\nsays = 'gain'\n{rest}");
        let published = Published::parse("x", &text).unwrap_or_else(|mistake| panic!("{mistake}"));
        published.claims.into_iter().next().unwrap()
    }

    #[test]
    fn claims_in_words() {
        let value = claim("kind = 'stated'\nvalue = 49\nunit = '%'\ntolerance = { abs = 15 }");
        assert_eq!(published(&value), "49%");
        assert_eq!(accepted(&value).as_deref(), Some("34 to 64%"));
        let lost = claim("kind = 'unreadable'\nmin = 20\nmax = 99\npattern = 'dd%'\nunit = '%'");
        assert_eq!(published(&lost), "dd%: 20 to 99%");
        assert_eq!(accepted(&lost), None);
        let bound = claim("kind = 'inferred'\nmax = 50\npattern = 'dd'\ntolerance = { abs = 1 }");
        assert_eq!(published(&bound), "at most 50");
        assert_eq!(accepted(&bound).as_deref(), Some("at most 51"));
        let exact = claim("kind = 'stated'\nvalue = 6\nunit = 'rails'\ntolerance = 'exact'");
        assert_eq!((published(&exact).as_str(), accepted(&exact)), ("6 rails", None));
        let one = Claim { target: Target::Value(1.0), ..exact };
        assert_eq!(published(&one), "1 rail");
        assert_eq!(published(&Claim { unit: "MB/s".into(), ..one }), "1 MB/s");
        let shape = claim("kind = 'stated'\nshape = 'rises'\ntolerance = { rel = 0.1 }");
        assert_eq!((published(&shape).as_str(), accepted(&shape)), ("rises", None));
    }

    #[test]
    fn a_column_in_words() {
        let series = claim(
            "kind = 'stated'\nunit = 'MB/s'\nseries = { labels = ['a', 'b'], values = [2, 1.5], \
             rank-min = 1, order = ['a > b'], mean-rel-max = 0.04 }",
        );
        assert_eq!(published(&series), "a 2, b 1.5 MB/s");
        let same = "rank correlation at least 1, mean relative distance at most 0.04, a > b";
        assert_eq!(accepted(&series).as_deref(), Some(same));
        let outcome = Ok(Measured::Series(vec![Estimate::exact(2.0), Estimate::exact(1.5)]));
        let finding = Finding { claim: series, outcome, live: None, remark: None };
        assert_eq!(finding.agreement(), Agreement::Agrees);
        assert!(measured(&finding).starts_with("a 2.000, b 1.500: rank correlation 1.00"));
    }

    #[test]
    fn intervals_in_words() {
        let words = |value, low, high| estimate(Estimate { value, low, high }, "%");
        assert_eq!(words(15.0, -37.0, 67.0), "15 ± 52%");
        assert_eq!(words(15.0, 4.0, 75.0), "15% (4 to 75%)");
        assert_eq!(words(15.25, 14.5, f64::INFINITY), "15.25% (at least 14.50%)");
        assert_eq!(words(15.0, f64::NEG_INFINITY, f64::INFINITY), "15% (uncertain)");
        assert_eq!(words(12.0, 12.0, 12.0), "12%");
    }

    #[test]
    fn findings_in_words_and_counted() {
        let claim = claim("kind = 'stated'\nvalue = 49\nunit = '%'\ntolerance = { abs = 15 }");
        let finding = |outcome| Finding { claim: claim.clone(), outcome, live: None, remark: None };
        let findings = [
            finding(Ok(Measured::Number(Estimate::about(44.25, 2.5)))),
            finding(Ok(Measured::exact(12.0))),
            finding(Ok(Measured::exact(13.0))),
            finding(Err(Missing("fig12 has not been run to its end".into()))),
        ];
        assert_eq!(measured(&findings[0]), "44.2 ± 2.5%");
        assert_eq!(measured(&findings[1]), "12%");
        assert_eq!([0, 1, 3].map(|i| ratio(&findings[i])), ["0.90", "0.24", ""]);
        assert_eq!(measured(&findings[3]), "fig12 has not been run to its end");
        assert_eq!(count(&findings), "1 agrees, 2 differ, 1 missing");
        assert_eq!(count(&[]), "0 agree");
        let open = [finding(Ok(Measured::Number(Estimate::about(15.0, 52.0))))];
        assert_eq!(count(&open), "0 agree, 1 not resolved");
        let reason = |i: usize| Finding { remark: Some("noise".into()), ..findings[i].clone() };
        let differing = [reason(1), findings[2].clone(), reason(2), findings[0].clone()];
        let with = |rest: &str| {
            let text = format!(
                "[[claim]]\nid = 'x'\nsource = 'Table 1'\nsays = 'gain'\nkind = 'stated'\n{rest}\n\
                 [[claim]]\nid = 'y'\nsource = 'Table 1'\nsays = 'gain'\nkind = 'stated'\nshape = 'up'"
            );
            let claim = Published::parse("x", &text).unwrap().claims.remove(0);
            Finding { claim, ..findings[0].clone() }
        };
        let number = "value = 44\ntolerance = { abs = 9 }";
        let apart = [
            findings[1].clone(),
            with(&format!("{number}\nrole = 'arithmetic'")),
            with(&format!("{number}\nrole = 'parameter'")),
            with(&format!("{number}\nrole = 'parameter'")),
            with(&format!("{number}\nfitted = 'jitter'")),
            with(&format!("{number}\nsame-as = 'y'")),
        ];
        assert_eq!(
            count(&apart),
            "0 agree, 1 differs; apart: restated: 1 agrees; fitted: 1 agrees; arithmetic: 1 agrees; \
             parameters: 2 agree"
        );
        let groups: Vec<_> = alike(&differing, Agreement::Differs)
            .into_iter()
            .map(|(why, alike)| (why, alike.len()))
            .collect();
        assert_eq!(groups, [(Some("noise"), 2), (None, 1)]);
    }
}

//! Measures of Figures 9 and 10: two processes on each of two nodes.

use super::Answer;
use super::comparison::{Line, above, alike, from, line, margin, peak, range, ratio};
use super::design::{BINDING, Design, EVEN, LARGE, ONE, named};
use crate::paper::Evidence;
use crosstie_study::paper::{Claim, Measured, Missing, Truth};

/// Measures a claim; nothing if it is about something else.
pub(super) fn measure(claim: &Claim, e: &Evidence) -> Option<Answer> {
    let words: Vec<&str> = claim.id.split('.').collect();
    Some(match words[..] {
        ["fig9", "bound", design] => {
            bandwidth(e, "fig09", named(design)?).map(|line| Measured::Number(peak(&line)))
        }
        ["fig9", "shape"] => compared(e, "fig09", |striping, binding| {
            [above(striping, margin(claim)), above(binding, margin(claim))]
        }),
        ["fig10", "shape"] => compared(e, "fig10", |striping, binding| {
            [alike(striping, margin(claim)), above(binding, margin(claim))]
        }),
        _ => return None,
    })
}

fn bandwidth(e: &Evidence, part: &str, design: Design) -> Result<Line, Missing> {
    line(e, part, design, ("work.stream.size", "bandwidth"))
}

/// What is asked of striping over binding and of binding over one rail, for large messages.
fn compared(e: &Evidence, part: &str, asked: impl Fn(&Line, &Line) -> [Truth; 2]) -> Answer {
    let large = |design, other| -> Result<Line, Missing> {
        let ratios = ratio(&bandwidth(e, part, design)?, &bandwidth(e, part, other)?);
        Ok(from(&ratios, LARGE))
    };
    let (striping, binding) = (large(EVEN, BINDING)?, large(BINDING, ONE)?);
    let holds = Truth::all(asked(&striping, &binding));
    let (striping, binding) = (range(&striping), range(&binding));
    let text = format!(
        "large messages: striping over binding {striping}, binding over one rail {binding}"
    );
    Ok(Measured::shape(holds, text))
}

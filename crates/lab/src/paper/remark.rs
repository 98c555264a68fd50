//! What is to be said of a claim that does not agree.

use super::Scale;
use crosstie_study::paper::Agreement;

/// The reason why the measurement of a claim does not agree, or what is open about it.
#[derive(Debug, Clone, Copy)]
pub struct Remark {
    /// The words.
    pub text: &'static str,
    /// What it explains: claims that differ, claims that are not resolved, or with `None` both.
    agreement: Option<Agreement>,
    /// The smallest scale it is true of.
    least: Scale,
}

impl Remark {
    /// Why a claim differs at any scale.
    pub const fn always(text: &'static str) -> Remark {
        Remark { text, agreement: Some(Agreement::Differs), least: Scale::Quick }
    }

    /// Why a claim differs, in words that rest on what the usual scale and larger ones measure.
    pub const fn measured(text: &'static str) -> Remark {
        Remark { text, agreement: Some(Agreement::Differs), least: Scale::Usual }
    }

    /// Why the usual scale and larger ones do not resolve a claim.
    pub const fn unresolved(text: &'static str) -> Remark {
        Remark { text, agreement: Some(Agreement::NotResolved), least: Scale::Usual }
    }

    /// Why a claim differs or is not resolved, at any scale.
    pub const fn either(text: &'static str) -> Remark {
        Remark { text, agreement: None, least: Scale::Quick }
    }

    /// Whether it is true of a finding at this scale.
    pub fn fits(self, agreement: Agreement, scale: Scale) -> bool {
        let explains = match self.agreement {
            Some(explained) => agreement == explained,
            None => matches!(agreement, Agreement::Differs | Agreement::NotResolved),
        };
        explains && scale >= self.least
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_stands_where_it_is_true() {
        let fits = |remark: Remark, agreement| {
            [Scale::Quick, Scale::Usual, Scale::Full].map(|scale| remark.fits(agreement, scale))
        };
        let (differs, open) = (Agreement::Differs, Agreement::NotResolved);
        assert_eq!(fits(Remark::always("routes are longer"), differs), [true, true, true]);
        assert_eq!(fits(Remark::measured("by 7 %"), differs), [false, true, true]);
        assert_eq!(fits(Remark::measured("by 7 %"), open), [false, false, false]);
        assert_eq!(fits(Remark::unresolved("too small"), open), [false, true, true]);
        assert_eq!(fits(Remark::always("x"), Agreement::Agrees), [false, false, false]);
        for (agreement, stands) in [(differs, true), (open, true), (Agreement::Agrees, false)] {
            assert_eq!(fits(Remark::either("by chance"), agreement), [stands; 3]);
        }
    }
}

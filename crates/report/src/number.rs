//! Numbers as people read them: the only place in the crate where a number becomes text.

/// What stands for a value that is not there.
pub(crate) const MISSING: &str = "–";

/// Significant digits of a measured value.
const MEASURED_DIGITS: usize = 4;
/// Digits at which the noise of binary fractions (0.30000000000000004) is gone.
const NOISELESS_DIGITS: usize = 12;
/// Decimals beyond which a number is written with a power of ten.
const MOST_DECIMALS: i32 = 6;

/// A measured value: four significant digits, whole numbers in full, thousands grouped.
pub fn measured(x: f64) -> String {
    significant(x, MEASURED_DIGITS)
}

/// A value somebody chose: every digit that carries meaning, and no others.
pub fn chosen(x: f64) -> String {
    trimmed(significant(x, NOISELESS_DIGITS))
}

/// A mean with the half-width of its confidence interval, both to the same decimal: "108.3 ± 1.2".
pub fn plus_minus(mean: f64, half_width: f64) -> String {
    if !mean.is_finite() || !half_width.is_finite() || half_width < 0.0 {
        return measured(mean);
    }
    let decimals = 1 - exponent(half_width, 2);
    if half_width == 0.0 || decimals > MOST_DECIMALS || mean.abs() >= 1e15 {
        return format!("{} ± {}", measured(mean), trimmed(significant(half_width, 2)));
    }
    format!("{} ± {}", rounded(mean, half_width), rounded(half_width, half_width))
}

/// A number of a column, whose decimals give the largest of them four digits; one decimal at least.
pub(crate) fn aligned(x: f64, largest: f64) -> String {
    if x == 0.0 || !x.is_finite() || x.abs() >= 1e15 {
        return measured(x);
    }
    let decimals = MEASURED_DIGITS as i32 - 1 - exponent(largest, MEASURED_DIGITS);
    let decimals = decimals.clamp(1, MOST_DECIMALS);
    // What would vanish beside the others shows that it is there.
    match x.abs() < 0.5 * 10f64.powi(-decimals) {
        true => significant(x, 1),
        false => fixed(x, decimals as usize),
    }
}

/// A number to the decimal to which something that uncertain is known.
pub(crate) fn rounded(x: f64, uncertainty: f64) -> String {
    let decimals = 1 - exponent(uncertainty, 2);
    match x.abs() < 1e15 && uncertainty.is_finite() && decimals <= MOST_DECIMALS {
        true => fixed(x, decimals.max(0) as usize),
        false => measured(x),
    }
}

/// So many of something: "1 point", "42 points".
pub(crate) fn count(number: usize, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", measured(number as f64))
}

/// A share of a whole as a percentage: "62.5%".
pub(crate) fn share(x: f64) -> String {
    if x.is_finite() && x.abs() < 100.0 { fixed(100.0 * x, 1) + "%" } else { measured(x) }
}

/// A short form with the prefixes of the SI for large numbers: "1.5 M".
pub fn short(x: f64) -> String {
    const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];
    if !x.is_finite() || x.abs() < 1e5 || x.abs() >= 1e15 {
        return trimmed(significant(x, MEASURED_DIGITS));
    }
    let (worth, prefix) =
        PREFIXES.into_iter().find(|(worth, _)| x.abs() >= *worth).unwrap_or((1.0, ""));
    format!("{} {prefix}", trimmed(significant(x / worth, MEASURED_DIGITS)))
}

/// The label of a tick on an axis whose ticks are `step` apart.
pub(crate) fn tick(x: f64, step: f64) -> String {
    if x.abs() < step * 1e-6 {
        return "0".to_owned();
    }
    let decimals = NOISELESS_DIGITS as i32 - 1 - exponent(x, NOISELESS_DIGITS);
    if x.abs() >= 1e5 || exponent(step, 1) < -MOST_DECIMALS || decimals < 0 {
        return short(x);
    }
    // A step such as 0.25 needs one decimal more than its leading digit says.
    let step_text = trimmed(fixed(step, (MOST_DECIMALS + 1) as usize));
    let decimals = step_text.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    fixed(x, decimals)
}

/// The same text in ASCII, for terminals that have nothing else.
pub(crate) fn ascii(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.replace("×10", "e").chars() {
        match c {
            '±' => plain.push_str("+-"),
            '–' | '⁻' => plain.push('-'),
            '·' => plain.push('|'),
            '…' => plain.push('~'),
            '∞' => plain.push_str("inf"),
            '→' => plain.push_str("->"),
            c => match SUPERSCRIPTS.iter().position(|&s| s == c) {
                Some(digit) => plain.push((b'0' + digit as u8) as char),
                None => plain.push(if c.is_ascii() { c } else { '?' }),
            },
        }
    }
    plain
}

const SUPERSCRIPTS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];

/// `digits` significant digits, zeros kept; whole numbers as they are.
fn significant(x: f64, digits: usize) -> String {
    if x.is_nan() {
        return MISSING.to_owned();
    }
    if x.is_infinite() {
        return if x > 0.0 { "∞" } else { "-∞" }.to_owned();
    }
    if x == 0.0 {
        return "0".to_owned();
    }
    let exponent = exponent(x, digits);
    if !(1 - MOST_DECIMALS..15).contains(&exponent) {
        return power_of_ten(x, digits);
    }
    if x.fract() == 0.0 {
        return fixed(x, 0);
    }
    fixed(x, (digits as i32 - 1 - exponent).max(0) as usize)
}

/// The decimal exponent of a number after rounding to `digits` significant digits.
fn exponent(x: f64, digits: usize) -> i32 {
    let scientific = format!("{:.*e}", digits - 1, x);
    scientific.split_once('e').and_then(|(_, e)| e.parse().ok()).unwrap_or(0)
}

fn power_of_ten(x: f64, digits: usize) -> String {
    let scientific = format!("{:.*e}", digits.min(MEASURED_DIGITS) - 1, x);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let raised = exponent.chars().map(|c| match c.to_digit(10) {
        Some(digit) => SUPERSCRIPTS[digit as usize],
        None => '⁻',
    });
    format!("{}×10{}", trimmed(mantissa.to_owned()), raised.collect::<String>())
}

/// A number with that many decimals, its thousands grouped from five digits on.
fn fixed(x: f64, decimals: usize) -> String {
    let text = format!("{x:.decimals$}");
    let (sign, text) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, rest) = text.split_at(text.find('.').unwrap_or(text.len()));
    if whole == "0" && rest.bytes().all(|b| matches!(b, b'.' | b'0')) {
        return format!("{whole}{rest}");
    }
    if whole.len() < 5 {
        return format!("{sign}{whole}{rest}");
    }
    let mut grouped = String::with_capacity(whole.len() * 4 / 3 + 1);
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    format!("{sign}{grouped}{rest}")
}

/// Drops zeros that end a decimal fraction.
fn trimmed(text: String) -> String {
    if !text.contains('.') || text.contains('×') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn measured_values_keep_four_digits_and_whole_numbers_stay_whole() {
        let table = [
            (0.0, "0"),
            (0.302_04, "0.3020"),
            (108.26, "108.3"),
            (99.996, "100.0"),
            (92.0, "92"),
            (1234.56, "1235"),
            (12_345.6, "12,346"),
            (-1_234_567.0, "-1,234,567"),
            (0.000_123_44, "0.0001234"),
            (1e-7, "1×10⁻⁷"),
            (-2.5e-13, "-2.5×10⁻¹³"),
            (6.02e23, "6.02×10²³"),
            (f64::NAN, "–"),
            (f64::INFINITY, "∞"),
        ];
        for (x, text) in table {
            assert_eq!(measured(x), text);
        }
    }

    #[test]
    fn chosen_values_show_no_binary_noise() {
        assert_eq!(chosen(0.1 + 0.2), "0.3");
        assert_eq!(chosen(0.125), "0.125");
        assert_eq!(chosen(65536.0), "65,536");
    }

    #[test]
    fn a_mean_and_its_interval_share_their_last_digit() {
        assert_eq!(plus_minus(108.2649, 1.2345), "108.3 ± 1.2");
        assert_eq!(plus_minus(0.302_04, 0.000_41), "0.30204 ± 0.00041");
        assert_eq!(plus_minus(54_321.9, 321.4), "54,322 ± 321");
        assert_eq!(plus_minus(40.0, 0.0), "40 ± 0");
        assert_eq!(plus_minus(40.5, f64::NAN), "40.50");
        assert_eq!(plus_minus(40.5, 1e-9), "40.50 ± 1×10⁻⁹");
    }

    #[test]
    fn numbers_of_a_column_share_their_decimals() {
        let column = |numbers: [f64; 3]| numbers.map(|x| aligned(x, numbers[0])).join(" ");
        assert_eq!(column([941.25, 0.949_5, 0.0]), "941.2 0.9 0");
        assert_eq!(column([12_345.6, 7.77, 0.01]), "12,345.6 7.8 0.01");
        assert_eq!(column([1.5, 0.25, 0.000_4]), "1.500 0.250 0.0004");
        assert_eq!(column([0.0, f64::NAN, 1e300]), "0 – 1×10³⁰⁰");
    }

    #[test]
    fn short_numbers_use_prefixes_from_a_hundred_thousand_on() {
        assert_eq!(short(20_000.0), "20,000");
        assert_eq!(short(150_000.0), "150 k");
        assert_eq!(short(1_500_000.0), "1.5 M");
        assert_eq!(short(-2e9), "-2 G");
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!(share(0.625), "62.5%");
        assert_eq!(share(0.0), "0.0%");
        assert_eq!(share(f64::NAN), "–");
    }

    #[test]
    fn ticks_have_the_decimals_of_their_step() {
        assert_eq!(tick(0.1, 0.1), "0.1");
        assert_eq!(tick(1.0, 0.25), "1.00");
        assert_eq!(tick(-5.0e-17, 0.1), "0");
        assert_eq!(tick(200.0, 50.0), "200");
        assert_eq!(tick(2_000_000.0, 500_000.0), "2 M");
    }

    #[test]
    fn ascii_keeps_the_meaning() {
        assert_eq!(ascii("1.5×10⁻⁷ ± 2 – é"), "1.5e-7 +- 2 - ?");
    }

    proptest! {
        #[test]
        fn no_number_panics_or_shows_an_exponent_letter(x in any::<f64>(), y in any::<f64>()) {
            for text in [measured(x), chosen(x), short(x), plus_minus(x, y), tick(x, y.abs())] {
                prop_assert!(!text.is_empty() && !text.contains('e'), "{text}");
            }
        }
    }
}

//! Foreign text made safe for SVG, HTML and terminals.

/// Text fit for the inside of an element or a quoted attribute, in XML and in HTML.
pub(crate) fn escape(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(legal(c)),
        }
    }
    safe
}

/// Prose in one line, safe for HTML: what stands between backticks is code.
pub(crate) fn prose(text: &str) -> String {
    paragraph(&one_line(text))
}

/// Prose with its line breaks, safe for HTML: what stands between backticks is code.
pub(crate) fn paragraph(text: &str) -> String {
    let safe = escape(text);
    let mut pieces = safe.split('`');
    let mut html = pieces.next().unwrap_or_default().to_owned();
    while let Some(code) = pieces.next() {
        match pieces.next() {
            Some(rest) => html += &format!("<code>{code}</code>{rest}"),
            None => html += &format!("`{code}"),
        }
    }
    html
}

/// One line without control characters: neither a terminal nor an XML parser stumbles over it.
pub(crate) fn one_line(text: &str) -> String {
    text.chars()
        .map(|c| match c {
            '\t' | '\n' | '\r' => ' ',
            c if c.is_control() => char::REPLACEMENT_CHARACTER,
            c => legal(c),
        })
        .collect()
}

/// At most `length` characters, the last of them an ellipsis where something was cut.
pub(crate) fn shortened(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(length.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A character that XML 1.0 allows, else the replacement character.
fn legal(c: char) -> char {
    match c {
        '\t' | '\n' | '\r' => c,
        '\0'..'\u{20}' | '\u{7f}'..='\u{9f}' | '\u{fffe}' | '\u{ffff}' => {
            char::REPLACEMENT_CHARACTER
        }
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(
            escape("<script>alert(\"it's\" & more)</script>"),
            "&lt;script&gt;alert(&quot;it&#39;s&quot; &amp; more)&lt;/script&gt;"
        );
    }

    #[test]
    fn backticks_mark_code() {
        assert_eq!(
            prose("part `worms`,\n`a<b` and `"),
            "part <code>worms</code>, <code>a&lt;b</code> and `"
        );
        assert_eq!(prose("plain"), "plain");
    }

    #[test]
    fn terminal_commands_are_disarmed() {
        assert_eq!(one_line("\x1b[31mred\nline"), "\u{fffd}[31mred line");
    }

    #[test]
    fn shortened_text_shows_that_it_was_cut() {
        assert_eq!(shortened("adaptive", 8), "adaptive");
        assert_eq!(shortened("adaptive", 5), "adap…");
    }

    proptest! {
        #[test]
        fn any_text_survives_an_xml_parser(text in any::<String>()) {
            let document = format!("<a b=\"{0}\">{0}</a>", escape(&text));
            prop_assert!(roxmltree::Document::parse(&document).is_ok());
            let document = format!("<a>{}</a>", paragraph(&text));
            prop_assert!(roxmltree::Document::parse(&document).is_ok());
        }
    }
}

//! TOML text as a tree whose every key and value remembers its place in the file.
//!
//! A sweep puts values into the tree together with *their* places, so whatever is wrong at a point
//! is reported where the user wrote it.

mod decode;
mod fault;

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeArray, DeInteger, DeTable, DeValue};
use toml_parser::lexer::TokenKind;

pub(crate) use decode::{decode, decode_table};
pub(crate) use fault::{Fault, quoted};

/// How deep brackets may nest, and how many dots a key may have. Nothing in an experiment file
/// comes near it; without it a hostile file could exhaust the stack.
const DEPTH: usize = 16;

/// Reads TOML text.
pub(crate) fn parse(text: &str) -> Result<DeTable<'_>, Fault> {
    check_depth(text)?;
    let document = DeTable::parse(text).map_err(|error| {
        let span = error.span().unwrap_or(0..0);
        let rest = text.get(span.start..).and_then(|rest| rest.lines().next());
        let rest = rest.unwrap_or_default().split('#').next().unwrap_or_default().trim();
        let (title, label) = match error.message().split_once(", expected ") {
            // To the parser, nothing at all is a text without its quotes.
            Some(("string values must be quoted", _)) if rest.is_empty() => {
                ("missing value", "expected a value after `=`".into())
            }
            Some((title, expected)) => (title, format!("expected {expected}")),
            None => (error.message(), String::from("this is not TOML")),
        };
        Fault::new(title, label).at(span)
    })?;
    Ok(document.into_inner())
}

fn check_depth(text: &str) -> Result<(), Fault> {
    let (mut brackets, mut dots) = (0usize, 0usize);
    for token in toml_parser::Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                (brackets, dots) = (brackets + 1, 0);
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                (brackets, dots) = (brackets.saturating_sub(1), 0);
            }
            TokenKind::Dot => dots += 1,
            TokenKind::Whitespace
            | TokenKind::Atom
            | TokenKind::BasicString
            | TokenKind::LiteralString => {}
            _ => dots = 0,
        }
        if brackets > DEPTH || dots > DEPTH {
            let label = format!("expected at most {DEPTH} levels");
            let span = token.span().start()..token.span().end();
            return Err(Fault::new("nested too deeply", label).at(span));
        }
    }
    Ok(())
}

/// The whole number a TOML integer stands for, if 64 bits hold it.
pub(crate) fn integer(integer: &DeInteger<'_>) -> Option<i64> {
    i64::from_str_radix(integer.as_str(), integer.radix()).ok()
}

/// The places of the key and of the value at a dotted path; where the path ends early, those of its
/// last part that exists. List items are addressed by number.
pub(crate) fn place(root: &DeTable<'_>, path: &str) -> Option<(Range<usize>, Range<usize>)> {
    let mut found = None;
    let mut list: Option<&DeArray<'_>> = None;
    let mut table = Some(root);
    for part in path.split('.') {
        let (key, value) = match (table, list) {
            (Some(table), _) => {
                let Some((key, value)) = table.get_key_value(part) else { break };
                (key.span(), value)
            }
            (_, Some(list)) => {
                let Some(value) = part.parse().ok().and_then(|i: usize| list.get(i)) else { break };
                (value.span(), value)
            }
            _ => break,
        };
        found = Some((key, value.span()));
        (table, list) = match value.get_ref() {
            DeValue::Table(table) => (Some(table), None),
            DeValue::Array(list) => (None, Some(list)),
            _ => (None, None),
        };
    }
    found
}

/// Whether there is a key at a dotted path of tables.
pub(crate) fn has(root: &DeTable<'_>, path: &str) -> bool {
    match path.split_once('.') {
        None => root.contains_key(path),
        Some((first, rest)) => match root.get(first).map(Spanned::get_ref) {
            Some(DeValue::Table(table)) => has(table, rest),
            _ => false,
        },
    }
}

/// Takes out the key and the value at a dotted path, if they are there.
pub(crate) fn take<'i>(
    root: &mut DeTable<'i>,
    path: &str,
) -> Option<(Spanned<Cow<'i, str>>, Spanned<DeValue<'i>>)> {
    match path.split_once('.') {
        None => root.remove_entry(path),
        Some((outer, rest)) => match root.get_mut(outer)?.get_mut() {
            DeValue::Table(inner) => take(inner, rest),
            _ => None,
        },
    }
}

/// Puts a value at a dotted path, making tables on the way; every new key gets the place `key`.
pub(crate) fn put<'i>(
    root: &mut DeTable<'i>,
    path: &Spanned<String>,
    value: &Spanned<DeValue<'i>>,
) -> Result<(), Fault> {
    let mut table = root;
    let mut parts = path.get_ref().split('.').peekable();
    let spanned = |part: &str| Spanned::new(path.span(), Cow::Owned(part.to_owned()));
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            // Removed first, because inserting alone would keep the old key and its place.
            table.remove(part);
            table.insert(spanned(part), value.clone());
            return Ok(());
        }
        let inner = table
            .entry(spanned(part))
            .or_insert_with(|| Spanned::new(path.span(), DeValue::Table(DeTable::new())));
        let span = inner.span();
        match inner.get_mut() {
            DeValue::Table(inner) => table = inner,
            _ => {
                let title = format!("`{}` leads through a value", path.get_ref());
                return Err(Fault::new(title, format!("`{part}` is not a table"))
                    .at(path.span())
                    .with_context(span, format!("`{part}` is set here")));
            }
        }
    }
    Ok(())
}

/// The same value without places, for writing.
pub(crate) fn plain(value: &DeValue<'_>) -> toml::Value {
    match value {
        DeValue::String(text) => toml::Value::String(text.clone().into_owned()),
        DeValue::Integer(whole) => integer(whole)
            .map_or_else(|| toml::Value::String(whole.to_string()), toml::Value::Integer),
        DeValue::Float(real) => toml::Value::Float(real.as_str().parse().unwrap_or(f64::NAN)),
        DeValue::Boolean(flag) => toml::Value::Boolean(*flag),
        DeValue::Datetime(date) => toml::Value::Datetime(*date),
        DeValue::Array(list) => {
            toml::Value::Array(list.iter().map(|item| plain(item.get_ref())).collect())
        }
        DeValue::Table(table) => toml::Value::Table(
            table
                .iter()
                .map(|(key, value)| (key.get_ref().clone().into_owned(), plain(value.get_ref())))
                .collect(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hostile_depth_is_refused_before_it_costs_anything() {
        let keys = ["a"; 79].join(".");
        let nested = format!("a={}1{}", format!("{{{keys}=").repeat(79), "}".repeat(79));
        for text in [nested, "a.".repeat(1 << 19), format!("a={}", "[".repeat(1 << 20))] {
            assert_eq!(parse(&text).unwrap_err().words().0, "nested too deeply");
        }
        parse("title = '....................................' # ....................").unwrap();
    }

    #[test]
    fn a_value_put_into_the_tree_keeps_its_own_place() {
        let text = "[traffic]\nload = 0.1\nnew = 7\n";
        let mut root = parse(text).unwrap();
        let DeValue::Table(traffic) = root["traffic"].get_ref() else { panic!("a table") };
        let value = traffic["new"].clone();
        put(&mut root, &Spanned::new(3..5, "traffic.load".into()), &value).unwrap();
        assert_eq!(place(&root, "traffic.load"), Some((3..5, value.span())));
        assert_eq!(place(&root, "traffic.load.deeper"), Some((3..5, value.span())));
        assert_eq!(place(&root, "nic"), None);
        let fault = put(&mut root, &Spanned::new(3..5, "traffic.new.x".into()), &value);
        assert_eq!(fault.unwrap_err().words().0, "`traffic.new.x` leads through a value");
    }
}

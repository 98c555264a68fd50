//! Sweeps: which keys take which values, and the points that follow.

use std::collections::BTreeSet;

use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue};

use crate::document::{self, Fault, plain, quoted};
use crate::earlier;
use crate::row::Setting;
use crate::spec::Spec;

/// The most points of a study.
const MOST_POINTS: usize = 100_000;

/// The most swept keys of a study.
const MOST_KEYS: usize = 64;

/// Everything that is swept. The zipped keys advance together, slowest; then each key of the
/// product for itself, the last one fastest.
#[derive(Debug, Default)]
pub(crate) struct Sweep<'i> {
    zip: Vec<Axis<'i>>,
    product: Vec<Axis<'i>>,
}

/// One swept key.
#[derive(Debug)]
struct Axis<'i> {
    /// As the file writes it, and as it appears in rows.
    key: Spanned<String>,
    /// The key that it sets, which may have been called otherwise.
    target: Spanned<String>,
    values: Vec<Spanned<DeValue<'i>>>,
    /// What the file calls each of the values, if it does.
    names: Vec<Option<String>>,
    /// The values as they appear in rows.
    shown: Vec<Setting>,
}

/// The longest name of a value, in characters.
const LONGEST_NAME: usize = 40;

impl<'i> Sweep<'i> {
    /// Reads the `sweep` table.
    pub fn read(value: &Spanned<DeValue<'i>>) -> Result<Sweep<'i>, Fault> {
        let mut sweep = Sweep::default();
        for (name, part) in table(value).ok_or_else(|| not_a_table(value).within("sweep"))? {
            let axes = match name.get_ref().as_ref() {
                "product" => &mut sweep.product,
                "zip" => &mut sweep.zip,
                other => {
                    let known = ["product", "zip"].into_iter();
                    return Err(Fault::unknown("kind of sweep", other, known)
                        .at(name.span())
                        .with_help("write swept keys under `[sweep.product]` or `[sweep.zip]`"));
                }
            };
            table(part).ok_or_else(|| not_a_table(part).within(name.get_ref()).within("sweep"))?;
            flatten("", part, axes)?;
        }
        sweep.check()?;
        Ok(sweep)
    }

    fn axes(&self) -> impl Iterator<Item = &Axis<'i>> {
        self.zip.iter().chain(&self.product)
    }

    fn check(&self) -> Result<(), Fault> {
        self.check_keys()?;
        if let [first, others @ ..] = self.zip.as_slice()
            && let Some(other) = others.iter().find(|o| o.values.len() != first.values.len())
        {
            let label = |axis: &Axis<'_>| format!("this one has {} values", axis.values.len());
            return Err(Fault::new("zipped lists have different lengths", label(other))
                .at(other.key.span())
                .with_context(first.key.span(), label(first)));
        }
        let count =
            self.axes().skip(self.zip.len().saturating_sub(1)).try_fold(1usize, |n, axis| {
                n.checked_mul(axis.values.len()).filter(|&n| n <= MOST_POINTS)
            });
        match (count, self.product.last().or(self.zip.last())) {
            (None, Some(last)) => {
                let label = format!("expected at most {MOST_POINTS} points in all");
                Err(Fault::new("the sweep has too many points", label).at(last.key.span()))
            }
            _ => Ok(()),
        }
    }

    /// Keys exist at the top level and do not overlap; further down, reading the points will tell.
    fn check_keys(&self) -> Result<(), Fault> {
        let axes: Vec<_> = self.axes().collect();
        if let Some(axis) = axes.get(MOST_KEYS) {
            let label = format!("expected at most {MOST_KEYS} swept keys");
            return Err(Fault::new("too many swept keys", label).at(axis.key.span()));
        }
        for (i, axis) in axes.iter().enumerate() {
            let key = axis.target.get_ref();
            let top = key.split('.').next().unwrap_or_default();
            if crate::study::HEADER_KEYS.contains(&top) {
                let title = format!("`{top}` cannot be swept");
                return Err(Fault::new(title, "the same at all points").at(axis.key.span()));
            }
            if !Spec::KEYS.contains(&top) {
                return Err(Fault::unknown("key", top, Spec::KEYS.into_iter()).at(axis.key.span()));
            }
            let inside = |inner: &str, outer: &str| {
                inner
                    .strip_prefix(outer)
                    .is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
            };
            for earlier in &axes[..i] {
                let other = earlier.target.get_ref();
                if inside(key, other) || inside(other, key) {
                    let (key, other) = (axis.key.get_ref(), earlier.key.get_ref());
                    let label = format!("`{key}` and `{other}` set the same thing");
                    return Err(Fault::new("two swept keys overlap", label)
                        .at(axis.key.span())
                        .with_context(earlier.key.span(), "swept here already"));
                }
            }
        }
        Ok(())
    }

    /// The swept keys in order.
    pub fn keys(&self) -> Vec<String> {
        self.axes().map(|axis| axis.key.get_ref().clone()).collect()
    }

    /// How many points there are.
    pub fn count(&self) -> usize {
        let zip = self.zip.first().map_or(1, |axis| axis.values.len());
        zip * self.product.iter().map(|axis| axis.values.len()).product::<usize>()
    }

    /// Which value each axis has at a point.
    fn choices(&self, point: usize) -> Vec<usize> {
        let mut rest = point;
        let mut choices: Vec<usize> = self
            .product
            .iter()
            .rev()
            .map(|axis| {
                let choice = rest % axis.values.len();
                rest /= axis.values.len();
                choice
            })
            .collect();
        choices.extend(self.zip.iter().map(|_| rest));
        choices.reverse();
        choices
    }

    /// What to say of two points that are the same, though the file lists them apart.
    pub fn repeated(&self, first: usize, again: usize) -> Fault {
        let choices = self.choices(first).into_iter().zip(self.choices(again));
        let apart: Vec<_> = self.axes().zip(choices).filter(|(_, (a, b))| a != b).collect();
        let title = match apart.as_slice() {
            [(axis, _)] => format!("`{}` takes the same value twice", axis.key.get_ref()),
            _ => format!("points {first} and {again} are the same"),
        };
        let fault = Fault::new(title, "listed again here").with_help("leave one of them out");
        match apart.first() {
            Some((axis, (a, b))) => fault
                .at(axis.values[*b].span())
                .with_context(axis.values[*a].span(), "listed here already"),
            None => fault,
        }
    }

    /// The settings of a point.
    pub fn settings(&self, point: usize) -> Vec<(String, Setting)> {
        self.axes()
            .zip(self.choices(point))
            .map(|(axis, choice)| (axis.key.get_ref().clone(), axis.shown[choice].clone()))
            .collect()
    }

    /// The document of a point: the file with the swept values in their places.
    pub fn document(&self, base: &DeTable<'i>, point: usize) -> Result<DeTable<'i>, Fault> {
        let mut root = base.clone();
        for (axis, choice) in self.axes().zip(self.choices(point)) {
            document::put(&mut root, &axis.target, &axis.values[choice])?;
        }
        Ok(root)
    }

    /// What a file says of all points: everything but the swept keys, without places.
    pub fn base(&self, root: &DeTable<'i>) -> toml::Table {
        let mut base = match plain(&DeValue::Table(root.clone())) {
            toml::Value::Table(base) => base,
            _ => toml::Table::new(),
        };
        for axis in self.axes() {
            let (outer, name) = match axis.target.get_ref().rsplit_once('.') {
                Some((outer, name)) => (outer.split('.').collect(), name),
                None => (Vec::new(), axis.target.get_ref().as_str()),
            };
            let table = outer.into_iter().try_fold(&mut base, |table, part: &str| {
                table.get_mut(part).and_then(toml::Value::as_table_mut)
            });
            if let Some(table) = table {
                table.remove(name);
            }
        }
        base
    }

    /// The sweep as a table to be written; `None` if nothing is swept.
    pub fn plain(&self) -> Option<toml::Table> {
        let mut table = toml::Table::new();
        for (name, axes) in [("zip", &self.zip), ("product", &self.product)] {
            if axes.is_empty() {
                continue;
            }
            let lists = axes.iter().map(|axis| {
                let values = axis.values.iter().zip(&axis.names);
                let values =
                    values.map(|(value, name)| named(plain(value.get_ref()), name.as_deref()));
                (axis.key.get_ref().clone(), toml::Value::Array(values.collect()))
            });
            table.insert(name.to_owned(), toml::Value::Table(lists.collect()));
        }
        (!table.is_empty()).then_some(table)
    }
}

fn table<'a, 'i>(value: &'a Spanned<DeValue<'i>>) -> Option<&'a DeTable<'i>> {
    match value.get_ref() {
        DeValue::Table(table) => Some(table),
        _ => None,
    }
}

fn not_a_table(value: &Spanned<DeValue<'_>>) -> Fault {
    Fault::value("a single value", "a table of keys and lists of values").at(value.span())
}

/// Collects the lists below a value. `"traffic.load" = [..]` and `traffic.load = [..]` are the same
/// to us, though not to TOML.
fn flatten<'i>(
    prefix: &str,
    value: &Spanned<DeValue<'i>>,
    axes: &mut Vec<Axis<'i>>,
) -> Result<(), Fault> {
    for (name, value) in table(value).into_iter().flatten() {
        let dot = if prefix.is_empty() { "" } else { "." };
        let key = format!("{prefix}{dot}{}", name.get_ref());
        match value.get_ref() {
            DeValue::Table(_) => flatten(&key, value, axes)?,
            DeValue::Array(list) if list.is_empty() => {
                let label = "expected at least one value";
                return Err(Fault::new(format!("`{key}` is swept over nothing"), label)
                    .at(value.span())
                    .with_help("give it values, or remove the line"));
            }
            DeValue::Array(list) if key.split('.').count() <= 16 => {
                let (mut values, mut names) = (Vec::new(), Vec::new());
                for item in list.iter() {
                    let (name, value) =
                        value_of(item).map_err(|fault| fault.within(&key).within("sweep"))?;
                    names.push(name);
                    values.push(value.clone());
                }
                let shown = shown(&values, &names);
                check_names(&key, list, &names, &shown)?;
                let target = Spanned::new(name.span(), earlier::current(&key));
                let key = Spanned::new(name.span(), key);
                axes.push(Axis { key, target, values, names, shown });
            }
            DeValue::Array(_) => {
                return Err(Fault::unknown("key", &key, [].into_iter()).at(name.span()));
            }
            _ => {
                let fault = Fault::value("a single value", "a list of values in `[ ]`");
                return Err(fault.at(value.span()).within(&key).within("sweep"));
            }
        }
    }
    Ok(())
}

/// The name and the value of an item: `{ name = "slow", value = [..] }` is a value with a name,
/// anything else a value alone.
fn value_of<'a, 'i>(
    item: &'a Spanned<DeValue<'i>>,
) -> Result<(Option<String>, &'a Spanned<DeValue<'i>>), Fault> {
    let Some((name, value)) =
        table(item).and_then(|item| Some((item.get("name")?, item.get("value")?)))
    else {
        return Ok((None, item));
    };
    let known = ["name", "value"];
    let mut keys = table(item).into_iter().flatten().map(|(key, _)| key);
    if let Some(key) = keys.find(|key| !known.contains(&key.get_ref().as_ref())) {
        return Err(Fault::unknown("key", key.get_ref(), known.into_iter()).at(key.span()));
    }
    let expected = format!("a name of 1 to {LONGEST_NAME} characters on one line");
    let DeValue::String(text) = name.get_ref() else {
        return Err(Fault::value("another value", expected).at(name.span()).within("name"));
    };
    let fits = (1..=LONGEST_NAME).contains(&text.chars().count()) && text.trim() == text;
    if !fits || text.contains(char::is_control) {
        return Err(Fault::value(quoted(text), expected).at(name.span()).within("name"));
    }
    Ok((Some(text.to_string()), value))
}

/// A value as a list of a sweep has it.
fn named(value: toml::Value, name: Option<&str>) -> toml::Value {
    match name {
        Some(name) => {
            let name = toml::Value::String(name.to_owned());
            let item = [("name".to_owned(), name), ("value".to_owned(), value)];
            toml::Value::Table(item.into_iter().collect())
        }
        None => value,
    }
}

/// The value of what [`named`] has made.
pub(crate) fn value_mut(item: &mut toml::Value) -> &mut toml::Value {
    let is_named = item.get("name").is_some() && item.get("value").is_some();
    if is_named { &mut item["value"] } else { item }
}

/// A name must not stand for two values of a key.
fn check_names(
    key: &str,
    list: &DeArray<'_>,
    names: &[Option<String>],
    shown: &[Setting],
) -> Result<(), Fault> {
    let shown: Vec<String> = shown.iter().map(Setting::to_string).collect();
    for (i, name) in names.iter().enumerate() {
        let Some(name) = name else { continue };
        let Some(other) = (0..shown.len()).find(|&other| other != i && shown[other] == *name)
        else {
            continue;
        };
        let (first, second) = (i.min(other), i.max(other));
        return Err(Fault::new(
            format!("two values of `{key}` are called `{name}`"),
            "the second of that name",
        )
        .at(list[second].span())
        .with_context(list[first].span(), "the first one"));
    }
    Ok(())
}

/// The values of one key as they appear in rows: one with a name by that, another choice by the
/// name of the choice, unless this does not tell the values apart.
fn shown(values: &[Spanned<DeValue<'_>>], names: &[Option<String>]) -> Vec<Setting> {
    let named = names.iter().cloned().map(|name| name.map(Setting::Text));
    let unnamed: Vec<_> = values
        .iter()
        .zip(names)
        .filter(|(_, name)| name.is_none())
        .map(|(value, _)| value)
        .collect();
    let mut unnamed = shown_unnamed(&unnamed).into_iter();
    named.map(|name| name.or_else(|| unnamed.next()).expect("each value is shown")).collect()
}

fn shown_unnamed(values: &[&Spanned<DeValue<'_>>]) -> Vec<Setting> {
    let plain: Vec<toml::Value> = values.iter().map(|value| plain(value.get_ref())).collect();
    let show = |brief| plain.iter().map(|value| setting(value, brief)).collect::<Vec<_>>();
    let distinct = |settings: &[Setting]| {
        settings.iter().map(Setting::to_string).collect::<BTreeSet<_>>().len()
    };
    let (brief, full) = (show(true), show(false));
    if distinct(&brief) < distinct(&full) { full } else { brief }
}

fn setting(value: &toml::Value, brief: bool) -> Setting {
    match value {
        toml::Value::Integer(_) | toml::Value::Float(_) => Setting::of(value),
        toml::Value::Array(list) => {
            let items: Vec<_> = list.iter().map(|item| item_words(item, brief)).collect();
            Setting::Text(format!("[{}]", items.join(", ")))
        }
        other => Setting::Text(words(other, brief)),
    }
}

/// An item of a list that is a value: of tables it must be seen where they end.
fn item_words(item: &toml::Value, brief: bool) -> String {
    match item {
        toml::Value::Table(_) => format!("{{{}}}", words(item, brief)),
        item => words(item, brief),
    }
}

/// `{fixed = {size = "64 B"}}` becomes `fixed` in brief, else `fixed(size=64 B)`.
fn words(value: &toml::Value, brief: bool) -> String {
    match value {
        toml::Value::String(text) => text.clone(),
        toml::Value::Array(list) => {
            let items: Vec<_> = list.iter().map(|item| words(item, brief)).collect();
            format!("[{}]", items.join(", "))
        }
        toml::Value::Table(table) => {
            let items: Vec<_> = table
                .iter()
                .map(|(key, value)| match value {
                    toml::Value::Table(inner) if brief || inner.is_empty() => key.clone(),
                    toml::Value::Table(_) => format!("{key}({})", words(value, brief)),
                    value => format!("{key}={}", words(value, brief)),
                })
                .collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The settings of every point of `[sweep]` with this content, one line per point.
    fn points(sweep: &str) -> Vec<String> {
        let text = format!("[sweep]\n{sweep}");
        let root = document::parse(&text).unwrap();
        let sweep = Sweep::read(&root["sweep"]).unwrap_or_else(|fault| panic!("{fault}"));
        let line = |point| {
            let settings = sweep.settings(point);
            let list = settings.iter().map(|(key, value)| format!("{key}={value}"));
            list.collect::<Vec<_>>().join(" ")
        };
        (0..sweep.count()).map(line).collect()
    }

    #[test]
    fn zipped_keys_advance_together_and_the_last_key_of_the_product_is_fastest() {
        let sweep = "
            product.'traffic.load' = [0.1, 0.2]
            product.routing = ['shortest', 'tree-adaptive']
            zip.switch = {virtual-channels = [1, 2], buffer = [256, 128]}
        ";
        assert_eq!(
            points(sweep),
            [
                "switch.virtual-channels=1 switch.buffer=256 traffic.load=0.1 routing=shortest",
                "switch.virtual-channels=1 switch.buffer=256 traffic.load=0.1 routing=tree-adaptive",
                "switch.virtual-channels=1 switch.buffer=256 traffic.load=0.2 routing=shortest",
                "switch.virtual-channels=1 switch.buffer=256 traffic.load=0.2 routing=tree-adaptive",
                "switch.virtual-channels=2 switch.buffer=128 traffic.load=0.1 routing=shortest",
                "switch.virtual-channels=2 switch.buffer=128 traffic.load=0.1 routing=tree-adaptive",
                "switch.virtual-channels=2 switch.buffer=128 traffic.load=0.2 routing=shortest",
                "switch.virtual-channels=2 switch.buffer=128 traffic.load=0.2 routing=tree-adaptive",
            ]
        );
    }

    #[test]
    fn choices_appear_by_name_unless_names_do_not_tell_them_apart() {
        let sizes = "product.'traffic.size' = \
                     [{fixed.size = '64 B'}, {bimodal = {small = '64 B', large = '4 KiB'}}]";
        assert_eq!(points(sizes), ["traffic.size=fixed", "traffic.size=bimodal"]);
        let alike = "product.bus = ['half', {asymmetric = {read = '1 MB/s', write = '2 MB/s'}}, \
                     {asymmetric = {read = '3 MB/s', write = '2 MB/s'}}]";
        assert_eq!(
            points(alike),
            [
                "bus=half",
                "bus=asymmetric(read=1 MB/s, write=2 MB/s)",
                "bus=asymmetric(read=3 MB/s, write=2 MB/s)",
            ]
        );
        let schemes = "product.scheme = ['basic', 'dynamic', {dynamic.striping = 0}, \
                       {hybrid.threshold = '1 KiB'}, {hybrid.threshold = '2 KiB'}]";
        assert_eq!(
            points(schemes),
            [
                "scheme=basic",
                "scheme=dynamic",
                "scheme=dynamic(striping=0)",
                "scheme=hybrid(threshold=1 KiB)",
                "scheme=hybrid(threshold=2 KiB)",
            ]
        );
        assert_eq!(points("product.switch = [{buffer = 64}]"), ["switch=buffer=64"]);
        assert_eq!(
            points(
                "product.'cluster.rails' = [2, [{rate = '1 GB/s'}, {rate = '250 MB/s', bus = 0}], [{}, {bus = 1}]]"
            ),
            [
                "cluster.rails=2",
                "cluster.rails=[{rate=1 GB/s}, {rate=250 MB/s, bus=0}]",
                "cluster.rails=[{}, {bus=1}]",
            ]
        );
        assert_eq!(points("product.seed = [9007199254740993]"), ["seed=9007199254740993"]);
    }

    #[test]
    fn values_appear_by_the_names_that_the_file_gives_them() {
        let sweep = "product.event = [[], {name = 'dies', value = [{at = '5 ms', rail = 1, down = true}]}]\n\
                     zip.'cluster.rails' = [{name = 'alike', value = 2}, {name = 'alone', value = 1}, 3]";
        assert_eq!(
            points(sweep),
            [
                "cluster.rails=alike event=[]",
                "cluster.rails=alike event=dies",
                "cluster.rails=alone event=[]",
                "cluster.rails=alone event=dies",
                "cluster.rails=3 event=[]",
                "cluster.rails=3 event=dies",
            ]
        );
    }

    #[test]
    fn a_name_stands_for_one_value() {
        let mistake = |list: &str| {
            let text = format!("[sweep]\nproduct.seed = {list}");
            let root = document::parse(&text).unwrap();
            Sweep::read(&root["sweep"]).unwrap_err().to_string()
        };
        let twice = mistake("[{name = 'a', value = 1}, {name = 'a', value = 2}]");
        assert!(twice.contains("two values of `seed` are called `a`"), "{twice}");
        let shadowed = mistake("[{name = '2', value = 1}, 2]");
        assert!(shadowed.contains("two values of `seed` are called `2`"), "{shadowed}");
        for odd in ["''", "' x'", "3", "'a\\nb'"] {
            let odd =
                mistake(&format!("[{{name = {odd}, value = 1}}]").replace("'a\\nb'", "\"a\\nb\""));
            assert!(odd.contains("expected a name of 1 to 40 characters"), "{odd}");
        }
        assert!(mistake("[{name = 'a', value = 1, extra = 2}]").contains("unknown key `extra`"));
    }

    #[test]
    fn nothing_swept_is_one_point() {
        assert_eq!(points(""), [""]);
    }
}

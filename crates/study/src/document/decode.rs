//! From the tree to typed values, by way of serde.
//!
//! The decoder of the toml crate would do, but for two things: it reports an unknown name as prose,
//! from which no nearest name can be found, and it forgets places inside a tree put together from
//! parts.

use std::borrow::Cow;
use std::ops::Range;

use serde::Deserialize;
use serde::de::value::{MapAccessDeserializer, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error, IntoDeserializer, MapAccess, SeqAccess,
    Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Fault, integer};

/// Reads a typed value out of a document or of a part of it.
pub(crate) fn decode_table<'de, T: Deserialize<'de>>(table: &'de DeTable<'de>) -> Result<T, Fault> {
    T::deserialize(MapAccessDeserializer::new(Entries::of(table))).map_err(|fault| fault.at(0..0))
}

/// Reads a typed value out of one value of a document.
pub(crate) fn decode<'de, T: Deserialize<'de>>(
    value: &'de Spanned<DeValue<'de>>,
) -> Result<T, Fault> {
    T::deserialize(Value { value })
}

/// One value of the tree.
#[derive(Clone, Copy)]
struct Value<'de> {
    value: &'de Spanned<DeValue<'de>>,
}

impl<'de> Value<'de> {
    /// Any value in the words of serde.
    fn unexpected(self) -> Unexpected<'de> {
        match self.value.get_ref() {
            DeValue::String(text) => Unexpected::Str(text),
            DeValue::Integer(whole) => {
                integer(whole).map_or(Unexpected::Other("a huge number"), Unexpected::Signed)
            }
            DeValue::Float(real) => Unexpected::Float(real.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => Unexpected::Bool(*flag),
            DeValue::Datetime(_) => Unexpected::Other("a date or a time of day"),
            DeValue::Array(_) => Unexpected::Seq,
            DeValue::Table(_) => Unexpected::Map,
        }
    }

    fn visit<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.value.get_ref() {
            DeValue::String(text) => visitor.visit_str(text),
            DeValue::Integer(whole) => match integer(whole) {
                Some(whole) => visitor.visit_i64(whole),
                None => Err(Fault::invalid_value(self.unexpected(), &visitor)),
            },
            DeValue::Float(real) => visitor.visit_f64(real.as_str().parse().unwrap_or(f64::NAN)),
            DeValue::Boolean(flag) => visitor.visit_bool(*flag),
            DeValue::Datetime(_) => Err(Fault::invalid_type(self.unexpected(), &visitor)),
            DeValue::Array(list) => visitor.visit_seq(Items { items: list.iter() }),
            DeValue::Table(table) => visitor.visit_map(Entries::of(table)),
        }
    }
}

impl<'de> Deserializer<'de> for Value<'de> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        self.visit(visitor).map_err(|fault| fault.at(self.value.span()))
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        if matches!(self.value.get_ref(), DeValue::Table(_)) {
            return self.deserialize_any(visitor);
        }
        let expected = match keys {
            [] => "an empty table `{}`".into(),
            keys => format!("a table with keys among {}", keys.join(", ")),
        };
        Err(Fault::invalid_type(self.unexpected(), &expected.as_str()).at(self.value.span()))
    }

    /// A choice is a table with one key, `{name = {...}}`; a choice without keys of its own may
    /// also be written as its name alone.
    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let choice = match self.value.get_ref() {
            DeValue::String(name) => Ok(Choice { name, name_span: self.value.span(), body: None }),
            DeValue::Table(table) => {
                let mut entries = table.iter();
                match (entries.next(), entries.next()) {
                    (Some((key, body)), None) => {
                        let name = key.get_ref();
                        Ok(Choice { name, name_span: key.span(), body: Some(body) })
                    }
                    (Some((first, _)), Some((second, _))) => {
                        let title = "two choices where there can be one";
                        Err(Fault::new(title, format!("`{second}` is a second choice"))
                            .at(second.span())
                            .with_context(first.span(), format!("`{first}` is the first")))
                    }
                    _ => Err(Fault::value("an empty table", one_of(names))),
                }
            }
            _ => Err(Fault::invalid_type(self.unexpected(), &one_of(names).as_str())),
        };
        choice.and_then(|choice| visitor.visit_enum(choice)).map_err(|f| f.at(self.value.span()))
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit
        unit_struct seq tuple tuple_struct map identifier ignored_any
    }
}

fn one_of(names: &[&str]) -> String {
    format!("one of the choices {}", names.join(", "))
}

/// The entries of a table, one after the other.
struct Entries<'de> {
    entries: Option<toml::map::Iter<'de, Spanned<Cow<'de, str>>, Spanned<DeValue<'de>>>>,
    pending: Option<(&'de str, &'de Spanned<DeValue<'de>>)>,
}

impl<'de> Entries<'de> {
    fn of(table: &'de DeTable<'de>) -> Entries<'de> {
        Entries { entries: Some(table.iter()), pending: None }
    }

    /// Those of a table that was not written.
    fn none() -> Entries<'de> {
        Entries { entries: None, pending: None }
    }
}

impl<'de> MapAccess<'de> for Entries<'de> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Fault> {
        let next = self.entries.as_mut().and_then(Iterator::next);
        let Some((key, value)) = next else { return Ok(None) };
        self.pending = Some((key.get_ref(), value));
        let name: StrDeserializer<'_, Fault> = key.get_ref().as_ref().into_deserializer();
        seed.deserialize(name).map(Some).map_err(|fault| fault.at(key.span()))
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Fault> {
        let (key, value) = self.pending.take().ok_or_else(|| Fault::custom("a value twice"))?;
        seed.deserialize(Value { value }).map_err(|fault| fault.at(value.span()).within(key))
    }
}

/// The items of a list, one after the other.
struct Items<'de> {
    items: std::slice::Iter<'de, Spanned<DeValue<'de>>>,
}

impl<'de> SeqAccess<'de> for Items<'de> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Fault> {
        self.items.next().map(|value| seed.deserialize(Value { value })).transpose()
    }
}

/// One choice of an enum: its name, and the table after the name.
struct Choice<'de> {
    name: &'de str,
    name_span: Range<usize>,
    /// `None` if the name stands alone.
    body: Option<&'de Spanned<DeValue<'de>>>,
}

impl<'de> EnumAccess<'de> for Choice<'de> {
    type Error = Fault;
    type Variant = Choice<'de>;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Fault> {
        let name: StrDeserializer<'_, Fault> = self.name.into_deserializer();
        let chosen = seed.deserialize(name).map_err(|fault| fault.at(self.name_span.clone()))?;
        Ok((chosen, self))
    }
}

impl<'de> VariantAccess<'de> for Choice<'de> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.body.map(Spanned::get_ref) {
            None => Ok(()),
            Some(DeValue::Table(table)) if table.is_empty() => Ok(()),
            Some(_) => Err(Fault::value("more", "an empty table `{}`").within(self.name)),
        }
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Fault> {
        match self.body {
            Some(value) => seed.deserialize(Value { value }),
            None => seed.deserialize(MapAccessDeserializer::new(Entries::none())),
        }
        .map_err(|fault| fault.within(self.name))
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.struct_variant(&[], visitor)
    }

    fn struct_variant<V: Visitor<'de>>(
        self,
        keys: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        match self.body {
            Some(value) => Value { value }.deserialize_struct("", keys, visitor),
            None => visitor.visit_map(Entries::none()),
        }
        .map_err(|fault| fault.within(self.name))
    }
}

//! The names that a declaration reads, as serde was told them: what there is to choose, and the
//! keys of each choice. Lists and help are made from these, so that nothing is listed twice.

use std::cell::Cell;

use serde::de::value::{Error, StrDeserializer};
use serde::de::{
    DeserializeSeed, Deserializer, EnumAccess, Error as _, IntoDeserializer, VariantAccess, Visitor,
};
use serde::{Deserialize, forward_to_deserialize_any};

type Names = &'static [&'static str];

/// The names among which an enum chooses, in the order of its declaration.
///
/// ```
/// # use serde::Deserialize;
/// #[derive(Deserialize)]
/// #[serde(rename_all = "kebab-case")]
/// enum Colour {
///     Red {},
///     DarkBlue { shade: u8 },
/// }
/// assert_eq!(crosstie_units::declared::choices::<Colour>(), ["red", "dark-blue"]);
/// assert_eq!(crosstie_units::declared::keys::<Colour>("dark-blue"), ["shade"]);
/// ```
pub fn choices<'de, T: Deserialize<'de>>() -> Names {
    asked::<T>(None)
}

/// The keys of one choice of an enum, in the order of their declaration; none if there is no such
/// choice.
pub fn keys<'de, T: Deserialize<'de>>(choice: &str) -> Names {
    asked::<T>(Some(choice))
}

fn asked<'de, T: Deserialize<'de>>(choice: Option<&str>) -> Names {
    let found = Cell::new(&[] as Names);
    // It always fails: what it asked for on the way is the answer.
    let _ = T::deserialize(Question { choice, found: &found });
    found.get()
}

/// An input that hears what it is asked for, and has nothing.
#[derive(Clone, Copy)]
struct Question<'a> {
    /// The choice whose keys are wanted; `None`: the choices.
    choice: Option<&'a str>,
    found: &'a Cell<Names>,
}

impl Question<'_> {
    fn answered<T>(self, names: Names) -> Result<T, Error> {
        self.found.set(names);
        Err(nothing())
    }
}

fn nothing() -> Error {
    Error::custom("names are asked for, not values")
}

impl<'de> Deserializer<'de> for Question<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(nothing())
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        keys: Names,
        _: V,
    ) -> Result<V::Value, Error> {
        self.answered(keys)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        choices: Names,
        visitor: V,
    ) -> Result<V::Value, Error> {
        match self.choice {
            None => self.answered(choices),
            Some(_) => visitor.visit_enum(self),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map identifier ignored_any
    }
}

impl<'de> EnumAccess<'de> for Question<'_> {
    type Error = Error;
    type Variant = Self;

    fn variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<(S::Value, Self), Error> {
        let name: StrDeserializer<'_, Error> = self.choice.unwrap_or_default().into_deserializer();
        Ok((seed.deserialize(name)?, self))
    }
}

impl<'de> VariantAccess<'de> for Question<'_> {
    type Error = Error;

    fn unit_variant(self) -> Result<(), Error> {
        Err(nothing())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'de>>(self, seed: S) -> Result<S::Value, Error> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, _: V) -> Result<V::Value, Error> {
        Err(nothing())
    }

    fn struct_variant<V: Visitor<'de>>(self, keys: Names, _: V) -> Result<V::Value, Error> {
        self.answered(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    #[allow(dead_code)]
    enum Way {
        Plain,
        Empty {},
        Inline { first_key: u8, second: String },
        Apart(Keys),
    }

    #[derive(Deserialize)]
    #[serde(from = "Draft")]
    #[allow(dead_code)]
    struct Keys(u8);

    #[derive(Deserialize)]
    #[serde(rename_all = "kebab-case")]
    struct Draft {
        only_key: u8,
    }

    impl From<Draft> for Keys {
        fn from(draft: Draft) -> Keys {
            Keys(draft.only_key)
        }
    }

    #[test]
    fn every_form_of_a_choice_tells_its_keys() {
        assert_eq!(choices::<Way>(), ["plain", "empty", "inline", "apart"]);
        assert_eq!(keys::<Way>("inline"), ["first_key", "second"]);
        assert_eq!(keys::<Way>("apart"), ["only-key"]);
        for without in ["plain", "empty", "unheard-of"] {
            assert!(keys::<Way>(without).is_empty(), "{without}");
        }
    }

    #[test]
    fn what_is_no_choice_has_no_names() {
        assert!(choices::<u32>().is_empty() && keys::<String>("any").is_empty());
    }
}

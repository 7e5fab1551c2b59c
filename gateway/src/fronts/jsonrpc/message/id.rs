//! The id of a request.

use serde_json::Value;

/// A request's id: the value as it came, which its answer must carry, and a key to find it by.
#[derive(Clone, Debug, PartialEq)]
pub struct Id {
    value: Value,
    key: IdKey,
}

/// What makes two ids the same: `1` and `1.0` are, `1` and `"1"` are not; `0`, `""` and `null` are
/// ids like others.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IdKey {
    /// `null`
    Null,
    /// The bits of a number.
    Number(u64),
    /// A string.
    Text(String),
}

impl Id {
    /// `None` if that cannot be one.
    pub fn read(value: &Value) -> Option<Self> {
        let key = match value {
            Value::String(text) => IdKey::Text(text.clone()),
            // Adding zero turns the negative one into the other.
            Value::Number(number) => IdKey::Number((number.as_f64()? + 0.0).to_bits()),
            Value::Null => IdKey::Null,
            _ => return None,
        };
        let value = value.clone();
        Some(Id { value, key })
    }

    /// The id as it came.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// What to find it by.
    pub fn key(&self) -> &IdKey {
        &self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn key(id: Value) -> Option<IdKey> {
        Id::read(&id).map(|id| id.key)
    }

    #[test]
    fn ids_are_the_same_only_as_json_values() {
        let ids = [
            json!(0),
            json!(1),
            json!("0"),
            json!("1"),
            json!(""),
            json!(null),
            json!("null"),
            json!(1.5),
            json!(-1),
        ];
        for (at, one) in ids.iter().enumerate() {
            for (other_at, other) in ids.iter().enumerate() {
                let same = key(one.clone()) == key(other.clone());
                assert_eq!(same, at == other_at, "{one} and {other}");
            }
        }
        assert_eq!(key(json!(1)), key(json!(1.0)));
        assert_eq!(key(json!(0)), key(json!(-0.0)));
    }

    #[test]
    fn an_id_is_given_back_as_it_came() {
        for id in [json!(9_007_199_254_740_993_u64), json!(2.0), json!(null)] {
            let read = Id::read(&id).unwrap();
            assert_eq!(read.value().to_string(), id.to_string());
        }
    }

    #[test]
    fn what_is_no_id() {
        for id in [json!(true), json!([]), json!({})] {
            assert_eq!(key(id.clone()), None, "{id}");
        }
    }
}

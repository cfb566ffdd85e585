//! Conversion of confusion matrices and lists of scores to and from JSON, for use with `#[serde(with = …)]`.

/// Writes a confusion matrix as `{"tn", "fp", "fn", "tp"}`; integer counts are written without a decimal point.
pub(super) mod confusion {
    use scorewise::Confusion;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// The cells of a confusion matrix under their JSON keys.
    #[derive(Serialize, Deserialize)]
    pub(super) struct ConfusionCells {
        #[serde(serialize_with = "serialize_count")]
        tn: f64,
        #[serde(serialize_with = "serialize_count")]
        fp: f64,
        #[serde(rename = "fn", serialize_with = "serialize_count")]
        fn_: f64,
        #[serde(serialize_with = "serialize_count")]
        tp: f64,
    }

    impl From<&Confusion> for ConfusionCells {
        fn from(Confusion { tn, fp, fn_, tp }: &Confusion) -> Self {
            ConfusionCells { tn: *tn, fp: *fp, fn_: *fn_, tp: *tp }
        }
    }

    impl From<ConfusionCells> for Confusion {
        fn from(ConfusionCells { tn, fp, fn_, tp }: ConfusionCells) -> Self {
            Confusion::new(tn, fp, fn_, tp)
        }
    }

    pub(in crate::evaluation) fn serialize<S: Serializer>(confusion: &Confusion, to: S) -> Result<S::Ok, S::Error> {
        ConfusionCells::from(confusion).serialize(to)
    }

    pub(in crate::evaluation) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Confusion, D::Error> {
        ConfusionCells::deserialize(from).map(Confusion::from)
    }

    /// Writes a cell of a confusion matrix, or a sum of cells, without a decimal point if it is an integer.
    pub(in crate::evaluation) fn serialize_count<S: Serializer>(count: &f64, to: S) -> Result<S::Ok, S::Error> {
        // Every integer from 0 to 9e15 is represented exactly as f64 and can be converted to u64.
        if count.fract() == 0.0 && (0.0..9e15).contains(count) {
            to.serialize_u64(*count as u64)
        } else {
            to.serialize_f64(*count)
        }
    }
}

/// Writes an optional confusion matrix as `{"tn", "fp", "fn", "tp"}`, or as `null` for `None`.
pub(super) mod optional_confusion {
    use scorewise::Confusion;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::confusion::ConfusionCells;

    pub(in crate::evaluation) fn serialize<S: Serializer>(
        confusion: &Option<Confusion>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        confusion.as_ref().map(ConfusionCells::from).serialize(to)
    }

    pub(in crate::evaluation) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Confusion>, D::Error> {
        Ok(Option::<ConfusionCells>::deserialize(from)?.map(Confusion::from))
    }
}

/// Writes scores as an object, `{"tss": {"value", "low", "high"}, …}`, in the order of the list. A score that is listed twice is written once.
pub(crate) mod named_estimates {
    use std::fmt;

    use serde::de::{MapAccess, Visitor};
    use serde::ser::SerializeMap;
    use serde::{Deserializer, Serializer};

    use crate::evaluation::NamedEstimate;

    pub(in crate::evaluation) fn serialize<S: Serializer>(scores: &[NamedEstimate], to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (at, NamedEstimate { name, estimate }) in scores.iter().enumerate() {
            if scores[..at].iter().all(|earlier| earlier.name != *name) {
                map.serialize_entry(name, estimate)?;
            }
        }
        map.end()
    }

    /// Reads scores from a JSON object such as `{"tss": {"value", "low", "high"}, …}`, in the order of its keys.
    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<NamedEstimate>, D::Error> {
        /// Reads a JSON object of scores as a list.
        struct EstimateMap;

        impl<'de> Visitor<'de> for EstimateMap {
            type Value = Vec<NamedEstimate>;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("an object with a value for each score")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut scores = Vec::new();
                while let Some((name, estimate)) = map.next_entry()? {
                    scores.push(NamedEstimate { name, estimate });
                }
                Ok(scores)
            }
        }

        from.deserialize_map(EstimateMap)
    }
}

#[cfg(test)]
mod tests {
    use scorewise::Confusion;
    use serde::{Deserialize, Serialize};

    use crate::evaluation::{Estimate, NamedEstimate};

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    /// A struct whose fields are written as JSON by the modules under test.
    struct JsonSample {
        #[serde(with = "super::confusion")]
        confusion: Confusion,
        #[serde(with = "super::optional_confusion")]
        none: Option<Confusion>,
        #[serde(with = "super::named_estimates")]
        scores: Vec<NamedEstimate>,
    }

    #[test]
    fn whole_counts_have_no_decimal_point_and_scores_keep_their_order() {
        let score = |name: &str, value: Option<f64>| NamedEstimate {
            name: name.into(),
            estimate: Estimate::new(value, value.map(|value| (value - 0.25, value + 0.25))),
        };
        let sample = JsonSample {
            confusion: Confusion::new(2680.0, 72.0, 23.0, 28.5),
            none: None,
            scores: vec![score("tss", Some(0.5)), score("f1", None)],
        };
        let text = serde_json::to_string(&sample).unwrap();
        let expected = r#"{"confusion":{"tn":2680,"fp":72,"fn":23,"tp":28.5},"none":null,"#.to_string()
            + r#""scores":{"tss":{"value":0.5,"low":0.25,"high":0.75},"f1":{"value":null,"low":null,"high":null}}}"#;
        assert_eq!(text, expected);
        assert_eq!(serde_json::from_str::<JsonSample>(&text).unwrap(), sample);
    }

    #[test]
    fn a_score_that_is_listed_twice_is_written_as_one_key() {
        let f1 = NamedEstimate { name: "f1".into(), estimate: Estimate::new(Some(1.0), None) };
        let sample = JsonSample { confusion: Confusion::default(), none: None, scores: vec![f1.clone(), f1] };
        assert_eq!(serde_json::to_string(&sample).unwrap().matches("f1").count(), 1);
    }
}

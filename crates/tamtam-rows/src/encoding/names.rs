//! Columns by their names, for forms in which each value has the name of its column beside it.

use std::collections::HashMap;

use crate::{DecodeError, EncodeError, Field, Schema};

/// Refuses a table in which two columns have one name.
pub(super) fn check_names(form: &'static str, schema: &Schema) -> Result<(), EncodeError> {
    let mut names: Vec<&str> = schema.fields().iter().map(Field::name).collect();
    names.sort_unstable();
    match names.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => Err(EncodeError::Unsupported {
            form,
            what: format!("two columns called {:?}", pair[0]),
            reason: "a name can be in an object once; rename one of them".into(),
        }),
    }
}

/// Which column a name in an object means.
pub(super) struct Names<'s> {
    schema: &'s Schema,
    /// Made when a name is not where it was expected.
    index: HashMap<&'s str, usize>,
}

impl<'s> Names<'s> {
    pub(super) fn new(form: &'static str, schema: &'s Schema) -> Result<Names<'s>, DecodeError> {
        check_names(form, schema).map_err(|_| DecodeError::Schema {
            form,
            reason: "the schema has one name twice, which no object can have".into(),
        })?;
        Ok(Names {
            schema,
            index: HashMap::new(),
        })
    }

    pub(super) fn find(&mut self, name: &str, expected: usize) -> Option<usize> {
        let fields = self.schema.fields();
        if fields
            .get(expected)
            .is_some_and(|field| field.name() == name)
        {
            return Some(expected);
        }
        if self.index.is_empty() {
            self.index = fields
                .iter()
                .enumerate()
                .map(|(index, field)| (field.name(), index))
                .collect();
        }
        self.index.get(name).copied()
    }
}

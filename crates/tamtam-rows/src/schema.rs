//! The names and types of columns.

use std::sync::Arc;

use crate::{Kind, ShapeError};

/// The name and type of one column, and whether it may hold nulls.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Field, Kind};
///
/// let id = Field::new("id", Kind::Uuid);
/// let name = Field::nullable("name", Kind::Text); // rows may lack one
/// assert_eq!((id.name(), id.kind()), ("id", &Kind::Uuid));
/// assert!(name.is_nullable() && !id.is_nullable());
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    name: Arc<str>,
    kind: Kind,
    nullable: bool,
}

impl Field {
    /// A column without nulls.
    pub fn new(name: impl Into<Arc<str>>, kind: Kind) -> Field {
        Field {
            name: name.into(),
            kind,
            nullable: false,
        }
    }

    /// A column that may hold nulls.
    pub fn nullable(name: impl Into<Arc<str>>, kind: Kind) -> Field {
        Field {
            name: name.into(),
            kind,
            nullable: true,
        }
    }

    /// The column's name. Names need not differ: the result of a join may hold one twice.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The type of its values.
    pub fn kind(&self) -> &Kind {
        &self.kind
    }

    /// Whether it may hold nulls.
    pub fn is_nullable(&self) -> bool {
        self.nullable
    }
}

/// The columns of a table: names, types, and which may hold nulls. Cheap to clone.
///
/// # Examples
///
/// ```
/// use tamtam_rows::{Field, Kind, Schema};
///
/// let schema = Schema::new([Field::new("id", Kind::U64), Field::nullable("name", Kind::Text)])?;
/// assert_eq!(schema.len(), 2);
/// assert_eq!(schema.index_of("name"), Some(1));
/// # Ok::<(), tamtam_rows::ShapeError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Schema {
    fields: Arc<[Field]>,
}

impl Schema {
    /// A schema of these columns, from left to right.
    ///
    /// # Errors
    /// A decimal whose precision is not 1 to 38, or whose scale is above its precision.
    pub fn new(fields: impl IntoIterator<Item = Field>) -> Result<Schema, ShapeError> {
        let fields: Arc<[Field]> = fields.into_iter().collect();
        for field in fields.iter() {
            if let Kind::Decimal { precision, scale } = field.kind
                && (precision == 0 || precision > 38 || scale > precision)
            {
                return Err(ShapeError::Decimal {
                    column: field.name.to_string(),
                    precision,
                    scale,
                });
            }
        }
        Ok(Schema { fields })
    }

    /// The columns, from left to right.
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// How many columns there are.
    pub fn len(&self) -> usize {
        self.fields.len()
    }

    /// Whether there is no column at all.
    pub fn is_empty(&self) -> bool {
        self.fields.is_empty()
    }

    /// What this schema has that another does not expect, for errors.
    pub(crate) fn difference(&self, expected: &Schema) -> String {
        if self.len() != expected.len() {
            return format!("it has {} columns, not {}", self.len(), expected.len());
        }
        let differs = self
            .fields
            .iter()
            .zip(expected.fields())
            .find(|(mine, theirs)| mine != theirs);
        differs.map_or_else(String::new, |(mine, theirs)| {
            let null = |field: &Field| {
                if field.is_nullable() {
                    ", nullable"
                } else {
                    ""
                }
            };
            format!(
                "its column {:?} is {}{}, where {:?}, {}{} was asked for",
                mine.name(),
                mine.kind(),
                null(mine),
                theirs.name(),
                theirs.kind(),
                null(theirs),
            )
        })
    }

    /// Where the first column of this name stands.
    pub fn index_of(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|field| field.name() == name)
    }
}

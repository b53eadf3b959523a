//! The article's table, taken apart for crates that know its five columns.

use tamtam_rows::{Column, Rows, Schema, Strings};

/// Its columns.
#[derive(Debug, PartialEq)]
pub(crate) struct Tiles {
    pub(crate) slots: Slots,
    pub(crate) x: Vec<i16>,
    pub(crate) y: Vec<i16>,
    pub(crate) colors: Strings,
    pub(crate) rotations: Vec<i16>,
}

/// They have 32 bits if there are very many.
#[derive(Debug, PartialEq)]
pub(crate) enum Slots {
    Small(Vec<i16>),
    Large(Vec<i32>),
}

impl Tiles {
    /// Those of a table.
    pub(crate) fn of(rows: &Rows) -> Result<Tiles, String> {
        let column = |name: &str| {
            rows.column(name)
                .ok_or_else(|| format!("the table has no column {name}"))
        };
        let small = |name: &str| {
            column(name)?
                .slice::<i16>()
                .map(<[i16]>::to_vec)
                .ok_or_else(|| format!("the column {name} is not of 16 bits"))
        };
        let slots = match column("slot_number")?.slice::<i32>() {
            Some(slots) => Slots::Large(slots.to_vec()),
            None => Slots::Small(small("slot_number")?),
        };
        Ok(Tiles {
            slots,
            x: small("x")?,
            y: small("y")?,
            colors: column("color")?
                .texts()
                .ok_or("the column color is no text")?
                .clone(),
            rotations: small("rotation")?,
        })
    }

    /// The table of these.
    pub(crate) fn rows(self, schema: &Schema) -> Result<Rows, String> {
        let slots = match self.slots {
            Slots::Small(slots) => Column::from(slots),
            Slots::Large(slots) => Column::from(slots),
        };
        let columns = [
            slots,
            self.x.into(),
            self.y.into(),
            self.colors.into(),
            self.rotations.into(),
        ];
        Rows::new(schema.clone(), columns).map_err(|error| error.to_string())
    }
}

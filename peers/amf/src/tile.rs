//! The objects of the packet.

use serde::{Deserialize, Serialize};

/// The name of their class.
pub(crate) const CLASS: &str = "demo.Tile";

/// What a table of a game has: numbers, texts, a choice.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Tile {
    pub(crate) id: f64,
    pub(crate) x: f64,
    pub(crate) y: f64,
    pub(crate) colour: String,
    pub(crate) label: String,
    pub(crate) visible: bool,
}

impl Tile {
    pub(crate) fn new(number: u32) -> Self {
        let colours = ["red", "green", "blue"];
        Self {
            id: f64::from(number),
            x: f64::from(number % 37) + 0.5,
            y: f64::from(number / 37) + 0.25,
            colour: colours[number as usize % colours.len()].into(),
            label: format!("tile number {number}"),
            visible: !number.is_multiple_of(3),
        }
    }
}

/// A tile whose texts stay where the packet has them.
#[derive(Deserialize)]
#[serde(rename = "Tile")]
pub(crate) struct BorrowedTile<'a> {
    id: f64,
    x: f64,
    y: f64,
    colour: &'a str,
    label: &'a str,
    visible: bool,
}

impl BorrowedTile<'_> {
    pub(crate) fn owned(&self) -> Tile {
        Tile {
            id: self.id,
            x: self.x,
            y: self.y,
            colour: self.colour.into(),
            label: self.label.into(),
            visible: self.visible,
        }
    }
}

/// What a peer's value is.
pub(crate) enum Member<'a> {
    Number(f64),
    Text(&'a str),
    Boolean(bool),
}

impl Tile {
    /// Puts in a member that a peer has read.
    pub(crate) fn put(&mut self, name: &str, member: Member<'_>) -> Result<(), String> {
        match (name, member) {
            ("id", Member::Number(number)) => self.id = number,
            ("x", Member::Number(number)) => self.x = number,
            ("y", Member::Number(number)) => self.y = number,
            ("colour", Member::Text(text)) => self.colour = text.into(),
            ("label", Member::Text(text)) => self.label = text.into(),
            ("visible", Member::Boolean(boolean)) => self.visible = boolean,
            _ => return Err(format!("a tile has no {name} of that kind")),
        }
        Ok(())
    }
}

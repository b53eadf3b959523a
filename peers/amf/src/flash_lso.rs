//! `flash-lso`, by the makers of Ruffle.

use ::flash_lso::packet::{Packet, read};
use ::flash_lso::types::{Element, Value};

use crate::Outcome;
use crate::tile::{CLASS, Member, Tile};

pub(crate) fn tree(packet: &[u8]) -> Outcome<Packet> {
    read::parse(packet).map_err(|error| format!("flash-lso: {error}").into())
}

pub(crate) fn tiles_of(packet: &Packet) -> Outcome<Vec<Tile>> {
    let mut list = &packet.messages[0].contents;
    if let Value::AMF3(within) = list {
        list = within;
    }
    let Value::StrictArray { values, .. } = list else {
        return Err("flash-lso has read no array".into());
    };
    values.iter().map(tile_of).collect()
}

fn tile_of(value: &Value) -> Outcome<Tile> {
    let Value::Object { data, .. } = value else {
        return Err(format!("flash-lso has read {value:?}").into());
    };
    if data
        .class_definition
        .as_ref()
        .is_none_or(|class| class.name != CLASS)
    {
        return Err("flash-lso has read another class".into());
    }
    let mut tile = Tile::default();
    for Element { name, value } in &data.elements {
        tile.put(
            name,
            match value {
                Value::Number(number) => Member::Number(*number),
                Value::String(text) => Member::Text(text),
                Value::Bool(boolean) => Member::Boolean(*boolean),
                other => return Err(format!("flash-lso has read {other:?}").into()),
            },
        )?;
    }
    Ok(tile)
}

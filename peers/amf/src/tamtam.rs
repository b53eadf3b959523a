//! `tamtam-amf`: writes the packets, and reads them.

use serde::Deserialize;
use tamtam_amf::packet::{Decoder, Encoder, Packet, Version};
use tamtam_amf::typed::{Mapping, SerializeError};
use tamtam_amf::{EncodeError, amf0, amf3};

use crate::Outcome;
use crate::tile::{CLASS, Member, Tile};

const TARGET: &str = "/1/onResult";

fn mapping() -> Mapping {
    Mapping::new().class("Tile", CLASS)
}

pub(crate) fn packet_of_amf0(tiles: &[Tile]) -> Outcome<Vec<u8>> {
    let value = mapping().to_amf0(tiles)?;
    packet(Version::Amf0, value)
}

/// As Flash Player and servers write version 3: one value of AMF3 within AMF0.
pub(crate) fn packet_of_amf3(tiles: &[Tile]) -> Outcome<Vec<u8>> {
    let mut value = Vec::new();
    let mut encoder = amf0::Encoder::new(&mut value);
    let mut refused = None;
    let written = encoder.avmplus(|within| match mapping().write_amf3(within, tiles) {
        Err(SerializeError::Encode(error)) => Err::<(), EncodeError>(error),
        Err(other) => {
            refused = Some(other);
            Ok(())
        }
        Ok(()) => Ok(()),
    });
    if let Some(refused) = refused {
        return Err(refused.into());
    }
    written?;
    encoder.finish()?;
    packet(Version::Amf3, value)
}

fn packet(version: Version, value: Vec<u8>) -> Outcome<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut packet = Encoder::new(&mut bytes, version);
    packet.message_bytes(TARGET, "null", |out| -> Outcome {
        out.extend(value);
        Ok(())
    })?;
    Ok(bytes)
}

/// The objects as structs, whose texts are owned or borrowed as the type says.
pub(crate) fn structs<'a, T: Deserialize<'a>>(packet: &'a [u8]) -> Outcome<Vec<T>> {
    let mut packet = Decoder::new(packet, Default::default())?;
    packet.next_message()?.ok_or("there is no message")?;
    Ok(mapping().read_packet(&mut packet)?)
}

pub(crate) fn tree(packet: &[u8]) -> Outcome<Packet> {
    Ok(Packet::decode(packet, Default::default())?)
}

pub(crate) fn tiles_of(packet: &Packet) -> Outcome<Vec<Tile>> {
    let mut tiles = Vec::new();
    match &packet.messages[0].value {
        amf0::Value::StrictArray(values) => {
            for value in values {
                let amf0::Value::TypedObject(object) = value else {
                    return Err("there is no typed object".into());
                };
                let mut tile = Tile::default();
                for (name, value) in &object.properties {
                    tile.put(
                        name,
                        match value {
                            amf0::Value::Number(number) => Member::Number(*number),
                            amf0::Value::String(text) => Member::Text(text),
                            amf0::Value::Boolean(boolean) => Member::Boolean(*boolean),
                            other => return Err(format!("no tile has {other:?}").into()),
                        },
                    )?;
                }
                tiles.push(tile);
            }
        }
        amf0::Value::Avmplus(list) => {
            let amf3::Value::Array(list) = &**list else {
                return Err("there is no array".into());
            };
            for value in &list.dense {
                let amf3::Value::Object(object) = value else {
                    return Err("there is no object".into());
                };
                let mut tile = Tile::default();
                for (name, value) in object.traits.members.iter().zip(&object.sealed) {
                    tile.put(
                        name,
                        match value {
                            amf3::Value::Double(number) => Member::Number(*number),
                            amf3::Value::String(text) => Member::Text(text),
                            amf3::Value::Boolean(boolean) => Member::Boolean(*boolean),
                            other => return Err(format!("no tile has {other:?}").into()),
                        },
                    )?;
                }
                tiles.push(tile);
            }
        }
        _ => return Err("there is no array".into()),
    }
    Ok(tiles)
}

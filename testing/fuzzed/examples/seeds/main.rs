//! Writes the seeds of the forms of rows into `corpus`, small tables in each form, those of packets of remoting, and requests to the gateway.
//!
//!     cargo run --package tamtam-fuzzed --all-features --example seeds

mod gateway;

use std::fs;
use std::path::{Path, PathBuf};

use tamtam_amf::amf0::Value;
use tamtam_amf::packet::{Encoder, PacketEncodeError, Version};
use tamtam_fuzzed::forms::{packed_tables, tables};
use tamtam_rows::encoding::{
    Amf0RecordSet, JsonArrays, JsonColumns, JsonObjects, MessagePack, Text, XmlRpc,
};
use tamtam_rows::{Compression, CompressionKind, Encoding, encoding};

fn folder(target: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus")
        .join(target);
    fs::create_dir_all(&folder).expect("the corpus can be written");
    folder
}

fn seed(target: &str, name: &str, bytes: &[u8]) {
    fs::write(folder(target).join(name), bytes).expect("the seed can be written");
}

fn encoded(form: &dyn Encoding, rows: &tamtam_rows::Rows) -> Vec<u8> {
    let mut bytes = Vec::new();
    form.encode(rows, &mut bytes)
        .expect("these tables can be carried");
    bytes
}

/// Calls and answers, in both versions.
fn packets() -> [(&'static str, Vec<u8>); 3] {
    let packet = |version, write: &dyn Fn(&mut Encoder<'_>) -> Result<(), PacketEncodeError>| {
        let mut bytes = Vec::new();
        write(&mut Encoder::new(&mut bytes, version)).expect("these packets can be written");
        bytes
    };
    let object = Value::Object(vec![("userid".into(), "ada".into())]);
    let arguments = Value::from(vec!["a set".into(), object.clone(), Value::Reference(1)]);
    let in_amf3 = Value::Avmplus(Box::new(vec!["x".into(), "x".into()].into()));
    [
        (
            "call",
            packet(Version::Amf0, &|packet| {
                packet.write_header("Credentials", true, &object)?;
                packet.write_message("Tiles.list", "/1", &arguments)?;
                packet.write_message("Tiles.list", "/2", &arguments)
            }),
        ),
        (
            "call-amf3",
            packet(Version::Amf3, &|packet| {
                packet.write_message("null", "/1", &vec![in_amf3.clone()].into())?;
                packet.write_message("null", "/2", &in_amf3)
            }),
        ),
        (
            "answer",
            packet(Version::Amf0, &|packet| {
                packet.message_bytes("/1/onResult", "null", |out| {
                    out.extend(encoded(&Amf0RecordSet, &tables()[1].1.part(0..3)));
                    Ok(())
                })
            }),
        ),
    ]
}

fn main() {
    gateway::write();
    for (name, packet) in packets() {
        seed("amf_packet_decode", name, &packet);
    }
    let forms: [(&str, &dyn Encoding); 5] = [
        ("json_arrays_decode", &JsonArrays),
        ("json_objects_decode", &JsonObjects),
        ("json_columns_decode", &JsonColumns),
        ("message_pack_decode", &MessagePack),
        ("xml_rpc_decode", &XmlRpc),
    ];
    for (index, (table, rows)) in tables().iter().enumerate() {
        let first = index as u8;
        for (target, form) in forms {
            let bytes = encoded(form, rows);
            seed(target, table, &[&[first], &bytes[..]].concat());
            if target.starts_with("json") {
                seed("json_infer", &format!("{target}-{table}"), &bytes);
            }
        }
        // With a line of names and commas; without and semicolons. `schema` takes the remainder by five.
        let headed = encoded(&Text::HEADED, rows);
        seed("text_decode", table, &[&[first], &headed[..]].concat());
        seed("text_infer", table, &headed);
        let bare = Text {
            header: false,
            delimiter: b';',
        };
        let bytes = encoded(&bare, rows);
        seed(
            "text_decode",
            &format!("{table}-bare"),
            &[&[195 + first], &bytes[..]].concat(),
        );
        for mode in ["packed", "packed-small", "packed-plain"] {
            let form = encoding::find(mode).expect("these forms are always there");
            seed(
                "packed_decode",
                &format!("{mode}-{table}"),
                &encoded(form, rows),
            );
        }
        let plain = encoding::find("packed-plain").expect("this form is always there");
        seed("packed_view", table, &encoded(plain, rows));
    }
    for (table, rows) in packed_tables() {
        let form = encoding::find("packed-small").expect("this form is always there");
        let name = format!("packed-small-{table}");
        seed("packed_decode", &name, &encoded(form, &rows));
    }
    for (index, kind) in CompressionKind::ALL.into_iter().enumerate() {
        let compression = Compression {
            threshold_bytes: 0,
            ..Compression::new(kind)
        };
        let body = encoded(&Text::HEADED, &tables()[1].1);
        let sent = compression.compress(body).expect("the level is usual");
        seed(
            "decompress",
            kind.name(),
            &[&[index as u8], &sent.bytes[..]].concat(),
        );
    }
}

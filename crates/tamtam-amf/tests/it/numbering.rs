//! References of AMF0 as servers count them, and as Flash Player does.

use tamtam_amf::amf0::{Numbering, Value};
use tamtam_amf::packet::{Decoder, Encoder, PacketLimits, Version};
use tamtam_amf::{Limits, amf0};

#[test]
fn dates_and_xml_are_counted_as_the_sender_does() {
    let date = Value::Date {
        milliseconds: 5.0,
        time_zone: 0,
    };
    // Arguments (0): an object (1) of an XML document (2), a date (3), both again, and an array (4) again.
    let xml = Value::XmlDocument("<a/>".into());
    let of = |xml_again, date_again, list_again| {
        let properties = vec![
            ("xml", xml.clone()),
            ("date", date.clone()),
            ("xml again", xml_again),
            ("date again", date_again),
            ("list", vec![].into()),
            ("list again", list_again),
        ];
        let named = properties
            .into_iter()
            .map(|(name, value)| (name.into(), value));
        Value::from(vec![Value::Object(named.collect())])
    };
    let flash = of(
        Value::Reference(2),
        Value::Reference(3),
        Value::Reference(4),
    );
    let whole = of(xml.clone(), date.clone(), vec![].into());
    let mut bytes = Vec::new();
    let mut encoder =
        Encoder::new(&mut bytes, Version::Amf0).with_numbering(Numbering::FlashPlayer);
    encoder.write_message("t", "/1", &flash).unwrap();
    let read = |numbering| {
        let decoder = Decoder::new(&bytes, PacketLimits::default()).unwrap();
        let mut decoder = decoder.with_numbering(numbering);
        decoder.next_message().unwrap();
        decoder.value()
    };
    assert_eq!(read(Numbering::FlashPlayer), Ok(whole));
    read(Numbering::Specification).unwrap_err();
    // By the specification the list is number 2, and dates and XML have no number.
    let servers = of(xml.clone(), date.clone(), Value::Reference(2));
    let written = amf0::encode(&servers).unwrap();
    let whole = of(xml.clone(), date.clone(), vec![].into());
    assert_eq!(amf0::decode(&written, Limits::default()), Ok(whole));
    amf0::encode(&flash).unwrap_err();
}

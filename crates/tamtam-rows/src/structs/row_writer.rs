//! One struct, taken as a row.

use serde::Serialize;
use serde::ser::{
    Impossible, SerializeMap, SerializeSeq, SerializeStruct, SerializeTuple, SerializeTupleStruct,
    Serializer,
};

use super::Reason;
use super::cell_writer::CellWriter;
use super::growing::Growing;

/// Takes one value as a row.
pub(super) struct RowWriter<'g> {
    pub(super) growing: &'g mut Growing,
}

/// The fields of a row, one behind the other.
pub(super) struct Fields<'g> {
    growing: &'g mut Growing,
    /// The column that is most likely the next one's.
    expected: usize,
    /// That of the key which was read last.
    column: usize,
}

fn no_row(what: &str) -> Reason {
    Reason(format!("{what} is no row; a struct, a tuple or a map is"))
}

macro_rules! no_rows {
    ($($function:ident($type:ty) $what:literal;)*) => {$(
        fn $function(self, _: $type) -> Result<(), Reason> {
            Err(no_row($what))
        }
    )*};
}

impl<'g> RowWriter<'g> {
    fn fields(self) -> Fields<'g> {
        Fields {
            growing: self.growing,
            expected: 0,
            column: 0,
        }
    }
}

impl<'g> Serializer for RowWriter<'g> {
    type Ok = ();
    type Error = Reason;
    type SerializeSeq = Fields<'g>;
    type SerializeTuple = Fields<'g>;
    type SerializeTupleStruct = Fields<'g>;
    type SerializeTupleVariant = Impossible<(), Reason>;
    type SerializeMap = Fields<'g>;
    type SerializeStruct = Fields<'g>;
    type SerializeStructVariant = Impossible<(), Reason>;

    no_rows! {
        serialize_bool(bool) "a truth value";
        serialize_i8(i8) "an integer";
        serialize_i16(i16) "an integer";
        serialize_i32(i32) "an integer";
        serialize_i64(i64) "an integer";
        serialize_u8(u8) "an integer";
        serialize_u16(u16) "an integer";
        serialize_u32(u32) "an integer";
        serialize_u64(u64) "an integer";
        serialize_f32(f32) "a float";
        serialize_f64(f64) "a float";
        serialize_char(char) "a character";
        serialize_str(&str) "a text";
        serialize_bytes(&[u8]) "a string of bytes";
        serialize_unit_struct(&'static str) "a struct without fields";
    }

    fn serialize_none(self) -> Result<(), Reason> {
        Err(no_row("None"))
    }

    fn serialize_unit(self) -> Result<(), Reason> {
        Err(no_row("()"))
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Reason> {
        value.serialize(self)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
    ) -> Result<(), Reason> {
        Err(no_row("a variant"))
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<(), Reason> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Reason> {
        Err(no_row("a variant"))
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Fields<'g>, Reason> {
        Ok(self.fields())
    }

    fn serialize_tuple(self, _: usize) -> Result<Fields<'g>, Reason> {
        Ok(self.fields())
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Fields<'g>, Reason> {
        Ok(self.fields())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Reason> {
        Err(no_row("a variant"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Fields<'g>, Reason> {
        Ok(self.fields())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Fields<'g>, Reason> {
        Ok(self.fields())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Reason> {
        Err(no_row("a variant"))
    }
}

impl Fields<'_> {
    #[inline]
    fn put<T: Serialize + ?Sized>(&mut self, column: usize, value: &T) -> Result<(), Reason> {
        self.expected = column + 1;
        self.growing
            .put(column, |place| value.serialize(CellWriter { place }))
    }

    fn next<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Reason> {
        let column = self.growing.numbered(self.expected)?;
        self.put(column, value)
    }
}

impl SerializeStruct for Fields<'_> {
    type Ok = ();
    type Error = Reason;

    #[inline]
    fn serialize_field<T: Serialize + ?Sized>(
        &mut self,
        name: &'static str,
        value: &T,
    ) -> Result<(), Reason> {
        let column = self.growing.named(name, self.expected)?;
        self.put(column, value)
    }

    fn end(self) -> Result<(), Reason> {
        Ok(())
    }
}

macro_rules! by_place {
    ($($trait:ident::$function:ident;)*) => {$(
        impl $trait for Fields<'_> {
            type Ok = ();
            type Error = Reason;

            #[inline]
            fn $function<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Reason> {
                self.next(value)
            }

            fn end(self) -> Result<(), Reason> {
                Ok(())
            }
        }
    )*};
}
by_place! {
    SerializeSeq::serialize_element;
    SerializeTuple::serialize_element;
    SerializeTupleStruct::serialize_field;
}

impl SerializeMap for Fields<'_> {
    type Ok = ();
    type Error = Reason;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Reason> {
        self.column = key.serialize(KeyWriter {
            growing: self.growing,
            expected: self.expected,
        })?;
        Ok(())
    }

    #[inline]
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Reason> {
        self.put(self.column, value)
    }

    fn end(self) -> Result<(), Reason> {
        Ok(())
    }
}

/// Takes the key of a map: which column it is.
struct KeyWriter<'g> {
    growing: &'g mut Growing,
    expected: usize,
}

fn no_name() -> Reason {
    Reason("the keys of a map must be text, to be the names of columns".into())
}

macro_rules! no_names {
    ($($function:ident($($type:ty),*);)*) => {$(
        fn $function(self, $(_: $type),*) -> Result<usize, Reason> {
            Err(no_name())
        }
    )*};
}

impl Serializer for KeyWriter<'_> {
    type Ok = usize;
    type Error = Reason;
    type SerializeSeq = Impossible<usize, Reason>;
    type SerializeTuple = Impossible<usize, Reason>;
    type SerializeTupleStruct = Impossible<usize, Reason>;
    type SerializeTupleVariant = Impossible<usize, Reason>;
    type SerializeMap = Impossible<usize, Reason>;
    type SerializeStruct = Impossible<usize, Reason>;
    type SerializeStructVariant = Impossible<usize, Reason>;

    #[inline]
    fn serialize_str(self, name: &str) -> Result<usize, Reason> {
        self.growing.named(name, self.expected)
    }

    fn serialize_unit_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
    ) -> Result<usize, Reason> {
        self.serialize_str(variant)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Result<usize, Reason> {
        value.serialize(self)
    }

    no_names! {
        serialize_bool(bool);
        serialize_i8(i8);
        serialize_i16(i16);
        serialize_i32(i32);
        serialize_i64(i64);
        serialize_u8(u8);
        serialize_u16(u16);
        serialize_u32(u32);
        serialize_u64(u64);
        serialize_f32(f32);
        serialize_f64(f64);
        serialize_char(char);
        serialize_bytes(&[u8]);
        serialize_none();
        serialize_unit();
        serialize_unit_struct(&'static str);
    }

    fn serialize_some<T: Serialize + ?Sized>(self, _: &T) -> Result<usize, Reason> {
        Err(no_name())
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<usize, Reason> {
        Err(no_name())
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Reason> {
        Err(no_name())
    }

    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Reason> {
        Err(no_name())
    }

    fn serialize_tuple_struct(
        self,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleStruct, Reason> {
        Err(no_name())
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Reason> {
        Err(no_name())
    }

    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Reason> {
        Err(no_name())
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Reason> {
        Err(no_name())
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Reason> {
        Err(no_name())
    }
}

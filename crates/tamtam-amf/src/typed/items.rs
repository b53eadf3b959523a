//! The items of a value, of either format or of a tree, as a deserializer takes them.

use std::rc::Rc;
use std::sync::Arc;
use std::vec;

use super::ahead::{MembersOfAmf0, MembersOfAmf3};
use crate::amf0::Member;
use crate::input::Input;
use crate::scalar::Scalar;
use crate::{Cause, DecodeError, amf0, amf3};

/// The deepest nesting of containers that is deserialized, whatever [`Limits::depth`](crate::Limits::depth) says: a
/// deserializer recurses, within the two mebibytes of a thread's stack.
const MOST_NESTED: usize = 128;

/// An item.
#[derive(Clone, Debug)]
pub(super) enum Item<'de> {
    /// Null or undefined.
    Null,
    Boolean(bool),
    Integer(i32),
    Number(f64),
    /// Milliseconds.
    Date(f64),
    Text(Text<'de>),
    Bytes(Bytes<'de>),
    /// Integers of 32 bits, or doubles, the highest byte first.
    Vector(Element, Bytes<'de>),
    Begin(Begin<'de>),
    /// The name of a member; its value follows.
    Name(Text<'de>),
    End,
    /// A value that was there before.
    Shared(usize),
}

/// What the values of a vector are.
#[derive(Clone, Copy, Debug)]
pub(super) enum Element {
    Int,
    Uint,
    Double,
}

#[derive(Clone, Debug)]
pub(super) enum Text<'de> {
    Borrowed(&'de str),
    Shared(Arc<str>),
}

impl Text<'_> {
    pub(super) fn as_str(&self) -> &str {
        match self {
            Text::Borrowed(text) => text,
            Text::Shared(text) => text,
        }
    }
}

#[derive(Clone, Debug)]
pub(super) enum Bytes<'de> {
    Borrowed(&'de [u8]),
    Owned(Vec<u8>),
}

/// A container.
#[derive(Clone, Debug)]
pub(super) struct Begin<'de> {
    pub(super) kind: Container,
    pub(super) class: Option<Text<'de>>,
    /// How many values follow, if that is known.
    pub(super) length: Option<usize>,
}

/// What a container has inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Container {
    /// Names and values.
    Object,
    /// Names and values, which may be a list by numbers.
    EcmaArray,
    /// Values.
    List,
    /// Names and values, then values.
    Array,
    /// Keys and values.
    Dictionary,
}

fn begin(kind: Container, length: Option<usize>) -> Item<'static> {
    Item::Begin(Begin {
        kind,
        class: None,
        length,
    })
}

fn object<'de>(class: &'de str) -> Item<'de> {
    Item::Begin(Begin {
        kind: Container::Object,
        class: (!class.is_empty()).then_some(Text::Borrowed(class)),
        length: None,
    })
}

/// Where items come from, and what is open.
#[derive(Debug)]
pub(super) struct Items<'d, 'de> {
    source: Source<'d, 'de>,
    /// Items of a tree, which come before those of the source.
    tree: vec::IntoIter<Item<'de>>,
    /// Objects of AMF3 that are open, and other containers.
    open: Vec<Open>,
    /// How many are open where the value of a collection of Flex stands, which is taken for the collection itself.
    collections: Vec<usize>,
    /// Containers that were open in all.
    depth: usize,
    /// The names of the sealed members of traits, once an object that has them alone was read.
    names: Vec<Option<Rc<[&'de str]>>>,
    /// The traits of the last such object, and those alike behind it that the decoder has not gone over.
    last: Option<usize>,
    run: Option<Run<'de>>,
}

/// Objects of AMF3 that are alike, with the names of their members.
#[derive(Debug)]
struct Run<'de> {
    names: Rc<[&'de str]>,
    alike: amf3::Alike<'de>,
}

#[derive(Debug)]
enum Source<'d, 'de> {
    /// AMF0, and whether a value of AMF3 in it is read.
    Amf0(&'d mut amf0::Decoder<'de>, bool),
    Amf3(&'d mut amf3::Decoder<'de>),
    /// Nothing but the tree, which was read until there.
    Tree(usize),
}

impl<'de> Source<'_, 'de> {
    /// The decoder of AMF3, where it is what reads.
    #[inline]
    fn decoder(&mut self) -> Option<&mut amf3::Decoder<'de>> {
        match self {
            Source::Amf0(decoder, _) => decoder.within(),
            Source::Amf3(decoder) => Some(decoder),
            Source::Tree(_) => None,
        }
    }
}

/// An object, whose members may be read ahead of the decoder.
pub(super) enum Ahead<'de> {
    /// It has begun, and they are not.
    Nothing,
    Amf0(MembersOfAmf0<'de>),
    Amf3(MembersOfAmf3<'de>),
}

/// An object of AMF3 that is open.
#[derive(Clone, Copy, Debug)]
struct Open {
    traits: usize,
    /// Sealed members whose value was read, and all of them.
    read: usize,
    sealed: usize,
    /// Whether the name of a sealed member was read.
    named: bool,
}

impl<'d, 'de> Items<'d, 'de> {
    fn of(source: Source<'d, 'de>, tree: Vec<Item<'de>>) -> Self {
        Self {
            source,
            tree: tree.into_iter(),
            open: Vec::new(),
            collections: Vec::new(),
            depth: 0,
            names: Vec::new(),
            last: None,
            run: None,
        }
    }

    pub(super) fn of_amf0(decoder: &'d mut amf0::Decoder<'de>) -> Self {
        Self::of(Source::Amf0(decoder, false), Vec::new())
    }

    pub(super) fn of_amf3(decoder: &'d mut amf3::Decoder<'de>) -> Self {
        Self::of(Source::Amf3(decoder), Vec::new())
    }

    /// Of a tree that ended at a position.
    pub(super) fn of_tree(tree: Vec<Item<'de>>, position: usize) -> Self {
        Self::of(Source::Tree(position), tree)
    }

    /// How far the bytes were read.
    pub(super) fn position(&self) -> usize {
        match &self.source {
            Source::Amf0(decoder, false) => decoder.position(),
            Source::Amf0(decoder, true) => decoder.within_position(),
            Source::Amf3(decoder) => decoder.position(),
            Source::Tree(position) => *position,
        }
    }

    /// Has the decoder go over the objects that were read ahead of it.
    #[inline]
    pub(super) fn settle(&mut self) {
        if self.run.is_some() {
            self.end_run();
        }
    }

    #[cold]
    fn end_run(&mut self) {
        self.last = None;
        if let Some(run) = self.run.take()
            && let Some(decoder) = self.source.decoder()
        {
            decoder.pass_alike(&run.alike);
        }
    }

    /// The next item.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Item<'de>, DecodeError> {
        self.settle();
        let item = match self.tree.next() {
            Some(item) => item,
            None => self.read()?,
        };
        match &item {
            Item::Begin(_) => {
                if self.depth == MOST_NESTED {
                    let limit = MOST_NESTED;
                    return Input::error_at(self.position(), Cause::TooDeep { limit });
                }
                self.depth += 1;
            }
            Item::Name(_) | Item::End if self.depth == 0 => {
                return Input::error_at(self.position(), Cause::NotAValue);
            }
            Item::Name(_) => return Ok(item),
            Item::End => self.depth -= 1,
            _ => {}
        }
        while self.collections.last() == Some(&self.depth) && !matches!(item, Item::Begin(_)) {
            // The end of the collection whose value has ended.
            self.collections.pop();
            self.read_end()?;
        }
        Ok(item)
    }

    /// Whether items are those of the source, one for one.
    #[inline]
    fn is_direct(&self) -> bool {
        self.tree.len() == 0 && self.collections.is_empty()
    }

    /// What is open, and the decoder of AMF3, if a value is what it reads next.
    #[inline]
    fn at_value(&mut self) -> Option<(&mut Open, &mut amf3::Decoder<'de>)> {
        let open = self.open.last_mut()?;
        if !open.named && open.read < open.sealed {
            return None;
        }
        Some((open, self.source.decoder()?))
    }

    /// The next value if it is a scalar within a container, for which no item has to be made.
    #[inline]
    pub(super) fn scalar(&mut self) -> Option<Scalar<'de>> {
        self.settle();
        if !self.is_direct() {
            return None;
        }
        if let Source::Amf0(decoder, false) = &mut self.source {
            return decoder.next_scalar();
        }
        let (open, decoder) = self.at_value()?;
        let scalar = decoder.next_scalar()?;
        open.named = false;
        Some(scalar)
    }

    /// Whether it is certain that a value is next in a list.
    #[inline]
    pub(super) fn has_more(&mut self) -> bool {
        if let Some(run) = &self.run {
            return run.alike.has_more();
        }
        if !self.is_direct() {
            return false;
        }
        if let Source::Amf0(decoder, false) = &self.source {
            return decoder.has_more();
        }
        let in_list = self.open.last().is_some_and(|open| open.sealed == 0);
        in_list && self.decoder().is_some_and(|decoder| decoder.has_more())
    }

    /// The next value if it is an object of this class, or of none, for which no item has to be made. The traits of AMF3 that
    /// are known to be of that class are noted.
    #[inline(always)]
    pub(super) fn object_ahead(
        &mut self,
        class: Option<&str>,
        known: &mut Option<usize>,
    ) -> Option<Ahead<'de>> {
        if let Some(run) = &self.run {
            let is_known = *known == Some(run.alike.traits);
            if is_known && let Some(place) = run.alike.next() {
                let (traits, names) = (run.alike.traits, Rc::clone(&run.names));
                return Some(Ahead::Amf3(MembersOfAmf3::new(traits, names, place)));
            }
            self.end_run();
        }
        if !self.is_direct() || self.depth == MOST_NESTED {
            return None;
        }
        if let Source::Amf0(decoder, false) = &mut self.source {
            if !decoder.next_object(class) {
                return None;
            }
            self.depth += 1;
            let place = decoder.ahead();
            return Some(place.map_or(Ahead::Nothing, |place| {
                Ahead::Amf0(MembersOfAmf0::new(place))
            }));
        }
        let (_, decoder) = self.at_value()?;
        let found = decoder.find_object(class, *known)?;
        *known = Some(found.traits);
        if found.dynamic {
            self.begin_amf3();
            return Some(Ahead::Nothing);
        }
        let place = decoder.values_of(&found);
        let names = match self.names.get(found.traits) {
            Some(Some(names)) => Rc::clone(names),
            _ => self.name_members(found.traits)?,
        };
        Some(Ahead::Amf3(MembersOfAmf3::new(found.traits, names, place)))
    }

    /// The names of the sealed members of traits, which are kept for the next object.
    #[cold]
    fn name_members(&mut self, traits: usize) -> Option<Rc<[&'de str]>> {
        let names: Rc<[&str]> = self.source.decoder()?.members(traits)?.into();
        if self.names.len() <= traits {
            self.names.resize(traits + 1, None);
        }
        self.names[traits] = Some(Rc::clone(&names));
        Some(names)
    }

    /// Where the members of an object of AMF0 are, if a name is next.
    pub(super) fn ahead_in_amf0(&mut self) -> Option<amf0::MembersAhead<'de>> {
        match &self.source {
            Source::Amf0(decoder, false) if self.is_direct() => decoder.ahead(),
            _ => None,
        }
    }

    /// Goes to where members of AMF0 were read ahead; whether the value of the last name is next.
    pub(super) fn catch_up_amf0(&mut self, place: &amf0::MembersAhead<'de>, at_value: bool) {
        if let Source::Amf0(decoder, false) = &mut self.source {
            decoder.catch_up(place, at_value);
        }
    }

    /// Ends an object of AMF0 whose members were read ahead, if it has no more of them.
    #[inline]
    pub(super) fn end_amf0(&mut self, place: &amf0::MembersAhead<'de>) -> bool {
        let Source::Amf0(decoder, false) = &mut self.source else {
            return false;
        };
        let ended = decoder.end_ahead(place);
        self.depth -= usize::from(ended);
        ended
    }

    /// Begins the object of AMF3 that is next and was found.
    pub(super) fn begin_amf3(&mut self) {
        self.settle();
        let Some((open, decoder)) = self.at_value() else {
            return;
        };
        let Some(found) = decoder.find_object(None, None) else {
            return;
        };
        decoder.begin_found(&found);
        open.named = false;
        self.open.push(Open {
            traits: found.traits,
            read: 0,
            sealed: found.sealed,
            named: false,
        });
        self.depth += 1;
    }

    /// Goes over the object of AMF3 that is next and was found, where the values of all its members, which have these names, were
    /// read ahead; whether it was there.
    #[inline(always)]
    pub(super) fn pass_amf3(
        &mut self,
        traits: usize,
        names: &Rc<[&'de str]>,
        place: &amf3::SealedAhead<'de>,
    ) -> bool {
        if let Some(run) = &mut self.run {
            run.alike.pass(place);
            return true;
        }
        self.pass_found(traits, names, place)
    }

    fn pass_found(
        &mut self,
        traits: usize,
        names: &Rc<[&'de str]>,
        place: &amf3::SealedAhead<'de>,
    ) -> bool {
        let is_second = self.last == Some(traits);
        self.last = Some(traits);
        let Some((open, decoder)) = self.at_value() else {
            return false;
        };
        open.named = false;
        let passed = decoder.pass_found(names.len(), place);
        // One alone is not worth it.
        if is_second
            && open.sealed == 0
            && let Some(alike) = decoder.alike(traits, names.len())
        {
            let names = Rc::clone(names);
            self.run = Some(Run { names, alike });
        }
        passed
    }

    /// Where the members of an object of AMF3 are, if the name of the one after so many is next.
    pub(super) fn ahead_in_amf3(&mut self, read: usize) -> Option<amf3::SealedAhead<'de>> {
        self.settle();
        let at_name = |open: &Open| open.read == read && !open.named;
        if !self.is_direct() || !self.open.last().is_some_and(at_name) {
            return None;
        }
        self.decoder()?.ahead(read)
    }

    /// Goes to where members of AMF3 were read ahead, so many more; whether the value of the next name is next.
    pub(super) fn catch_up_amf3(
        &mut self,
        place: &amf3::SealedAhead<'de>,
        values: usize,
        at_value: bool,
    ) {
        self.settle();
        if let Some(open) = self.open.last_mut() {
            open.read = place.read + usize::from(at_value);
            open.named = at_value;
        }
        if let Some(decoder) = self.decoder() {
            decoder.catch_up(place, values);
        }
    }

    /// Ends an object of AMF3, if it has no more values.
    pub(super) fn end_amf3(&mut self) -> bool {
        self.settle();
        let ended = self.decoder().is_some_and(|decoder| decoder.next_end());
        if ended {
            self.open.pop();
            self.depth -= 1;
        }
        ended
    }

    /// The next member of an object, which may be the expected one, or its end, for which no item has to be made.
    #[inline]
    pub(super) fn member(&mut self, expected: Option<&'static str>) -> Option<Member<'de>> {
        self.settle();
        if !self.is_direct() {
            return None;
        }
        if let Source::Amf0(decoder, false) = &mut self.source {
            let member = decoder.next_member(expected)?;
            self.depth -= usize::from(matches!(member, Member::End));
            return Some(member);
        }
        // One by one: they were written so.
        let open = self.open.last_mut()?;
        if open.named {
            return None;
        }
        let decoder = self.source.decoder()?;
        if open.read == open.sealed {
            if !decoder.next_end() {
                return None;
            }
            self.open.pop();
            self.depth -= 1;
            return Some(Member::End);
        }
        let name = decoder.member(open.traits, open.read)?;
        open.named = true;
        open.read += 1;
        Some(Member::Name(name))
    }

    fn read(&mut self) -> Result<Item<'de>, DecodeError> {
        match &mut self.source {
            Source::Amf0(decoder, within) if !*within => match decoder.next_streamed()? {
                amf0::Streamed::Event(event) => old(event),
                amf0::Streamed::Within => {
                    *within = true;
                    self.open.clear();
                    self.read_new()
                }
                amf0::Streamed::Nothing => truncated(decoder.position()),
            },
            Source::Tree(position) => truncated(*position),
            _ => self.read_new(),
        }
    }

    /// The decoder of AMF3, where it is what reads.
    #[inline]
    pub(super) fn decoder(&mut self) -> Option<&mut amf3::Decoder<'de>> {
        self.source.decoder()
    }

    /// The next item of AMF3.
    fn read_new(&mut self) -> Result<Item<'de>, DecodeError> {
        let open = self.open.last().copied();
        if let Some(open) = open
            && !open.named
            && open.read < open.sealed
            && let Some(decoder) = self.decoder()
            && let Some(name) = decoder.member(open.traits, open.read)
        {
            if let Some(open) = self.open.last_mut() {
                open.named = true;
                open.read += 1;
            }
            return Ok(Item::Name(Text::Borrowed(name)));
        }
        if let Some(open) = self.open.last_mut() {
            open.named = false;
        }
        let Some(decoder) = self.decoder() else {
            return truncated(0);
        };
        let Some(event) = decoder.next_event()? else {
            return truncated(decoder.position());
        };
        let item = self.item_of(event)?;
        if let Source::Amf0(decoder, within) = &mut self.source
            && decoder.within_ended()
        {
            *within = false;
        }
        Ok(item)
    }

    fn read_end(&mut self) -> Result<(), DecodeError> {
        self.open.pop();
        if let Some(decoder) = self.decoder() {
            decoder.next_event()?;
        }
        if let Source::Amf0(decoder, within) = &mut self.source
            && decoder.within_ended()
        {
            *within = false;
        }
        Ok(())
    }

    /// An event of AMF3 as an item.
    fn item_of(&mut self, event: amf3::Event<'de>) -> Result<Item<'de>, DecodeError> {
        use amf3::Event;
        let plain = Open {
            traits: 0,
            read: 0,
            sealed: 0,
            named: false,
        };
        Ok(match event {
            Event::Undefined | Event::Null => Item::Null,
            Event::Boolean(boolean) => Item::Boolean(boolean),
            Event::Integer(number) => Item::Integer(number),
            Event::Double(number) => Item::Number(number),
            Event::String(text) | Event::XmlDocument(text) | Event::Xml(text) => {
                Item::Text(Text::Borrowed(text))
            }
            Event::Date(milliseconds) => Item::Date(milliseconds),
            Event::ByteArray(bytes) => Item::Bytes(Bytes::Borrowed(bytes)),
            Event::VectorInt { bytes, .. } => Item::Vector(Element::Int, Bytes::Borrowed(bytes)),
            Event::VectorUint { bytes, .. } => Item::Vector(Element::Uint, Bytes::Borrowed(bytes)),
            Event::VectorDouble { bytes, .. } => {
                Item::Vector(Element::Double, Bytes::Borrowed(bytes))
            }
            Event::Reference(index) => Item::Shared(index as usize),
            Event::BeginArray { dense } => {
                self.open.push(plain);
                begin(Container::Array, Some(dense as usize))
            }
            Event::BeginVector { length, .. } => {
                self.open.push(plain);
                begin(Container::List, Some(length as usize))
            }
            Event::BeginDictionary { length, .. } => {
                self.open.push(plain);
                begin(Container::Dictionary, Some(length as usize))
            }
            Event::BeginObject { traits } => {
                let (sealed, class) = match self.decoder() {
                    Some(decoder) => decoder.described(traits),
                    None => (0, ""),
                };
                self.open.push(Open {
                    traits,
                    sealed,
                    ..plain
                });
                object(class)
            }
            Event::BeginExternalizable { class } => {
                if !amf3::is_collection(class) {
                    self.open.push(plain);
                    return Ok(object(class));
                }
                self.collections.push(self.depth);
                self.open.push(plain);
                // The name of its one value, then that.
                if let Some(decoder) = self.decoder() {
                    decoder.next_event()?;
                }
                return self.read_new();
            }
            Event::Externalizable => {
                let taken = self.decoder().and_then(amf3::Decoder::take_externalizable);
                let items = taken.map(|object| super::flatten::amf3(object.into()));
                self.tree = items.unwrap_or_default().into_iter();
                match self.tree.next() {
                    Some(item) => item,
                    None => Item::Null,
                }
            }
            Event::Property(name) => Item::Name(Text::Borrowed(name)),
            Event::End => {
                self.open.pop();
                Item::End
            }
        })
    }
}

fn truncated<T>(position: usize) -> Result<T, DecodeError> {
    Input::error_at(position, Cause::Truncated { needed: 1, left: 0 })
}

/// An event of AMF0 as an item.
fn old(event: amf0::Event<'_>) -> Result<Item<'_>, DecodeError> {
    use amf0::Event;
    Ok(match event {
        // What is AMF3 is read by its own events.
        Event::Null | Event::Undefined | Event::Unsupported | Event::Avmplus(_) => Item::Null,
        Event::Number(number) => Item::Number(number),
        Event::Boolean(boolean) => Item::Boolean(boolean),
        Event::String(text) | Event::XmlDocument(text) => Item::Text(Text::Borrowed(text)),
        Event::Reference(index) => Item::Shared(usize::from(index)),
        Event::Date { milliseconds, .. } => Item::Date(milliseconds),
        Event::BeginObject => begin(Container::Object, None),
        Event::BeginTypedObject(class) => object(class),
        Event::BeginEcmaArray { .. } => begin(Container::EcmaArray, None),
        Event::BeginStrictArray { length } => begin(Container::List, Some(length as usize)),
        Event::Property(name) => Item::Name(Text::Borrowed(name)),
        Event::End => Item::End,
    })
}

//! The links between actors of the two sides that one end of a link knows. As the other tables, they are kept under the link's lock, and
//! run no user code.

use std::collections::HashMap;

use tamtam_actor::ActorId;
use tamtam_actor::link::LinkTie;

use crate::frame::Maker;

/// So many links the other side may have made, and not taken back: what keeps one that means harm from taking all memory.
pub(crate) const MOST_LINKS: usize = 1 << 20;

/// An actor of this side that is linked with one of the other.
pub(crate) struct Linked {
    pub(crate) tie: LinkTie,
    /// The number under which the other side knows the actor of this one.
    pub(crate) own: u64,
    /// Its number at the other side, if that has made it.
    made_there: Option<u64>,
}

impl Linked {
    /// As this side names it.
    pub(crate) fn name(&self) -> (Maker, u64) {
        match self.made_there {
            Some(number) => (Maker::Reader, number),
            None => (Maker::Writer, self.tie.key()),
        }
    }
}

/// An actor of this side that has links.
struct Linker {
    links: usize,
    /// The other side was told of its end.
    is_told: bool,
}

/// All links of actors of this side with those of the other.
#[derive(Default)]
pub(crate) struct Links {
    by_key: HashMap<u64, Linked>,
    /// The keys of those that the other side has made, by its numbers.
    there: HashMap<u64, u64>,
    /// By the number under which the other side knows them.
    linkers: HashMap<u64, Linker>,
    numbers: HashMap<ActorId, u64>,
    /// The key of the one that the other side takes back just now, over which no end is told any more.
    untying: Option<u64>,
}

impl Links {
    /// How many links there are, and how many actors of this side have them: of the tables that know of either, what the longest has.
    pub(crate) fn len(&self) -> (usize, usize) {
        let links = self.by_key.len().max(self.there.len());
        let linkers = self.linkers.len().max(self.numbers.len());
        (links, linkers)
    }

    /// Whether the other side may make another one, of this number.
    ///
    /// # Errors
    ///
    /// What is wrong with that.
    pub(crate) fn may_be_made(&self, number: u64) -> Result<(), String> {
        if self.there.contains_key(&number) {
            return Err(format!("it has made a link {number} before"));
        }
        if self.there.len() >= MOST_LINKS {
            return Err(format!(
                "it links more than {MOST_LINKS} actors with those of this side"
            ));
        }
        Ok(())
    }

    /// Adds a link of an actor that the other side knows by this number; and its own number there, if that side has made it.
    pub(crate) fn add(&mut self, tie: LinkTie, own: u64, made_there: Option<u64>) {
        let key = tie.key();
        self.numbers.entry(tie.actor()).or_insert(own);
        let linker = self.linkers.entry(own).or_insert(Linker {
            links: 0,
            is_told: false,
        });
        linker.links += 1;
        if let Some(number) = made_there {
            self.there.insert(number, key);
        }
        let linked = Linked {
            tie,
            own,
            made_there,
        };
        self.by_key.insert(key, linked);
    }

    /// The link of this key.
    pub(crate) fn by_key(&self, key: u64) -> Option<&Linked> {
        self.by_key.get(&key)
    }

    /// Takes out the link of this key.
    pub(crate) fn remove(&mut self, key: u64) -> Option<Linked> {
        let linked = self.by_key.remove(&key)?;
        if let Some(number) = linked.made_there {
            self.there.remove(&number);
        }
        if let Some(linker) = self.linkers.get_mut(&linked.own) {
            linker.links -= 1;
            if linker.links == 0 {
                self.linkers.remove(&linked.own);
                if self.numbers.get(&linked.tie.actor()) == Some(&linked.own) {
                    self.numbers.remove(&linked.tie.actor());
                }
            }
        }
        Some(linked)
    }

    /// Takes out the link that is named so by the other side, which takes it back: [`untied`](Self::untied) says that it is.
    pub(crate) fn remove_named(&mut self, maker: Maker, number: u64) -> Option<Linked> {
        let key = match maker {
            Maker::Writer => *self.there.get(&number)?,
            // A key is a number only of what was made here.
            Maker::Reader if self.by_key.get(&number)?.made_there.is_none() => number,
            Maker::Reader => return None,
        };
        self.untying = Some(key);
        self.remove(key)
    }

    /// What was taken out by its name is untied.
    pub(crate) fn untied(&mut self) {
        self.untying = None;
    }

    /// Whether the other side takes the link of this key back just now.
    pub(crate) fn is_untying(&self, key: u64) -> bool {
        self.untying == Some(key)
    }

    /// The number under which the other side knows an actor that is linked.
    pub(crate) fn number_of(&self, actor: ActorId) -> Option<u64> {
        self.numbers.get(&actor).copied()
    }

    /// Whether an actor of this number is linked, of whose end the other side is told.
    pub(crate) fn knows(&self, own: u64) -> bool {
        self.linkers.contains_key(&own)
    }

    /// The other side is told of an actor's end: `false` if that was done.
    pub(crate) fn tell_once(&mut self, own: u64) -> bool {
        match self.linkers.get_mut(&own) {
            Some(linker) => !std::mem::replace(&mut linker.is_told, true),
            None => true,
        }
    }
}

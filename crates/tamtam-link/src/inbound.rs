//! The half of a link's end to which a carrier gives what has come.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Weak};

use tamtam_actor::Fate;
use tamtam_actor::link::{Exported, FarFailure, TakenDescriptor};

use crate::core::{Core, OFFERS_NONE};
use crate::descriptors::{Arrived, Fetch, MOST_IN_MESSAGE};
use crate::error::LinkEnd;
use crate::frame::{
    Body, For, Frame, LENGTH, ROOT, encoding_number, encoding_words, is_message_to_root,
    plain_message, read_body,
};
use crate::frames::{Frames, KeptFrame};
use crate::given::GivenActors;
use crate::in_hand::{self, Unread};
use crate::tables::Told;
use crate::untrusted::may_say;

mod taken_out;

pub use taken_out::TakenOut;

/// The frames that say that the root is to finish, or that addresses of it are given up, take no more bytes.
const LONGEST_WORD: usize = LENGTH + 1 + 2 * 10;

/// The half of a link's end to which a carrier gives what has come.
///
/// # Examples
///
/// ```
/// use tamtam_link::Link;
///
/// let (here, mut to_here) = Link::builder().build(|| {});
/// let end = to_here.receive(b"GET / HTTP/1.1").unwrap_err();
/// assert_eq!(here.ended(), Some(end));
/// ```
pub struct Inbound {
    core: Arc<Core>,
    /// The beginning of a frame that has not come as a whole.
    partial: Vec<u8>,
    is_greeted: bool,
    /// Nothing is taken any more of what comes from that process, for this reason.
    is_over: Option<LinkEnd>,
    /// Descriptors that have come with bytes of the frame that has not come as a whole, or is being taken.
    loose: Vec<TakenDescriptor>,
    /// Gives descriptors that do not come with the bytes.
    fetch: Option<Fetch>,
    /// The descriptors of the message that comes next.
    arrived: Option<Box<Arrived>>,
    /// Which of the processes at the other side it comes from.
    generation: u64,
    /// Actors that were given messages, and how many that are to be confirmed, since the last receipt.
    given: GivenActors,
    /// So many messages were for a root that this side does not offer, and are to be confirmed, since then.
    unoffered: u64,
    /// The actor that was given the last message of the bytes at hand, unless addresses were given up since: the next one is mostly for it, too.
    last: Option<Last>,
    /// Messages to the root that it has not been given, if they are held.
    held: Option<Frames<Box<Arrived>>>,
    /// The first of them are [taken out](Inbound::take_out): all that is for the root comes behind those.
    is_taken_out: bool,
    /// The root that they are for, as long as the other side has an address of it.
    root: Option<Arc<dyn Exported>>,
}

/// An actor that was given a message.
struct Last {
    number: u64,
    actor: Arc<dyn Exported>,
    has_window: bool,
}

/// Has a message read for the root.
fn give(
    core: &Core,
    message: KeptFrame<'_>,
    arrived: Option<Box<Arrived>>,
    read: impl FnOnce(&[u8]) -> Result<(), String>,
) {
    if let Some(payload) = message.plain_message() {
        let unread = Unread {
            arrived,
            ..Unread::default()
        };
        in_hand::read(core, unread, || read(payload));
    } else if let Some(mut body) = message.message() {
        let unread = unread(&mut body, arrived);
        in_hand::read(core, unread, || read(body.payload));
    }
}

/// What has come with a message.
fn unread(body: &mut Body<'_>, arrived: Option<Box<Arrived>>) -> Unread {
    Unread {
        replies: std::mem::take(&mut body.replies),
        exports: std::mem::take(&mut body.exports),
        arrived,
    }
}

fn receive(core: &Core, root: Option<&dyn Exported>, payload: &[u8]) -> Result<(), String> {
    match root {
        Some(root) => root.receive(core.encoding, payload),
        None => Err("the actor is not offered any more".to_owned()),
    }
}

impl Inbound {
    pub(crate) fn new(core: Arc<Core>, holds_root: bool) -> Self {
        let root = if holds_root {
            core.exported(ROOT)
        } else {
            None
        };
        Inbound {
            root,
            generation: core.generation(),
            core,
            partial: Vec::new(),
            is_greeted: false,
            is_over: None,
            loose: Vec::new(),
            fetch: None,
            arrived: None,
            given: GivenActors::default(),
            unoffered: 0,
            last: None,
            held: holds_root.then(Frames::default),
            is_taken_out: false,
        }
    }

    /// Takes what has come from the other side, cut anywhere.
    ///
    /// # Errors
    ///
    /// How the link has ended: with a goodbye, or by what is no frame, or before. What is left in
    /// [`take_outgoing`](crate::Link::take_outgoing) tells the other side; then the carrier may close.
    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), LinkEnd> {
        self.receive_with(bytes, Vec::new())
    }

    /// As [`receive`](Inbound::receive), with descriptors that have come together with the last of these bytes.
    ///
    /// # Errors
    ///
    /// As those of [`receive`](Inbound::receive).
    #[doc(hidden)]
    pub fn receive_with(
        &mut self,
        mut bytes: &[u8],
        descriptors: Vec<TakenDescriptor>,
    ) -> Result<(), LinkEnd> {
        let received = self.receive_all(&mut bytes, descriptors);
        self.last = None;
        self.ask_for_receipts();
        received.map_err(|end| {
            self.core.end_received(&end, self.is_greeted);
            let end = self.core.first_end(end);
            self.is_over = Some(end.clone());
            end
        })
    }

    /// From now on descriptors that do not come with the bytes are asked for by their number.
    #[doc(hidden)]
    pub fn fetch_descriptors(
        &mut self,
        fetch: impl FnMut(u64) -> Vec<TakenDescriptor> + Send + 'static,
    ) {
        self.fetch = Some(Box::new(fetch));
    }

    fn receive_all(
        &mut self,
        bytes: &mut &[u8],
        mut descriptors: Vec<TakenDescriptor>,
    ) -> Result<(), LinkEnd> {
        if let Some(end) = &self.is_over {
            return Err(end.clone());
        }
        if self.core.is_over()
            && let Some(end) = &self.core.lock().end
        {
            return Err(end.clone());
        }
        while !bytes.is_empty() {
            if self.partial.is_empty()
                && let Some(length) = self.length(bytes)?
                && let Some((frame, rest)) = bytes[LENGTH..].split_at_checked(length)
            {
                *bytes = rest;
                if rest.is_empty() {
                    self.loosen(&mut descriptors);
                }
                self.take(frame)?;
                continue;
            }
            // Its length first, then as much as that says.
            let whole = match self.length(&self.partial)? {
                None => LENGTH,
                Some(length) => LENGTH + length,
            };
            let (more, rest) = bytes.split_at((whole - self.partial.len()).min(bytes.len()));
            self.partial.extend_from_slice(more);
            *bytes = rest;
            if rest.is_empty() {
                self.loosen(&mut descriptors);
            }
            if self.length(&self.partial)?.map(|length| LENGTH + length) == Some(self.partial.len())
            {
                let mut frame = std::mem::take(&mut self.partial);
                self.take(&frame[LENGTH..])?;
                frame.clear();
                // A large one is given back.
                if frame.capacity() <= 1 << 16 {
                    self.partial = frame;
                }
            }
        }
        Ok(())
    }

    /// The length of the frame that begins so, if that much is there.
    fn length(&self, bytes: &[u8]) -> Result<Option<usize>, LinkEnd> {
        let Some(length) = bytes.first_chunk::<LENGTH>() else {
            return Ok(None);
        };
        let length = u32::from_le_bytes(*length) as usize;
        if length > self.core.longest_frame {
            return Err(LinkEnd::protocol(format!(
                "a frame of {length} bytes, and this side takes {} at most",
                self.core.longest_frame
            )));
        }
        Ok(Some(length))
    }

    /// Descriptors have come with bytes of the frame at hand. No frame has more of them than a message may have.
    fn loosen(&mut self, descriptors: &mut Vec<TakenDescriptor>) {
        if !descriptors.is_empty() {
            self.loose.append(descriptors);
            self.loose.truncate(MOST_IN_MESSAGE);
        }
    }

    fn take(&mut self, bytes: &[u8]) -> Result<(), LinkEnd> {
        if self.is_greeted && self.arrived.is_none() && self.loose.is_empty() {
            match (&mut self.held, &self.root) {
                (None, _) => {
                    if let Some(payload) = plain_message(bytes) {
                        return self.give_to(ROOT, Unread::default(), payload);
                    }
                }
                (Some(held), Some(_)) => {
                    if is_message_to_root(bytes)? {
                        held.push_bytes(bytes, None);
                        return Ok(());
                    }
                }
                (Some(_), None) => {}
            }
        }
        let taken = self.take_frame(bytes);
        // Those that have come with a frame that has none.
        self.loose.clear();
        taken
    }

    fn take_frame(&mut self, bytes: &[u8]) -> Result<(), LinkEnd> {
        let frame = match read_body(bytes)? {
            None => Frame::read_without_body(bytes)?,
            Some(_) if !self.is_greeted => return Err(not_greeted()),
            Some((For::Actor(number), body)) => return self.give(number, body, bytes),
            Some((For::Reply(number), body)) => return self.answer(number, body),
        };
        if let Frame::Hello(hello) = &frame {
            if self.is_greeted {
                return Err(LinkEnd::protocol("it has said hello twice".to_owned()));
            }
            self.agree(hello.encoding)?;
            self.is_greeted = true;
            let root = hello.root.map(|(_, window)| window);
            self.core.greeted(hello.most, root);
            return Ok(());
        }
        if !self.is_greeted {
            return Err(not_greeted());
        }
        self.dispatch(frame)
    }

    /// That the other side writes messages as this one does.
    fn agree(&self, there: u8) -> Result<(), LinkEnd> {
        let here = self.core.encoding;
        if there == encoding_number(here) {
            return Ok(());
        }
        Err(LinkEnd::protocol(format!(
            "it writes messages {}, and this side {}: choose the same `Encoding` at both ends of the link",
            encoding_words(there),
            encoding_words(encoding_number(here)),
        )))
    }

    fn dispatch(&mut self, frame: Frame<'_>) -> Result<(), LinkEnd> {
        if self.arrived.is_some() {
            let text = "it has announced descriptors, and neither a message nor an answer follows";
            return Err(LinkEnd::protocol(text.to_owned()));
        }
        let core = &self.core;
        if core.untrusted.is_some() {
            may_say(&frame)?;
        }
        match frame {
            Frame::Hello(_) | Frame::Tell(..) | Frame::Answer(..) => {
                unreachable!("it is taken before")
            }
            Frame::Descriptors(number, count) => self.announced(number, count)?,
            Frame::Received(number) => core.received(number)?,
            Frame::Failed(reply, failure) => {
                let pending = core.lock().end_pending(reply);
                let pending = pending.ok_or_else(|| not_asked(reply))?;
                // What is done with an answer is the user's.
                let fail = || pending.reply.fail(failure.heard(pending.asked));
                drop(catch_unwind(AssertUnwindSafe(fail)));
            }
            Frame::Release(actor, times) => match self.held_behind(actor) {
                Some(held) => held.push(&Frame::Release(actor, times), LONGEST_WORD),
                None => self.release(actor, times)?,
            },
            Frame::Probe(actor, probe) => {
                let probe = match &core.untrusted {
                    Some(untrusted) => untrusted.take_probe(probe),
                    None => Some(probe),
                };
                // One whose address was given up meanwhile is waited for by no thread.
                if let (Some(probe), Some(exported)) = (probe, core.exported(actor)) {
                    tamtam_actor::link::probe_arrived(exported.id(), probe);
                }
            }
            Frame::Confirm(actor, count) => core.confirmed(actor, count)?,
            Frame::Watch(actor) => {
                let told = core.lock().exports.watch(actor);
                match told {
                    Some(Told::Later) => {}
                    Some(Told::Before) => core.watch_again(actor),
                    None => core.say_unknown(actor),
                }
            }
            Frame::Unwatch(actor) => {
                let unwatched = core.lock().exports.unwatch(actor);
                drop(unwatched);
            }
            Frame::Link(made) => core.linked_there(&made)?,
            Frame::Unlink(maker, number) => {
                let linked = core.lock().links.remove_named(maker, number);
                // Otherwise it was over here before, by an end or as well.
                if let Some(linked) = linked {
                    linked.tie.untie();
                    core.lock().links.untied();
                }
            }
            Frame::Ended(actor, end) => core.ended_there(actor, end),
            Frame::Stop(actor) => {
                if let Some(exported) = self.exported(actor)? {
                    exported.stop();
                }
            }
            Frame::Finish(actor) => match self.held_behind(actor) {
                Some(held) => held.push(&Frame::Finish(actor), LONGEST_WORD),
                None => {
                    if let Some(exported) = self.exported(actor)? {
                        exported.finish();
                    }
                }
            },
            Frame::Goodbye(words) => return Err(LinkEnd::Goodbye(words.into())),
        }
        Ok(())
    }

    /// The message that follows has so many descriptors, under this number.
    fn announced(&mut self, number: u64, count: u64) -> Result<(), LinkEnd> {
        if count == 0 || count > MOST_IN_MESSAGE as u64 {
            return Err(LinkEnd::protocol(format!(
                "it announces {count} descriptors for a message, which has 1 to {MOST_IN_MESSAGE}"
            )));
        }
        let mut descriptors = std::mem::take(&mut self.loose);
        if descriptors.is_empty()
            && let Some(fetch) = &mut self.fetch
        {
            descriptors = fetch(number);
        }
        let attachments = &self.core.attachments;
        let arrived = Arrived::new(number, self.generation, count, descriptors, attachments);
        self.arrived = Some(Box::new(arrived));
        Ok(())
    }

    /// Where something goes that is for the root, and not before what is held.
    fn held_behind(&mut self, actor: u64) -> Option<&mut Frames<Box<Arrived>>> {
        let held = self.held.as_mut()?;
        (actor == ROOT && (self.is_taken_out || !held.is_empty())).then_some(held)
    }

    fn release(&mut self, actor: u64, times: u64) -> Result<(), LinkEnd> {
        // What has come before was for those who had the address.
        self.last = None;
        let mut state = self.core.lock();
        let released = state.exports.release(actor, times);
        let may_have_orphans = state.exports.may_have_orphans();
        drop(state);
        let gone = released.map_err(|sent| {
            LinkEnd::protocol(format!(
                "it gives up {times} addresses of actor {actor}, of which it has {sent}"
            ))
        })?;
        if gone.is_some() && actor == ROOT {
            self.root = None;
        }
        drop(gone);
        may_have_orphans.map_err(LinkEnd::protocol)
    }

    /// The actor of this number; none if it is a root that this side does not offer.
    fn exported(&self, actor: u64) -> Result<Option<Arc<dyn Exported>>, LinkEnd> {
        let exported = self.core.exported(actor);
        if exported.is_none() && !self.is_unoffered_root(actor) {
            return Err(not_exported(actor));
        }
        Ok(exported)
    }

    /// Whether this is a root that this side does not offer: the other one may name it before the hello has come that says so.
    fn is_unoffered_root(&self, actor: u64) -> bool {
        actor == ROOT && !self.core.offers_root
    }

    /// The answer to a question of this side.
    fn answer(&mut self, reply: u64, mut body: Body<'_>) -> Result<(), LinkEnd> {
        let pending = self.core.lock().end_pending(reply);
        let pending = pending.ok_or_else(|| not_asked(reply))?;
        let unread = unread(&mut body, self.arrived.take());
        in_hand::read(&self.core, unread, || {
            pending.reply.answer(self.core.encoding, body.payload);
            Ok(())
        });
        Ok(())
    }

    /// Gives an actor a message, of this frame, or holds it.
    fn give(&mut self, number: u64, mut body: Body<'_>, frame: &[u8]) -> Result<(), LinkEnd> {
        if number == ROOT && self.held.is_some() && !self.is_unoffered_root(number) {
            if self.root.is_none() {
                return Err(not_exported(number));
            }
            let arrived = self.arrived.take();
            if let Some(held) = &mut self.held {
                held.push_bytes(frame, arrived);
            }
            return Ok(());
        }
        let unread = unread(&mut body, self.arrived.take());
        self.give_to(number, unread, body.payload)
    }

    /// Gives an actor a message, with what has come with it.
    fn give_to(&mut self, number: u64, unread: Unread, payload: &[u8]) -> Result<(), LinkEnd> {
        let last = match self.last.take() {
            Some(last) if last.number == number && !self.core.is_over() => last,
            _ => {
                let state = self.core.lock();
                let Some(export) = state.exports.get(number) else {
                    drop(state);
                    return self.give_to_none(number, unread);
                };
                Last {
                    number,
                    actor: Arc::clone(&export.actor),
                    has_window: export.has_window,
                }
            }
        };
        let count = u64::from(last.has_window || unread.replies.is_empty());
        let untrusted = self.core.untrusted.as_ref();
        let addresses = unread.replies.len() + unread.exports.len();
        let unhandled = untrusted.map_or(0, |it| it.given(payload.len(), addresses));
        if count + unhandled as u64 > 0 {
            let given = self.given.of(number, &last.actor);
            given.count += count;
            given.unhandled += unhandled;
        }
        let encoding = self.core.encoding;
        in_hand::read(&self.core, unread, || last.actor.receive(encoding, payload));
        self.last = Some(last);
        Ok(())
    }

    /// Refuses a message to an actor that is not here, with what has come with it. One to a root that this side does not offer is lost as one
    /// that cannot be read.
    fn give_to_none(&mut self, number: u64, mut unread: Unread) -> Result<(), LinkEnd> {
        if !self.is_unoffered_root(number) {
            return Err(not_exported(number));
        }
        // The other side takes it for an actor without a window.
        self.unoffered += u64::from(unread.replies.is_empty());
        for reply in std::mem::take(&mut unread.replies) {
            let failure = FarFailure::Other(Fate::NotBegun, OFFERS_NONE.to_owned());
            self.core.fail_of(reply, self.generation, failure);
        }
        in_hand::read(&self.core, unread, || Ok(()));
        Ok(())
    }

    /// The other side is to hear when that is done with which actors were given.
    fn ask_for_receipts(&mut self) {
        let unoffered = std::mem::take(&mut self.unoffered);
        if unoffered > 0 {
            self.core.confirm(ROOT, self.generation, unoffered);
        }
        for given in self.given.drain() {
            let link = Arc::downgrade(&self.core);
            let (number, count, generation) = (given.number, given.count, self.generation);
            if count > 0 {
                let link = Weak::clone(&link);
                given.actor.receipt(Box::new(move || {
                    if let Some(core) = Weak::upgrade(&link) {
                        core.confirm(number, generation, count);
                    }
                }));
            }
            let unhandled = given.unhandled;
            if unhandled > 0 {
                given.actor.when_gone(Box::new(move || {
                    if let Some(core) = Weak::upgrade(&link) {
                        core.handled(unhandled);
                    }
                }));
            }
        }
    }

    /// Whether a message for the root is held.
    #[doc(hidden)]
    #[must_use]
    pub fn holds_any(&self) -> bool {
        self.held.as_ref().is_some_and(|held| !held.is_empty())
    }

    /// Whether the root is done with what it was given.
    #[doc(hidden)]
    #[must_use]
    pub fn root_is_idle(&self) -> bool {
        self.root.as_ref().is_none_or(|root| root.is_idle())
    }

    /// Whether the root handles no message until there is room for what it has sent.
    #[doc(hidden)]
    #[must_use]
    pub fn root_is_muted(&self) -> bool {
        self.root.as_ref().is_some_and(|root| root.is_muted())
    }

    /// Calls this when the root is done with what it has been given so far.
    #[doc(hidden)]
    pub fn when_root_is_done(&self, then: Box<dyn FnOnce() + Send>) {
        match &self.root {
            Some(root) => root.receipt(then),
            None => then(),
        }
    }

    /// Takes out what is held for the root. It is to be [put back](Inbound::put_back) before the next is taken out.
    #[doc(hidden)]
    pub fn take_out(&mut self, out: &mut TakenOut) {
        let Some(held) = &mut self.held else {
            return;
        };
        std::mem::swap(held, &mut out.held);
        out.core.get_or_insert_with(|| Arc::clone(&self.core));
        out.root.clone_from(&self.root);
        self.is_taken_out = true;
    }

    /// Puts back what the root was not given, before what has come since.
    #[doc(hidden)]
    pub fn put_back(&mut self, out: &mut TakenOut) {
        self.is_taken_out = false;
        out.root = None;
        let Some(held) = &mut self.held else {
            return;
        };
        if !out.held.is_empty() {
            out.held.append(held);
            std::mem::swap(held, &mut out.held);
        }
    }

    /// Gives the root the next of the messages that are held; `false` if there is none.
    ///
    /// # Errors
    ///
    /// As those of [`receive`](Inbound::receive).
    #[doc(hidden)]
    pub fn next_root(&mut self) -> Result<bool, LinkEnd> {
        while let Some(held) = &mut self.held
            && let Some(next) = held.front()
        {
            if next.is_message() {
                let arrived = held.take_beside();
                if let Some(next) = held.front() {
                    let root = self.root.as_deref();
                    give(&self.core, next, arrived, |payload| {
                        receive(&self.core, root, payload)
                    });
                }
                held.pop_front();
                return Ok(true);
            }
            let word = match next.read() {
                Frame::Release(_, times) => Some(times),
                _ => None,
            };
            held.pop_front();
            let Some(times) = word else {
                if let Some(root) = self.exported(ROOT)? {
                    root.finish();
                }
                continue;
            };
            self.release(ROOT, times).map_err(|end| {
                self.core.end(end.clone());
                self.core.first_end(end)
            })?;
        }
        Ok(false)
    }
}

impl fmt::Debug for Inbound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Inbound")
            .field("partial", &self.partial.len())
            .finish_non_exhaustive()
    }
}

fn not_greeted() -> LinkEnd {
    LinkEnd::protocol("it has not said hello before all else".to_owned())
}

fn not_exported(actor: u64) -> LinkEnd {
    LinkEnd::protocol(format!(
        "it names actor {actor}, of which it has no address"
    ))
}

fn not_asked(reply: u64) -> LinkEnd {
    LinkEnd::protocol(format!(
        "it answers question {reply}, which it does not have"
    ))
}

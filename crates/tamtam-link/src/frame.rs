//! The frames of a link, byte by byte. The page `docs/src/link.md` says the same for other languages.

use std::borrow::Cow;

use smallvec::SmallVec;
use tamtam_actor::link::{Encoding, FarEnd, FarFailure, Probe};

use crate::bytes::{Input, LONGEST_NUMBER, Result, put_number, put_text};
use crate::error::LinkEnd;

mod cut;
mod reason;

use cut::{beginning, cut_end, cut_failure, cut_text};
use reason::{put_end, put_failure, read_end, read_failure};

/// With what a link begins.
pub(crate) const MAGIC: [u8; 4] = *b"TTLK";
/// The protocol.
pub(crate) const VERSION: u64 = 3;
/// The number of the actor that each side may offer from the beginning.
pub(crate) const ROOT: u64 = 0;
/// The bytes of a frame's length, which come first.
pub(crate) const LENGTH: usize = 4;
/// Every side takes frames of so many bytes.
pub(crate) const LEAST_FRAME: usize = 2 << 10;
/// The bytes before the payload of a message to the root that has nothing beside it.
pub(crate) const PLAIN_HEAD: usize = LENGTH + 4;

/// An actor that a message exports: its number, and how many messages may be on their way to it or in its mailbox; zero if that is
/// not made for waiting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) actor: u64,
    pub(crate) window: u64,
}

/// Numbers of replies that are lent in one message: hardly ever more than one.
pub(crate) type Replies = SmallVec<[u64; 1]>;

/// What a message or an answer has in it: the numbers of replies that it lends, and the actors that it exports, each as often as
/// it stands there; and the bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Body<'a> {
    pub(crate) replies: Replies,
    pub(crate) exports: Vec<Offer>,
    pub(crate) payload: &'a [u8],
}

impl<'a> Body<'a> {
    /// Bytes, and nothing beside them.
    pub(crate) fn plain(payload: &'a [u8]) -> Self {
        Body {
            replies: Replies::new(),
            exports: Vec::new(),
            payload,
        }
    }

    fn read(input: Input<'a>) -> Result<Self> {
        let (mut replies, mut exports) = (Replies::new(), Vec::new());
        let payload = Self::walk(
            input,
            |reply| replies.push(reply),
            |offer| exports.push(offer),
        )?;
        Ok(Body {
            replies,
            exports,
            payload,
        })
    }

    /// What is before the payload, in its order, and the payload.
    #[inline]
    fn walk(
        mut input: Input<'a>,
        mut reply: impl FnMut(u64),
        mut export: impl FnMut(Offer),
    ) -> Result<&'a [u8]> {
        for _ in 0..input.count(1, "the replies")? {
            reply(input.number("the replies")?);
        }
        for _ in 0..input.count(2, "the exported actors")? {
            export(Offer {
                actor: input.number("an exported actor")?,
                window: input.number("its window")?,
            });
        }
        Ok(input.rest())
    }

    /// So many bytes it takes at most in a frame.
    pub(crate) fn most(&self) -> usize {
        most_of_body(self.replies.len(), self.exports.len(), self.payload.len())
    }

    /// Appends the frame of a message with this in it.
    pub(crate) fn write_message(&self, actor: u64, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&[0; LENGTH]);
        let start = bytes.len();
        self.put(TELL, actor, bytes);
        put_length(start, bytes);
    }

    fn put(&self, kind: u8, number: u64, bytes: &mut Vec<u8>) {
        bytes.reserve(self.most());
        bytes.push(kind);
        put_number(number, bytes);
        put_number(self.replies.len() as u64, bytes);
        for reply in &self.replies {
            put_number(*reply, bytes);
        }
        put_number(self.exports.len() as u64, bytes);
        for offer in &self.exports {
            put_number(offer.actor, bytes);
            put_number(offer.window, bytes);
        }
        bytes.extend_from_slice(self.payload);
    }
}

/// What one side says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello<'a> {
    /// What the program is called, for people.
    pub(crate) program: &'a str,
    /// The longest frame that it takes, without the length.
    pub(crate) most: u64,
    /// How it writes messages and answers, and reads them: an [`encoding_number`].
    pub(crate) encoding: u8,
    /// The type of the messages of the actor 0, and its window, if it offers one.
    pub(crate) root: Option<(&'a str, u64)>,
}

/// What is said over a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Frame<'a> {
    Hello(Hello<'a>),
    /// A message for an actor.
    Tell(u64, Body<'a>),
    /// The answer that a reply is for.
    Answer(u64, Body<'a>),
    /// There is no answer to that reply.
    Failed(u64, FarFailure),
    /// An actor was named so often, and no address of those is left.
    Release(u64, u64),
    /// So many more of the messages to that actor are done with.
    Confirm(u64, u64),
    /// Looks for circles of waits: along those of that actor.
    Probe(u64, Probe),
    /// The actor's end is of interest also when no address is left.
    Watch(u64),
    Ended(u64, FarEnd),
    Stop(u64),
    Finish(u64),
    Goodbye(&'a str),
    /// The message or answer that follows has descriptors, under this number: so many, which go beside the frames.
    Descriptors(u64, u64),
    /// What has the descriptors of this number was read, or will not be.
    Received(u64),
    /// The actor's end is of interest no more where no address is left.
    Unwatch(u64),
    Link(LinkMade<'a>),
    /// A link of actors was taken back: its maker, and the number that it has there.
    Unlink(Maker, u64),
}

/// Which side has made a link of two actors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Maker {
    Writer,
    Reader,
}

/// An actor of the writer is linked with one of the reader.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LinkMade<'a> {
    /// Of the link; the writer has no other one of this number.
    pub(crate) number: u64,
    /// The reader's.
    pub(crate) actor: u64,
    /// The writer's.
    pub(crate) linker: u64,
    /// Of the linker, or empty.
    pub(crate) name: &'a str,
}

/// The name of an actor that is linked, or that a probe has come by, takes no more bytes.
pub(crate) const LONGEST_NAME: usize = 1 << 10;

const HELLO: u8 = 1;
const TELL: u8 = 2;
const ANSWER: u8 = 3;
const FAILED: u8 = 4;
const RELEASE: u8 = 5;
const WATCH: u8 = 6;
const ENDED: u8 = 7;
const STOP: u8 = 8;
const FINISH: u8 = 9;
const GOODBYE: u8 = 10;
const CONFIRM: u8 = 11;
const PROBE: u8 = 12;
const DESCRIPTORS: u8 = 13;
const RECEIVED: u8 = 14;
const UNWATCH: u8 = 15;
const LINK: u8 = 16;
const UNLINK: u8 = 17;

impl Frame<'_> {
    /// Appends the frame with its length.
    pub(crate) fn write(&self, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(&[0; LENGTH]);
        let start = bytes.len();
        match self {
            Frame::Hello(hello) => {
                bytes.push(HELLO);
                bytes.extend_from_slice(&MAGIC);
                put_number(VERSION, bytes);
                put_number(hello.most, bytes);
                bytes.push(hello.encoding);
                put_text(hello.program, bytes);
                bytes.push(u8::from(hello.root.is_some()));
                if let Some((root, window)) = hello.root {
                    put_text(root, bytes);
                    put_number(window, bytes);
                }
            }
            Frame::Tell(actor, body) => body.put(TELL, *actor, bytes),
            Frame::Answer(reply, body) => body.put(ANSWER, *reply, bytes),
            Frame::Failed(reply, failure) => {
                bytes.push(FAILED);
                put_number(*reply, bytes);
                put_failure(failure, bytes);
            }
            Frame::Release(actor, count) => {
                bytes.push(RELEASE);
                put_number(*actor, bytes);
                put_number(*count, bytes);
            }
            Frame::Confirm(actor, count) => {
                put_actor(CONFIRM, *actor, bytes);
                put_number(*count, bytes);
            }
            Frame::Probe(actor, probe) => {
                put_actor(PROBE, *actor, bytes);
                put_number(probe.process, bytes);
                put_number(probe.wait, bytes);
                put_number(probe.path.len() as u64, bytes);
                for name in &probe.path {
                    put_text(cut_name(name), bytes);
                }
            }
            Frame::Watch(actor) => put_actor(WATCH, *actor, bytes),
            Frame::Ended(actor, end) => {
                put_actor(ENDED, *actor, bytes);
                put_end(end, bytes);
            }
            Frame::Stop(actor) => put_actor(STOP, *actor, bytes),
            Frame::Finish(actor) => put_actor(FINISH, *actor, bytes),
            Frame::Goodbye(words) => {
                bytes.push(GOODBYE);
                put_text(words, bytes);
            }
            Frame::Descriptors(number, count) => {
                bytes.push(DESCRIPTORS);
                put_number(*number, bytes);
                put_number(*count, bytes);
            }
            Frame::Received(number) => {
                bytes.push(RECEIVED);
                put_number(*number, bytes);
            }
            Frame::Unwatch(actor) => put_actor(UNWATCH, *actor, bytes),
            Frame::Link(made) => {
                put_actor(LINK, made.number, bytes);
                put_number(made.actor, bytes);
                put_number(made.linker, bytes);
                put_text(made.name, bytes);
            }
            Frame::Unlink(maker, number) => {
                bytes.extend_from_slice(&[UNLINK, u8::from(*maker == Maker::Reader)]);
                put_number(*number, bytes);
            }
        }
        put_length(start, bytes);
    }

    /// As [`write`](Frame::write), within what the other side takes: of what is said for people as much goes as has room in so many bytes. A
    /// message or an answer, of which all has to go, is refused before if it has more.
    pub(crate) fn write_within(&self, most: usize, bytes: &mut Vec<u8>) {
        let start = bytes.len();
        self.write(bytes);
        if bytes.len() - start - LENGTH <= most {
            return;
        }
        bytes.truncate(start);
        // What else is in such a frame: its kind, that of a reason, and numbers.
        let room = most.saturating_sub(2 + 5 * LONGEST_NUMBER);
        match self {
            Frame::Hello(hello) => {
                let room = room.saturating_sub(MAGIC.len()) / 2;
                let root = hello
                    .root
                    .map(|(root, window)| (cut_text(root, room), window));
                Frame::Hello(Hello {
                    program: &cut_text(hello.program, room),
                    root: root.as_ref().map(|(root, window)| (&**root, *window)),
                    ..*hello
                })
                .write(bytes);
            }
            Frame::Failed(reply, failure) => {
                Frame::Failed(*reply, cut_failure(failure, room)).write(bytes);
            }
            Frame::Ended(actor, end) => Frame::Ended(*actor, cut_end(end, room)).write(bytes),
            Frame::Goodbye(words) => Frame::Goodbye(&cut_text(words, room)).write(bytes),
            Frame::Link(made) => {
                let name = &cut_text(made.name, room);
                Frame::Link(LinkMade { name, ..*made }).write(bytes);
            }
            Frame::Probe(actor, probe) => {
                let room = room / probe.path.len().max(1);
                let name = |name: &String| cut_text(name, room.saturating_sub(2)).into_owned();
                let path = probe.path.iter().map(name).collect();
                Frame::Probe(*actor, Probe { path, ..*probe }).write(bytes);
            }
            _ => self.write(bytes),
        }
    }

    /// Reads a frame, without its length.
    ///
    /// # Errors
    ///
    /// [`LinkEnd::Protocol`] if it is none.
    pub(crate) fn read(bytes: &[u8]) -> Result<Frame<'_>> {
        match read_body(bytes)? {
            None => Self::read_without_body(bytes),
            Some((For::Actor(actor), body)) => Ok(Frame::Tell(actor, body)),
            Some((For::Reply(reply), body)) => Ok(Frame::Answer(reply, body)),
        }
    }

    /// As [`read`](Frame::read), of a frame that [has no body](read_body).
    ///
    /// # Errors
    ///
    /// As those of [`read`](Frame::read).
    pub(crate) fn read_without_body(bytes: &[u8]) -> Result<Frame<'_>> {
        let mut input = Input::new(bytes);
        let frame = match input.byte("its kind")? {
            HELLO => {
                if input.take(MAGIC.len(), "the letters TTLK")? != MAGIC {
                    return Err(LinkEnd::protocol(
                        "it does not begin with the letters TTLK".to_owned(),
                    ));
                }
                let version = input.number("the version")?;
                if version != VERSION {
                    return Err(LinkEnd::protocol(format!(
                        "it speaks version {version}, and this side version {VERSION}: build both programs with the same Tamtam"
                    )));
                }
                let most = input.number("the longest frame")?;
                let encoding = input.byte("how messages are written")?;
                let program = input.text("the name of the program")?;
                let root = match input.byte("whether there is a root")? {
                    0 => None,
                    1 => Some((
                        input.text("the type of the root's messages")?,
                        input.number("the window of the root")?,
                    )),
                    other => {
                        return Err(LinkEnd::protocol(format!(
                            "{other} does not say whether there is a root"
                        )));
                    }
                };
                Frame::Hello(Hello {
                    program,
                    most,
                    encoding,
                    root,
                })
            }
            FAILED => Frame::Failed(input.number("a reply")?, read_failure(&mut input)?),
            RELEASE => Frame::Release(input.number("an actor")?, input.number("a count")?),
            CONFIRM => Frame::Confirm(input.number("an actor")?, input.number("a count")?),
            PROBE => Frame::Probe(input.number("an actor")?, read_probe(&mut input)?),
            WATCH => Frame::Watch(input.number("an actor")?),
            ENDED => Frame::Ended(input.number("an actor")?, read_end(&mut input)?),
            STOP => Frame::Stop(input.number("an actor")?),
            FINISH => Frame::Finish(input.number("an actor")?),
            GOODBYE => Frame::Goodbye(input.text("the words of goodbye")?),
            DESCRIPTORS => {
                let number = input.number("the number of what has descriptors")?;
                Frame::Descriptors(number, input.number("how many those are")?)
            }
            RECEIVED => Frame::Received(input.number("the number of what had descriptors")?),
            UNWATCH => Frame::Unwatch(input.number("an actor")?),
            LINK => Frame::Link(read_link(&mut input)?),
            UNLINK => {
                let maker = match input.byte("which side has made a link")? {
                    0 => Maker::Writer,
                    1 => Maker::Reader,
                    other => {
                        return Err(LinkEnd::protocol(format!(
                            "{other} does not say which side has made a link"
                        )));
                    }
                };
                Frame::Unlink(maker, input.number("a link")?)
            }
            other => return Err(LinkEnd::protocol(format!("no frame is of kind {other}"))),
        };
        input.end("a frame")?;
        Ok(frame)
    }
}

/// By which number a hello says how messages are written.
pub(crate) fn encoding_number(encoding: Encoding) -> u8 {
    match encoding {
        #[cfg(feature = "json")]
        Encoding::Json => 1,
        _ => 0,
    }
}

/// The same in words: `as JSON`. Of a number that this version does not have there is no name.
pub(crate) fn encoding_words(number: u8) -> Cow<'static, str> {
    match number {
        0 => "by postcard".into(),
        1 => "as JSON".into(),
        other => format!("in a way of number {other}, which it does not know").into(),
    }
}

/// Writes the length of the frame that begins here, before it.
fn put_length(start: usize, bytes: &mut [u8]) {
    // What is longer was refused before.
    let length = (bytes.len() - start) as u32;
    bytes[start - LENGTH..start].copy_from_slice(&length.to_le_bytes());
}

fn read_link<'a>(input: &mut Input<'a>) -> Result<LinkMade<'a>> {
    let made = LinkMade {
        number: input.number("a link")?,
        actor: input.number("an actor")?,
        linker: input.number("the actor that is linked with it")?,
        name: input.text("the name of that one")?,
    };
    if made.name.len() > LONGEST_NAME {
        return Err(LinkEnd::protocol(format!(
            "the name of an actor that is linked takes {} bytes, and may take {LONGEST_NAME}",
            made.name.len()
        )));
    }
    Ok(made)
}

/// What of a name goes with a link, or is kept of one with a probe.
pub(crate) fn cut_name(name: &str) -> &str {
    beginning(name, LONGEST_NAME)
}

fn read_probe(input: &mut Input<'_>) -> Result<Probe> {
    let process = input.number("the process that a probe is from")?;
    let wait = input.number("the wait that it is from")?;
    let count = input.count(1, "the way that it has come")?;
    let mut path = Vec::new();
    for hop in 0..count {
        let name = input.text("a name on its way")?;
        // One that has come so far goes no further.
        if hop < Probe::MOST_HOPS as u64 {
            path.push(cut_name(name).to_owned());
        }
    }
    Ok(Probe {
        process,
        wait,
        path,
    })
}

fn put_actor(kind: u8, actor: u64, bytes: &mut Vec<u8>) {
    bytes.push(kind);
    put_number(actor, bytes);
}

/// Whether a frame is a message.
pub(crate) fn is_message(frame: &[u8]) -> bool {
    frame.first() == Some(&TELL)
}

/// Whether a frame is a message to the root: it then reads as one.
///
/// # Errors
///
/// As those of [`Frame::read`].
pub(crate) fn is_message_to_root(frame: &[u8]) -> Result<bool> {
    match frame {
        [TELL, actor, body @ ..] if u64::from(*actor) == ROOT => {
            Body::walk(Input::new(body), |_| {}, |_| {}).map(|_| true)
        }
        _ => Ok(false),
    }
}

/// What a body is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum For {
    Actor(u64),
    Reply(u64),
}

/// What is in a frame, and for what, if it is a message or an answer: as [`Frame::read`] has it, and sooner.
///
/// # Errors
///
/// As those of [`Frame::read`].
pub(crate) fn read_body(frame: &[u8]) -> Result<Option<(For, Body<'_>)>> {
    let mut input = Input::new(frame);
    let kind = input.byte("its kind")?;
    if !matches!(kind, TELL | ANSWER) {
        return Ok(None);
    }
    let number = input.number("the number of the actor or reply")?;
    let is_for = if kind == TELL {
        For::Actor(number)
    } else {
        For::Reply(number)
    };
    Ok(Some((is_for, Body::read(input)?)))
}

/// The payload of a frame, if it is a message to the root in which there is no reply and no address: most of them are.
pub(crate) fn plain_message(frame: &[u8]) -> Option<&[u8]> {
    match frame {
        [TELL, actor, 0, 0, payload @ ..] if u64::from(*actor) == ROOT => Some(payload),
        _ => None,
    }
}

/// How a [plain message](plain_message) of so many bytes begins, with its length.
pub(crate) fn plain_head(payload: usize) -> [u8; PLAIN_HEAD] {
    // What is longer was refused before.
    let [one, two, three, four] = ((PLAIN_HEAD - LENGTH + payload) as u32).to_le_bytes();
    [one, two, three, four, TELL, ROOT as u8, 0, 0]
}

/// So many bytes a message or an answer takes at most, without the length: a kind, and numbers of ten bytes at most.
pub(crate) fn most_of_body(replies: usize, exports: usize, payload: usize) -> usize {
    payload + 1 + LONGEST_NUMBER * (3 + replies + 2 * exports)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tamtam_actor::{Fate, ProcessEnd};

    fn all() -> Vec<Frame<'static>> {
        let text = || "said".to_owned();
        let body = Body {
            replies: vec![7, 300].into(),
            exports: [(1, 0), (1, 0), (u64::MAX >> 11, 200)]
                .map(|(actor, window)| Offer { actor, window })
                .to_vec(),
            payload: b"payload",
        };
        let mut all = vec![
            Frame::Hello(Hello {
                program: "resizer",
                most: 1 << 24,
                encoding: 0,
                root: None,
            }),
            Frame::Hello(Hello {
                program: "",
                most: 0,
                encoding: 1,
                root: Some(("u32", 1_000)),
            }),
            Frame::Tell(0, body.clone()),
            Frame::Answer(9, body),
            Frame::Release(3, 2),
            Frame::Confirm(3, 200),
            Frame::Probe(
                3,
                Probe {
                    process: u64::MAX,
                    wait: 7,
                    path: vec!["one".to_owned(), text()],
                },
            ),
            Frame::Watch(3),
            Frame::Stop(3),
            Frame::Finish(3),
            Frame::Goodbye("enough"),
            Frame::Descriptors(300, 2),
            Frame::Received(300),
            Frame::Unwatch(3),
            Frame::Link(LinkMade {
                number: 300,
                actor: 3,
                linker: 7,
                name: "linker",
            }),
            Frame::Unlink(Maker::Writer, 300),
            Frame::Unlink(Maker::Reader, 300),
        ];
        let failures = [
            FarFailure::Unanswered,
            FarFailure::Stopped,
            FarFailure::Full,
            FarFailure::Hung,
            FarFailure::Panicked(None, text()),
            FarFailure::Panicked(Some(text()), text()),
            FarFailure::NotDecodable(Fate::NotBegun, text()),
            FarFailure::NotEncodable(Fate::Begun, text()),
            FarFailure::TooLarge(Fate::Begun, text()),
            FarFailure::Other(Fate::Unknown, text()),
            FarFailure::ProcessEnded(ProcessEnd::Exited(-1)),
            FarFailure::ProcessEnded(ProcessEnd::Killed(9)),
            FarFailure::Refused(text()),
            FarFailure::ProcessEnded(ProcessEnd::Unknown),
            FarFailure::ProcessEnded(ProcessEnd::Hung),
            FarFailure::Dropped,
        ];
        all.extend(failures.map(|failure| Frame::Failed(5, failure)));
        let ends = [
            FarEnd::Stopped,
            FarEnd::NoAddresses,
            FarEnd::HomeEnded,
            FarEnd::Panicked(text()),
            FarEnd::GaveUp(3, text()),
            FarEnd::Linked(
                vec![Some(text()), None],
                Box::new(FarEnd::GaveUp(3, text())),
            ),
            FarEnd::LinkLost(text()),
            FarEnd::ProcessEnded(ProcessEnd::Exited(3)),
            FarEnd::ProcessEnded(ProcessEnd::Killed(11)),
            FarEnd::ProcessEnded(ProcessEnd::Unknown),
            FarEnd::ProcessEnded(ProcessEnd::Hung),
        ];
        all.extend(ends.map(|end| Frame::Ended(5, end)));
        all
    }

    /// A name for its golden file: the frame's, and which of them it is.
    fn golden() -> Vec<(String, Frame<'static>)> {
        let mut golden: Vec<(String, Frame<'static>)> = Vec::new();
        for frame in all() {
            let shown = format!("{frame:?}");
            let kind = shown.split('(').next().unwrap().to_lowercase();
            let before = golden.iter().filter(|(name, _)| name.starts_with(&kind));
            golden.push((format!("{kind}-{}", before.count() + 1), frame));
        }
        golden
    }

    #[test]
    fn each_frame_has_the_bytes_that_are_kept() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("golden");
        let mut names = std::collections::BTreeSet::new();
        for (name, frame) in golden() {
            let path = folder.join(format!("{name}.hex"));
            let mut bytes = Vec::new();
            frame.write(&mut bytes);
            let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            // Only with a new kind, or a new version.
            if std::env::var_os("TAMTAM_WRITE_GOLDEN").is_some() {
                std::fs::write(&path, format!("{digits}\n")).unwrap();
            }
            let kept = std::fs::read_to_string(&path).unwrap();
            assert_eq!(kept.trim_end(), digits, "{name}");
            assert_eq!(Frame::read(&bytes[LENGTH..]), Ok(frame));
            names.insert(format!("{name}.hex"));
        }
        let kept = std::fs::read_dir(&folder).unwrap();
        let kept = kept.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        assert_eq!(kept.collect::<std::collections::BTreeSet<_>>(), names);
    }

    #[test]
    fn a_plain_message_begins_as_any_other() {
        for payload in [&b""[..], b"payload", &[7; 300]] {
            let mut bytes = Vec::new();
            Frame::Tell(ROOT, Body::plain(payload)).write(&mut bytes);
            assert_eq!([&plain_head(payload.len())[..], payload].concat(), bytes);
            assert_eq!(plain_message(&bytes[LENGTH..]), Some(payload));
        }
    }

    #[test]
    fn each_frame_comes_back() {
        for frame in all() {
            let mut bytes = Vec::new();
            frame.write(&mut bytes);
            assert_eq!(
                bytes[..LENGTH],
                ((bytes.len() - LENGTH) as u32).to_le_bytes()
            );
            assert_eq!(Frame::read(&bytes[LENGTH..]), Ok(frame));
        }
    }

    #[test]
    fn a_frame_that_is_cut_off_or_too_long_is_an_error() {
        for frame in all() {
            let mut bytes = Vec::new();
            frame.write(&mut bytes);
            let is_open = matches!(frame, Frame::Tell(..) | Frame::Answer(..));
            for end in LENGTH..bytes.len() {
                let read = Frame::read(&bytes[LENGTH..end]);
                assert!(read.is_err() || is_open, "{frame:?}, {end} bytes: {read:?}");
            }
            bytes.push(0);
            assert!(Frame::read(&bytes[LENGTH..]).is_err() || is_open);
        }
    }

    #[test]
    fn what_is_said_for_people_is_cut_to_what_the_other_side_takes() {
        let long = "ä".repeat(1 << 20);
        let name = || Some(long.clone());
        let probe = |hops| Probe {
            process: u64::MAX,
            wait: u64::MAX,
            path: vec![long.clone(); hops],
        };
        let linked = |names| FarEnd::Linked(names, Box::new(FarEnd::GaveUp(3, long.clone())));
        let frames = [
            Frame::Hello(Hello {
                program: &long,
                most: u64::MAX,
                encoding: 0,
                root: Some((&long, u64::MAX)),
            }),
            Frame::Failed(u64::MAX, FarFailure::Panicked(name(), long.clone())),
            Frame::Failed(7, FarFailure::NotDecodable(Fate::Begun, long.clone())),
            Frame::Failed(7, FarFailure::NotEncodable(Fate::Begun, long.clone())),
            Frame::Failed(7, FarFailure::TooLarge(Fate::Begun, long.clone())),
            Frame::Failed(7, FarFailure::Other(Fate::Begun, long.clone())),
            Frame::Failed(7, FarFailure::Refused(long.clone())),
            Frame::Ended(u64::MAX, FarEnd::Panicked(long.clone())),
            Frame::Ended(3, FarEnd::GaveUp(u32::MAX, long.clone())),
            Frame::Ended(3, FarEnd::LinkLost(long.clone())),
            Frame::Ended(u64::MAX, linked(vec![name(); FarEnd::MOST_LINKED])),
            Frame::Ended(u64::MAX, linked(vec![None; FarEnd::MOST_LINKED])),
            Frame::Goodbye(&long),
            Frame::Link(LinkMade {
                number: u64::MAX,
                actor: u64::MAX,
                linker: u64::MAX,
                name: cut_name(&long),
            }),
            Frame::Probe(u64::MAX, probe(1)),
            Frame::Probe(u64::MAX, probe(Probe::MOST_HOPS)),
        ];
        for most in [LEAST_FRAME, 5_000, 1 << 16] {
            for frame in &frames {
                let mut bytes = b"before".to_vec();
                frame.write_within(most, &mut bytes);
                let bytes = &bytes[6 + LENGTH..];
                assert!(bytes.len() <= most, "{} of {most} bytes", bytes.len());
                let read = Frame::read(bytes).unwrap();
                assert_eq!(std::mem::discriminant(&read), std::mem::discriminant(frame));
                let is_cut = bytes.windows(3).any(|end| end == "…".as_bytes());
                // A name is cut in silence to what any may take.
                let is_name = matches!(frame, Frame::Link(_) | Frame::Probe(..));
                assert!(is_cut || is_name, "{most}");
            }
        }
        for frame in all() {
            let (mut within, mut whole) = (Vec::new(), Vec::new());
            frame.write_within(LEAST_FRAME, &mut within);
            frame.write(&mut whole);
            assert_eq!(within, whole);
        }
    }

    #[test]
    fn of_the_way_of_a_probe_no_more_is_kept_than_it_may_go() {
        let mut bytes = vec![PROBE, 3, 1, 1];
        let names = 100_000;
        put_number(names + 1, &mut bytes);
        put_text(&"x".repeat(100_000), &mut bytes);
        bytes.extend([1, b'x'].repeat(names as usize));
        let Frame::Probe(3, probe) = Frame::read(&bytes).unwrap() else {
            panic!("it is a probe");
        };
        assert_eq!(probe.path.len(), Probe::MOST_HOPS);
        assert_eq!(probe.path[0].len(), LONGEST_NAME);
    }

    #[test]
    fn no_byte_makes_a_frame_panic() {
        for frame in all() {
            let mut bytes = Vec::new();
            frame.write(&mut bytes);
            for place in LENGTH..bytes.len() {
                for value in 0..=u8::MAX {
                    let mut changed = bytes.clone();
                    changed[place] = value;
                    let _ = Frame::read(&changed[LENGTH..]);
                }
            }
        }
    }

    #[test]
    fn what_is_no_frame_is_named() {
        let said = |bytes: &[u8]| Frame::read(bytes).unwrap_err().to_string();
        assert_eq!(
            said(&[99]),
            "the other side does not keep to the protocol: no frame is of kind 99"
        );
        assert_eq!(
            said(b"\x01GET / HTTP/1.1"),
            "the other side does not keep to the protocol: it does not begin with the letters TTLK"
        );
        assert_eq!(
            said(b"\x01TTLK\x01"),
            "the other side does not keep to the protocol: it speaks version 1, and this side version 3: build both \
             programs with the same Tamtam"
        );
    }
}

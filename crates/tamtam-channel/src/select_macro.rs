//! `select!` and `select_biased!`, and what their expansions need.
//!
//! How an invocation becomes code:
//!
//! 1. `@arms` takes one arm off the input at each step and stores it in one uniform shape, whatever its kind:
//!    `{ kind endpoint index (place) (type) (borrow) (pattern) (value) (body) }`. The names `endpoint` and `index` are written
//!    anew in each step, so hygiene makes them different variables in each arm, and all of them invisible to the user's code.
//! 2. `@expand` gets all arms at once. The endpoints are evaluated in the scrutinee of one `match`, in order and once, because
//!    what is created there (`recv(after(timeout))`) lives until the `match` ends. Then a [`Select`](crate::Select) is
//!    filled, asked, and dropped before a body runs, so that a body may change or drop the very channels it was selected from.
//!
//! One step an arm keeps more than a hundred arms within the compiler's recursion limit of 128. No closure, loop or labelled
//! block surrounds user code: `break`, `continue`, `return` and `?` mean what they mean outside.

use std::time::Duration;

use crate::{Receiver, RecvError, RecvTimeoutError, TryRecvError, Waitable};

// Named through this module, these mean what they should even where the caller has others of the same names.
pub use core::mem::drop;
pub use core::option::Option::{None, Some};

/// Finds the event or latch behind any number of references and smart pointers, by the compiler's automatic dereferencing.
pub trait Awaited: Waitable {
    /// The thing itself.
    fn awaited(&self) -> &Self {
        self
    }
}

impl<W: Waitable> Awaited for W {}

/// A lone `recv` arm beside `default`: `None` if nothing can be received now.
pub fn try_recv<T>(receiver: &Receiver<T>) -> Option<Result<T, RecvError>> {
    match receiver.try_recv() {
        Ok(message) => Some(Ok(message)),
        Err(TryRecvError::Disconnected) => Some(Err(RecvError)),
        Err(TryRecvError::Empty) => None,
    }
}

/// A lone `recv` arm beside `default(timeout)`: `None` if nothing could be received in time.
pub fn recv_timeout<T>(receiver: &Receiver<T>, timeout: Duration) -> Option<Result<T, RecvError>> {
    match receiver.recv_timeout(timeout) {
        Ok(message) => Some(Ok(message)),
        Err(RecvTimeoutError::Disconnected) => Some(Err(RecvError)),
        Err(RecvTimeoutError::Timeout) => None,
    }
}

/// The end of the search for the chosen arm; reached only if `Select` broke its word.
#[cold]
pub fn no_such_arm() -> ! {
    unreachable!("the selected operation belongs to no arm")
}

/// Waits for several operations at once and performs the first that is ready.
///
/// Blocks until one of the operations can proceed, performs that one and no other, and evaluates its body. If several are
/// ready at the same time, one of them is picked at random, so that no arm starves; [`select_biased!`](crate::select_biased)
/// picks the first instead. An operation is ready when it need not wait: also when it can only report that its channel is
/// disconnected.
///
/// # Arms
///
/// | arm | what it does |
/// |---|---|
/// | `recv(receiver) -> message => body` | receives; `message` is a `Result<T, RecvError>` |
/// | `send(sender, value) -> result => body` | sends; `result` is a `Result<(), SendError<T>>` |
/// | `take(slot) -> value => body` | takes the value out of a [`Slot`](crate::Slot) |
/// | `put(slot, value) => body` | puts a value into a [`Slot`](crate::Slot) |
/// | `changed(property, seen) -> version => body` | waits until a [`Property`](crate::Property) has another version than `seen`; `version` is that or a later one |
/// | `wait(event) => body` | passes an [`Event`](crate::Event) or an open [`Latch`](crate::Latch) |
/// | `default => body` | runs if no operation is ready now |
/// | `default(timeout) => body` | runs if no operation became ready within `timeout`, a [`Duration`] |
///
/// - The first argument is any expression that is, refers to or dereferences to the endpoint: `r`, `&r`, `self.inbox`,
///   `after(timeout)`, an `Arc`. It is evaluated once, in the order of the arms, before anything is waited for; what it
///   creates lives until the end of the macro.
/// - The `value` of `send` and `put` is evaluated only if that arm is chosen, and at that moment: the other arms may still
///   use the variables that it moves. Room, or the place in the slot, is held for it meanwhile, and holds up nothing else:
///   it may look at the same channel or slot, and must not wait for that very room. It must not leave the arm by `?`, `break` or
///   `return`: with capacity zero the other side is waiting for the value, so this panics.
/// - After `->` comes a pattern that always matches: a name, `mut name`, `_`. What was received lives until the body has
///   ended, also under `_`.
/// - A body is an expression followed by a comma, or a block with or without one. Only one body runs, so each may move the
///   same variables, and replace or drop the endpoints. `break`, `continue`, `return` and `?` work as outside the macro. The
///   macro is an expression: its value is that of the body that ran.
/// - There is at most one `default`, at any place. A macro without any arm does not compile.
///
/// For a list of endpoints that is known only at run time there is [`Select`](crate::Select).
///
/// # Blocking
///
/// Without `default` this waits as long as it takes. With `default` it never waits, with `default(timeout)` at most about
/// that long. A single `recv`, `take`, `wait` or `changed` is as fast as the method of that name.
///
/// # Examples
///
/// Whichever comes first:
///
/// ```
/// use tamtam_channel::{select, unbounded};
///
/// let (words, word) = unbounded();
/// let (numbers, number) = unbounded();
/// numbers.send(7).unwrap();
///
/// let text = select! {
///     recv(word) -> message => message.unwrap_or_else(|_| String::from("no more words")),
///     recv(number) -> message => message.unwrap_or(0).to_string(),
/// };
/// assert_eq!(text, "7");
/// # drop::<tamtam_channel::Sender<String>>(words);
/// ```
///
/// Look without waiting, or wait for a limited time:
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{bounded, select};
///
/// let (sender, receiver) = bounded(1);
/// select! {
///     recv(receiver) -> _ => unreachable!("nothing was sent"),
///     default => {}
/// }
/// sender.send("first").unwrap();
/// let sent = select! {
///     send(sender, "second") -> result => result.is_ok(),
///     default(Duration::from_millis(5)) => false,
/// };
/// assert!(!sent, "there is room for one message only");
/// ```
///
/// A channel that is sometimes there, and a deadline for the whole loop:
///
/// ```
/// use std::time::Duration;
/// use tamtam_channel::{Receiver, after, never, select, unbounded};
///
/// let (sender, inbox) = unbounded();
/// let urgent: Option<Receiver<u32>> = None;
/// let deadline = after(Duration::from_millis(20));
/// sender.send(1).unwrap();
///
/// let mut sum = 0;
/// loop {
///     select! {
///         recv(inbox) -> message => sum += message.unwrap(),
///         recv(urgent.as_ref().unwrap_or(&never())) -> message => sum += 100 * message.unwrap(),
///         recv(deadline) -> _ => break,
///     }
/// }
/// // Whatever was there together with the deadline.
/// sum += inbox.try_iter().sum::<u32>();
/// assert_eq!(sum, 1);
/// ```
///
/// Slots, events and latches beside channels:
///
/// ```
/// use tamtam_channel::{Event, Latch, Slot, select, unbounded};
///
/// let (_sender, orders) = unbounded::<u32>();
/// let result = Slot::new();
/// let stop = Event::manual();
/// let ready = Latch::new(1);
///
/// select! {
///     put(result, 42) => {}
///     wait(stop) => unreachable!("it was not told to stop"),
///     wait(ready) => unreachable!("the latch is closed"),
/// }
/// select! {
///     take(result) -> value => assert_eq!(value, 42),
///     recv(orders) -> _ => unreachable!("nothing was ordered"),
/// }
/// stop.set();
/// select! {
///     wait(stop) => {}
///     take(result) -> _ => unreachable!("it was taken"),
/// }
/// ```
#[macro_export]
macro_rules! select {
    ($($input:tt)*) => {
        $crate::__select!(@arms new [] [] $($input)*)
    };
}

/// Waits for several operations at once and performs the first that is ready, in the order in which they are written.
///
/// The same as [`select!`](crate::select), but if several operations are ready at the same time, the one that is written
/// first is performed: put the urgent ones on top. An arm below one that is always ready is never chosen.
///
/// # Examples
///
/// ```
/// use tamtam_channel::{select_biased, unbounded};
///
/// let (high, urgent) = unbounded();
/// let (low, ordinary) = unbounded();
/// low.send("sweep the floor").unwrap();
/// high.send("put out the fire").unwrap();
///
/// let mut done = Vec::new();
/// loop {
///     select_biased! {
///         recv(urgent) -> task => done.push(task.unwrap()),
///         recv(ordinary) -> task => done.push(task.unwrap()),
///         default => break,
///     }
/// }
/// assert_eq!(done, ["put out the fire", "sweep the floor"]);
/// ```
#[macro_export]
macro_rules! select_biased {
    ($($input:tt)*) => {
        $crate::__select!(@arms new_biased [] [] $($input)*)
    };
}

/// The common work of `select!` and `select_biased!`; the comment at the top of this file explains it.
///
/// The local names are long because a constant of the caller's with the same name would be taken for a pattern.
///
/// # Misuse
///
/// Each of these is refused with a message that says what was expected. This is right:
///
/// ```
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! {
///     recv(receiver) -> _ => if true { 1 } else { 2 },
///     take(slot) -> _ => { 3 }
///     wait(event) => { 4 }
///     default => 5,
/// };
/// ```
///
/// and these are not: no arm at all, an unknown kind of arm,
///
/// ```compile_fail
/// tamtam_channel::select! {}
/// ```
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { receive(receiver) -> _ => {} default => {} }
/// ```
///
/// no `->` where something is received, `->` where nothing is,
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { take(slot) => {} default => {} }
/// ```
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { wait(event) -> _ => {} default => {} }
/// ```
///
/// no body, no comma after a body that is not a block, a semicolon,
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { recv(receiver) -> _, default => {} }
/// ```
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { recv(receiver) -> _ => if true { 1 } else { 2 } default => 5 };
/// ```
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { recv(receiver) -> _ => {}; default => {} }
/// ```
///
/// two defaults, or a pattern that may not match.
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { default => {} recv(receiver) -> _ => {} default => {} }
/// ```
///
/// ```compile_fail
/// # use tamtam_channel::{Event, Slot, never, select};
/// # let (receiver, slot, event) = (never::<u32>(), Slot::<u32>::new(), Event::manual());
/// select! { recv(receiver) -> Ok(_) => {} default => {} }
/// ```
#[doc(hidden)]
#[macro_export]
macro_rules! __select {
    // The end of the input.
    (@arms $new:ident [] []) => {
        ::core::compile_error!("an empty `select!` would wait for ever: it needs at least one arm")
    };
    (@arms $new:ident [$($arms:tt)*] [$($default:tt)*]) => {
        $crate::__select!(@expand $new [$($arms)*] [$($default)*])
    };

    // `default`.
    (@arms $new:ident $arms:tt [$($first:tt)+] default $($rest:tt)*) => {
        ::core::compile_error!("a `select!` can have only one `default` arm")
    };
    (@arms $new:ident $arms:tt []
        default $(($($timeout:expr $(,)?)?))? => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@arms $new $arms [{ ($($($timeout)?)?) ($body) }] $($($rest)*)?)
    };
    (@arms $new:ident $arms:tt []
        default $(($($timeout:expr $(,)?)?))? => $body:block $($rest:tt)*
    ) => {
        $crate::__select!(@arms $new $arms [{ ($($($timeout)?)?) ($body) }] $($rest)*)
    };

    // `recv(receiver) -> message`.
    (@arms $new:ident [$($arms:tt)*] $default:tt
        recv($place:expr $(,)?) -> $pattern:pat => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            recv tamtam_endpoint tamtam_index ($place) (&$crate::Receiver<_>) (tamtam_endpoint) ($pattern) () ($body)
        }] $default $($($rest)*)?)
    };
    (@arms $new:ident [$($arms:tt)*] $default:tt
        recv($place:expr $(,)?) -> $pattern:pat => $body:block $($rest:tt)*
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            recv tamtam_endpoint tamtam_index ($place) (&$crate::Receiver<_>) (tamtam_endpoint) ($pattern) () ($body)
        }] $default $($rest)*)
    };

    // `send(sender, value) -> result`.
    (@arms $new:ident [$($arms:tt)*] $default:tt
        send($place:expr, $value:expr $(,)?) -> $pattern:pat => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            send tamtam_endpoint tamtam_index ($place) (&$crate::Sender<_>) (tamtam_endpoint) ($pattern) ($value) ($body)
        }] $default $($($rest)*)?)
    };
    (@arms $new:ident [$($arms:tt)*] $default:tt
        send($place:expr, $value:expr $(,)?) -> $pattern:pat => $body:block $($rest:tt)*
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            send tamtam_endpoint tamtam_index ($place) (&$crate::Sender<_>) (tamtam_endpoint) ($pattern) ($value) ($body)
        }] $default $($rest)*)
    };

    // `take(slot) -> value`.
    (@arms $new:ident [$($arms:tt)*] $default:tt
        take($place:expr $(,)?) -> $pattern:pat => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            take tamtam_endpoint tamtam_index ($place) (&$crate::Slot<_>) (tamtam_endpoint) ($pattern) () ($body)
        }] $default $($($rest)*)?)
    };
    (@arms $new:ident [$($arms:tt)*] $default:tt
        take($place:expr $(,)?) -> $pattern:pat => $body:block $($rest:tt)*
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            take tamtam_endpoint tamtam_index ($place) (&$crate::Slot<_>) (tamtam_endpoint) ($pattern) () ($body)
        }] $default $($rest)*)
    };

    // `put(slot, value)`.
    (@arms $new:ident [$($arms:tt)*] $default:tt
        put($place:expr, $value:expr $(,)?) => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            put tamtam_endpoint tamtam_index ($place) (&$crate::Slot<_>) (tamtam_endpoint) (()) ($value) ($body)
        }] $default $($($rest)*)?)
    };
    (@arms $new:ident [$($arms:tt)*] $default:tt
        put($place:expr, $value:expr $(,)?) => $body:block $($rest:tt)*
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            put tamtam_endpoint tamtam_index ($place) (&$crate::Slot<_>) (tamtam_endpoint) (()) ($value) ($body)
        }] $default $($rest)*)
    };

    // `wait(event)`: several types can be waited for, so a method finds the one meant, not a type annotation.
    (@arms $new:ident [$($arms:tt)*] $default:tt
        wait($place:expr $(,)?) => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            wait tamtam_endpoint tamtam_index ($place) (&_)
            ({ use $crate::select_macro::Awaited as _; tamtam_endpoint.awaited() }) (()) () ($body)
        }] $default $($($rest)*)?)
    };
    (@arms $new:ident [$($arms:tt)*] $default:tt
        wait($place:expr $(,)?) => $body:block $($rest:tt)*
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            wait tamtam_endpoint tamtam_index ($place) (&_)
            ({ use $crate::select_macro::Awaited as _; tamtam_endpoint.awaited() }) (()) () ($body)
        }] $default $($rest)*)
    };

    // `changed(property, seen) -> version`: what is waited for is made here, and lives as long as the other endpoints.
    (@arms $new:ident [$($arms:tt)*] $default:tt
        changed($place:expr, $seen:expr $(,)?) -> $pattern:pat => $body:expr $(, $($rest:tt)*)?
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            changed tamtam_endpoint tamtam_index ($place.changed_since($seen)) (&$crate::Changed<'_, _>) (tamtam_endpoint)
            ($pattern) () ($body)
        }] $default $($($rest)*)?)
    };
    (@arms $new:ident [$($arms:tt)*] $default:tt
        changed($place:expr, $seen:expr $(,)?) -> $pattern:pat => $body:block $($rest:tt)*
    ) => {
        $crate::__select!(@arms $new [$($arms)* {
            changed tamtam_endpoint tamtam_index ($place.changed_since($seen)) (&$crate::Changed<'_, _>) (tamtam_endpoint)
            ($pattern) () ($body)
        }] $default $($rest)*)
    };

    // What is not an arm. A body other than a block ends at its comma, hence the hint.
    (@arms $new:ident $arms:tt $default:tt default $($rest:tt)*) => {
        ::core::compile_error!(
            "expected `default => body` or `default(timeout) => body` \
             (a body that is not a plain block needs a comma after it)"
        )
    };
    (@arms $new:ident $arms:tt $default:tt recv $($rest:tt)*) => {
        ::core::compile_error!(
            "expected `recv(receiver) -> message => body` \
             (a body that is not a plain block needs a comma after it)"
        )
    };
    (@arms $new:ident $arms:tt $default:tt send $($rest:tt)*) => {
        ::core::compile_error!(
            "expected `send(sender, value) -> result => body` \
             (a body that is not a plain block needs a comma after it)"
        )
    };
    (@arms $new:ident $arms:tt $default:tt take $($rest:tt)*) => {
        ::core::compile_error!(
            "expected `take(slot) -> value => body` \
             (a body that is not a plain block needs a comma after it)"
        )
    };
    (@arms $new:ident $arms:tt $default:tt put $($rest:tt)*) => {
        ::core::compile_error!(
            "expected `put(slot, value) => body`, without `->` \
             (a body that is not a plain block needs a comma after it)"
        )
    };
    (@arms $new:ident $arms:tt $default:tt wait $($rest:tt)*) => {
        ::core::compile_error!(
            "expected `wait(event) => body`, without `->` \
             (a body that is not a plain block needs a comma after it)"
        )
    };
    (@arms $new:ident $arms:tt $default:tt changed $($rest:tt)*) => {
        ::core::compile_error!(
            "expected `changed(property, seen) -> version => body` \
             (a body that is not a plain block needs a comma after it)"
        )
    };
    (@arms $new:ident $arms:tt $default:tt ; $($rest:tt)*) => {
        ::core::compile_error!("the arms of a `select!` are separated by commas, not semicolons")
    };
    (@arms $new:ident $arms:tt $default:tt $found:tt $($rest:tt)*) => {
        ::core::compile_error!(::core::concat!(
            "expected one of `recv`, `send`, `take`, `put`, `wait`, `changed` or `default`, found `",
            ::core::stringify!($found),
            "`"
        ))
    };

    // The outcome gets a name before it meets the pattern, so that it lives until the body has ended even under `_`. The
    // parentheses around a body keep the compiler from warning that the caller's braces are unnecessary.

    // One arm that needs no value (recv, take, wait, changed) is the method of that name. `send` and `put` are not: their value must
    // not be evaluated before its turn.
    (@expand $new:ident [{
        $kind:ident $endpoint:ident $index:ident ($place:expr) ($kind_of:ty) ($borrow:expr) ($pattern:pat) () ($body:expr)
    }] []) => {{
        match &$place {
            $endpoint => {
                let $endpoint: $kind_of = $borrow;
                let tamtam_outcome = $endpoint.$kind();
                let $pattern = tamtam_outcome;
                ($body)
            }
        }
    }};
    (@expand $new:ident [{
        recv $endpoint:ident $index:ident ($place:expr) ($kind_of:ty) ($borrow:expr) ($pattern:pat) () ($body:expr)
    }] [{ () ($otherwise:expr) }]) => {{
        match &$place {
            $endpoint => match $crate::select_macro::try_recv($endpoint) {
                $crate::select_macro::Some(tamtam_outcome) => {
                    let $pattern = tamtam_outcome;
                    ($body)
                }
                $crate::select_macro::None => ($otherwise),
            },
        }
    }};
    (@expand $new:ident [{
        recv $endpoint:ident $index:ident ($place:expr) ($kind_of:ty) ($borrow:expr) ($pattern:pat) () ($body:expr)
    }] [{ ($timeout:expr) ($otherwise:expr) }]) => {{
        match &$place {
            $endpoint => match $crate::select_macro::recv_timeout($endpoint, $timeout) {
                $crate::select_macro::Some(tamtam_outcome) => {
                    let $pattern = tamtam_outcome;
                    ($body)
                }
                $crate::select_macro::None => ($otherwise),
            },
        }
    }};

    // Any other set of arms.
    (@expand $new:ident [$({
        $kind:ident $endpoint:ident $index:ident
        ($place:expr) ($kind_of:ty) ($borrow:expr) ($pattern:pat) ($($value:expr)?) ($body:expr)
    })*] []) => {{
        match ($(&$place,)*) {
            ($($endpoint,)*) => {
                $(let $endpoint: $kind_of = $borrow;)*
                $(let $index;)*
                let tamtam_operation = {
                    let mut tamtam_select = $crate::Select::$new();
                    $($index = tamtam_select.$kind($endpoint);)*
                    tamtam_select.select()
                };
                let tamtam_chosen = tamtam_operation.index();
                $(if tamtam_chosen == $index {
                    let tamtam_outcome = tamtam_operation.$kind($endpoint $(, $value)?);
                    let $pattern = tamtam_outcome;
                    ($body)
                } else)* {
                    $crate::select_macro::no_such_arm()
                }
            }
        }
    }};
    (@expand $new:ident [$({
        $kind:ident $endpoint:ident $index:ident
        ($place:expr) ($kind_of:ty) ($borrow:expr) ($pattern:pat) ($($value:expr)?) ($body:expr)
    })*] [{ ($($timeout:expr)?) ($otherwise:expr) }]) => {{
        match ($(&$place,)*) {
            ($($endpoint,)*) => {
                $(let $endpoint: $kind_of = $borrow;)*
                $(let $index;)*
                let tamtam_attempt = {
                    let mut tamtam_select = $crate::Select::$new();
                    $($index = tamtam_select.$kind($endpoint);)*
                    $crate::__select!(@attempt tamtam_select $($timeout)?)
                };
                // Each branch consumes the attempt whole: the compiler takes what is left of a `Result` after a `match` for
                // something that still borrows the endpoints.
                if tamtam_attempt.is_ok() {
                    let tamtam_operation = tamtam_attempt.unwrap();
                    let tamtam_chosen = tamtam_operation.index();
                    $(if tamtam_chosen == $index {
                        let tamtam_outcome = tamtam_operation.$kind($endpoint $(, $value)?);
                        let $pattern = tamtam_outcome;
                        ($body)
                    } else)* {
                        $crate::select_macro::no_such_arm()
                    }
                } else {
                    $crate::select_macro::drop(tamtam_attempt);
                    ($otherwise)
                }
            }
        }
    }};
    (@attempt $select:ident) => { $select.try_select() };
    (@attempt $select:ident $timeout:expr) => { $select.select_timeout($timeout) };
}

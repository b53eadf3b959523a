//! Channels used while a thread ends, inside destructors of thread-local values.

use std::cell::RefCell;
use std::thread;
use std::time::Duration;

use tamtam_channel::{Receiver, RecvTimeoutError, Select, Sender, unbounded};

use crate::support::{Flavour, LONG, for_every_flavour};

for_every_flavour!(
    a_destructor_may_wait_when_its_value_came_first,
    a_destructor_may_wait_when_the_channel_came_first,
    a_destructor_may_send_to_a_waiting_thread,
    ends_kept_in_a_thread_local_disconnect_with_the_thread,
);

/// Uses both ends in every blocking way when it is dropped, then reports.
struct AtEnd {
    sender: Sender<u8>,
    receiver: Receiver<u8>,
    report: Sender<bool>,
}

impl Drop for AtEnd {
    fn drop(&mut self) {
        let (sender, receiver) = (&self.sender, &self.receiver);
        let mut well =
            receiver.recv_timeout(Duration::from_millis(1)) == Err(RecvTimeoutError::Timeout);
        well &= receiver.try_recv().is_err();

        let mut select = Select::new();
        select.recv(receiver);
        well &= select.select_timeout(Duration::from_millis(1)).is_err();
        well &= select.ready_timeout(Duration::from_millis(1)).is_err();

        // A hand-over with another thread.
        thread::scope(|scope| {
            scope.spawn(|| sender.send(7).unwrap());
            well &= receiver.recv() == Ok(7);
            scope.spawn(|| sender.send(8).unwrap());
            let selected = select.select();
            well &= selected.recv(receiver) == Ok(8);
        });
        self.report.send(well).unwrap();
    }
}

thread_local! {
    static AT_END: RefCell<Option<AtEnd>> = const { RefCell::new(None) };
}

fn at_end(
    flavour: Flavour,
    before: impl FnOnce() + Send + 'static,
    after: impl FnOnce() + Send + 'static,
) {
    let (report, reported) = unbounded();
    let (sender, receiver) = flavour.pair();
    let worker = thread::spawn(move || {
        before();
        AT_END.with(|slot| {
            *slot.borrow_mut() = Some(AtEnd {
                sender,
                receiver,
                report,
            })
        });
        after();
    });
    assert_eq!(reported.recv_timeout(LONG), Ok(true));
    worker.join().unwrap();
}

/// Waits in every way, so that whatever the library keeps per thread exists.
fn wait_once(flavour: Flavour) {
    let (_sender, receiver) = flavour.pair::<u8>();
    assert!(receiver.recv_timeout(Duration::from_millis(1)).is_err());
    let mut select = Select::new();
    select.recv(&receiver);
    assert!(select.select_timeout(Duration::from_millis(1)).is_err());
}

fn a_destructor_may_wait_when_its_value_came_first(flavour: Flavour) {
    at_end(flavour, || (), move || wait_once(flavour));
    at_end(flavour, || (), || ());
}

fn a_destructor_may_wait_when_the_channel_came_first(flavour: Flavour) {
    at_end(flavour, move || wait_once(flavour), || ());
}

fn a_destructor_may_send_to_a_waiting_thread(flavour: Flavour) {
    struct Farewell(Sender<&'static str>);
    impl Drop for Farewell {
        fn drop(&mut self) {
            self.0.send("farewell").unwrap();
        }
    }
    thread_local! {
        static FAREWELL: RefCell<Option<Farewell>> = const { RefCell::new(None) };
    }
    let (sender, receiver) = flavour.pair();
    thread::spawn(move || FAREWELL.with(|slot| *slot.borrow_mut() = Some(Farewell(sender))));
    assert_eq!(receiver.recv_timeout(LONG), Ok("farewell"));
    assert!(
        receiver
            .recv_timeout(LONG)
            .is_err_and(|error| error.is_disconnected())
    );
}

fn ends_kept_in_a_thread_local_disconnect_with_the_thread(flavour: Flavour) {
    thread_local! {
        static KEPT: RefCell<Option<Sender<u8>>> = const { RefCell::new(None) };
    }
    let (sender, receiver) = flavour.pair();
    thread::spawn(move || KEPT.with(|slot| *slot.borrow_mut() = Some(sender)));
    assert_eq!(
        receiver.recv_timeout(LONG),
        Err(RecvTimeoutError::Disconnected)
    );
}

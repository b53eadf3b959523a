//! Limits that cannot be held, and what is said then.

use tamtam_process::limits::{LeftOut, Limits, LimitsError};

use super::{applied_in_a_child, hide_filters, hide_landlock};

#[test]
fn a_process_with_threads_is_refused() {
    super::alone("errors::a_process_with_threads_is_refused", || {
        let (sender, receiver) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || receiver.recv());
        let error = Limits::new().no_network().apply().unwrap_err();
        assert!(matches!(error, LimitsError::Threads(2..)), "{error}");
        assert!(error.to_string().contains("one thread"), "{error}");
        // Nothing was applied.
        assert!(std::net::TcpListener::bind("127.0.0.1:0").is_ok());
        drop(sender);
        thread.join().unwrap().unwrap_err();
    });
}

#[test]
fn a_path_that_is_not_there_is_named() {
    super::alone("errors::a_path_that_is_not_there_is_named", || {
        let limits = Limits::new().read("/no/such/folder");
        applied_in_a_child(
            &limits,
            || (),
            |applied| {
                let error = applied.unwrap_err();
                assert_eq!(
                    error.to_string(),
                    "\"/no/such/folder\" is to stay open to the worker and cannot be found there (No such file or directory \
                 (os error 2)): make it first, or leave it out"
                );
                Ok(())
            },
        );
    });
}

#[test]
fn less_memory_than_there_is_is_refused() {
    super::alone("errors::less_memory_than_there_is_is_refused", || {
        applied_in_a_child(
            &Limits::new().memory(4096),
            || (),
            |applied| {
                let error = applied.unwrap_err();
                let LimitsError::MemoryUsed { limit: 4096, used } = error else {
                    panic!("{error}");
                };
                assert!(used > 4096);
                assert!(error.to_string().contains("give it more memory"));
                Ok(())
            },
        );
    });
}

#[test]
fn a_kernel_without_landlock_holds_limits_without_paths() {
    let test = "errors::a_kernel_without_landlock_holds_limits_without_paths";
    super::alone(test, || {
        applied_in_a_child(&Limits::new().untrusted(), hide_landlock, |applied| {
            let applied = applied.unwrap();
            assert!(!applied.has_landlock());
            assert!(applied.left_out().is_empty());
            Ok(())
        });
    });
}

#[test]
fn a_kernel_without_landlock_does_not_hold_paths() {
    super::alone(
        "errors::a_kernel_without_landlock_does_not_hold_paths",
        || {
            let limits = Limits::new().untrusted().read("/usr");
            applied_in_a_child(&limits, hide_landlock, |applied| {
                let error = applied.unwrap_err();
                assert!(
                    matches!(&error, LimitsError::Lacking(lacking) if lacking[..] == [LeftOut::Paths]),
                    "{error}"
                );
                assert!(error.to_string().contains("allow_less()"), "{error}");
                // Nothing was applied.
                assert!(std::net::TcpListener::bind("127.0.0.1:0").is_ok());
                Ok(())
            });
            applied_in_a_child(&limits.allow_less(), hide_landlock, |applied| {
                assert_eq!(applied.unwrap().left_out(), [LeftOut::Paths]);
                assert!(std::fs::read("/proc/self/status").is_ok());
                assert!(std::net::TcpListener::bind("127.0.0.1:0").is_err());
                Ok(())
            });
        },
    );
}

#[test]
fn a_kernel_without_filters_does_not_hold_walls() {
    super::alone(
        "errors::a_kernel_without_filters_does_not_hold_walls",
        || {
            let limits = Limits::new().untrusted();
            applied_in_a_child(&limits, hide_filters, |applied| {
                let error = applied.unwrap_err();
                assert!(
                    matches!(&error, LimitsError::Lacking(lacking) if lacking[..] == [LeftOut::SystemCalls]),
                    "{error}"
                );
                Ok(())
            });
            applied_in_a_child(&limits.allow_less(), hide_filters, |applied| {
                assert_eq!(applied.unwrap().left_out(), [LeftOut::SystemCalls]);
                assert!(std::net::UdpSocket::bind("127.0.0.1:0").is_ok());
                Ok(())
            });
        },
    );
}

#[test]
fn all_is_held_where_the_kernel_has_all() {
    super::alone("errors::all_is_held_where_the_kernel_has_all", || {
        let limits = Limits::new().untrusted().read("/usr").allow_less();
        applied_in_a_child(
            &limits,
            || (),
            |applied| {
                let applied = applied.unwrap();
                if applied.left_out().is_empty() {
                    assert!(applied.has_landlock());
                } else {
                    super::say(&format!("this kernel does not hold all: {applied:?}"));
                }
                Ok(())
            },
        );
    });
}

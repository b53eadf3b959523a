//! What an error of `accept` says: of one connection, of the system for a while, or of the socket itself.

use std::io;

use rustix::io::Errno;

/// What an error of `accept` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AcceptFailure {
    /// The connection that was to be accepted has failed; the next one is accepted.
    OfOneConnection,
    /// There are no descriptors or no memory, or it is not known what it is: it may pass.
    Passing,
    /// The socket takes no more connections.
    OfSocket,
}

impl AcceptFailure {
    /// Linux's accept(2) has it that errors of the network which wait at the new socket come as those of `accept`, and are to be tried
    /// again; a firewall's refusal, too, is of one connection.
    pub(crate) fn of(error: &io::Error) -> AcceptFailure {
        match Errno::from_io_error(error) {
            Some(Errno::BADF | Errno::NOTSOCK | Errno::INVAL | Errno::FAULT) => {
                AcceptFailure::OfSocket
            }
            Some(
                Errno::AGAIN
                | Errno::INTR
                | Errno::PERM
                | Errno::PROTO
                | Errno::CONNABORTED
                | Errno::CONNREFUSED
                | Errno::CONNRESET
                | Errno::NOTCONN
                | Errno::TIMEDOUT
                | Errno::NETDOWN
                | Errno::NETUNREACH
                | Errno::HOSTDOWN
                | Errno::HOSTUNREACH
                | Errno::OPNOTSUPP
                | Errno::NOPROTOOPT,
            ) => AcceptFailure::OfOneConnection,
            #[cfg(target_os = "linux")]
            Some(Errno::NONET) => AcceptFailure::OfOneConnection,
            _ => AcceptFailure::Passing,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(number: i32) -> AcceptFailure {
        AcceptFailure::of(&io::Error::from_raw_os_error(number))
    }

    #[test]
    fn no_error_but_that_of_the_socket_itself_ends_it() {
        let of_socket = [Errno::BADF, Errno::NOTSOCK, Errno::INVAL, Errno::FAULT];
        for number in 1..200 {
            let is_of_socket = of_socket.map(Errno::raw_os_error).contains(&number);
            assert_eq!(
                of(number) == AcceptFailure::OfSocket,
                is_of_socket,
                "{}",
                io::Error::from_raw_os_error(number)
            );
        }
        // One without a number.
        let other = io::Error::other("something else");
        assert_eq!(AcceptFailure::of(&other), AcceptFailure::Passing);
    }

    #[test]
    fn what_is_short_is_waited_for_and_what_is_of_a_connection_is_not() {
        for short in [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM] {
            assert_eq!(of(short.raw_os_error()), AcceptFailure::Passing, "{short}");
        }
        for one in [
            Errno::PERM,
            Errno::PROTO,
            Errno::CONNABORTED,
            Errno::NETDOWN,
            Errno::NETUNREACH,
            Errno::HOSTDOWN,
            Errno::HOSTUNREACH,
            Errno::OPNOTSUPP,
            Errno::NOPROTOOPT,
        ] {
            let failure = of(one.raw_os_error());
            assert_eq!(failure, AcceptFailure::OfOneConnection, "{one}");
        }
    }
}

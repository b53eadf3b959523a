//! The first answer over a connection that is made for it, to a process that runs already.

use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use tamtam_ipc::{Receiver, Sender, Service, channel, receive_memory, send_memory};

use crate::compare::{Outcome, Role, compare, middle_and_late, pin, start};

const CONNECTIONS: u64 = 200;

fn service(process: u32) -> Outcome<Service> {
    Ok(Service::new(format!("tamtam-speed-{process}"))?)
}

/// What the other process does: for each connection it gets memory for two channels, or none, and answers one message.
pub(crate) fn other(role: &Role<'_>) -> Outcome {
    let mut to_parent = UnixStream::from(std::io::stdin().as_fd().try_clone_to_owned()?);
    let listener = service(std::process::id())?.listen()?;
    to_parent.write_all(&[0])?;
    for _ in 0..role.number {
        let (mut socket, _) = listener.accept()?;
        if role.way == "socket" {
            let mut message = [0; 16];
            socket.read_exact(&mut message)?;
            socket.write_all(&message)?;
            continue;
        }
        let receiver = Receiver::<[u64; 2]>::attach(receive_memory(&socket)?)?;
        let sender = Sender::<[u64; 2]>::attach(receive_memory(&socket)?)?;
        sender.send(receiver.recv()?)?;
    }
    Ok(())
}

fn timed(way: &str, connect: impl Fn(u32, u64) -> Outcome) -> Outcome<Vec<f64>> {
    pin(0);
    let (mut socket, theirs) = UnixStream::pair()?;
    let role = Role {
        section: "first",
        way,
        number: CONNECTIONS,
    };
    let mut child = start(&role, 1, theirs.as_fd())?;
    socket.read_exact(&mut [0])?;
    let mut times = Vec::new();
    for number in 0..CONNECTIONS {
        let begin = Instant::now();
        connect(child.id(), number)?;
        times.push(begin.elapsed().as_nanos().try_into()?);
    }
    assert!(child.wait()?.success());
    Ok(middle_and_late(times))
}

fn over_the_socket(process: u32, number: u64) -> Outcome {
    let mut socket = service(process)?.connect()?;
    let mut message = [0; 16];
    message[..8].copy_from_slice(&number.to_ne_bytes());
    socket.write_all(&message)?;
    let mut answer = [0; 16];
    socket.read_exact(&mut answer)?;
    assert_eq!(answer, message);
    Ok(())
}

fn over_channels(process: u32, number: u64) -> Outcome {
    let socket = service(process)?.connect()?;
    let (sender, their_receiver) = channel::<[u64; 2]>(1024)?;
    let (their_sender, receiver) = channel::<[u64; 2]>(1024)?;
    send_memory(&socket, their_receiver.hand_over()?)?;
    send_memory(&socket, their_sender.memory())?;
    sender.send([number, 7])?;
    assert_eq!(receiver.recv()?, [number, 7]);
    Ok(())
}

pub(crate) fn measure(runs: usize) -> Outcome {
    compare(
        "a new connection, and the first 16 bytes there and back over it",
        &["median", "99 of 100"],
        runs,
        vec![
            (
                "the socket of the connection",
                Box::new(|| timed("socket", over_the_socket)),
            ),
            (
                "two new channels",
                Box::new(|| timed("channels", over_channels)),
            ),
        ],
    )
}

//! Programs that get no link, and what both sides are told.

use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use rcgen::{ExtendedKeyUsagePurpose, KeyPair};
use rustls::version::{TLS12, TLS13};
use rustls::{ClientConnection, ServerConnection, SupportedProtocolVersion};
use tamtam_link::Link;
use tamtam_link::carrier::{Authorities, Identity, Tls, tcp};

use super::programs::{
    AUTHORITY, CLIENT, OTHER_AUTHORITY, Program, SERVER, authorities, client, foreign_client,
    foreign_server, server, tls,
};
use super::{accepting, assert_says, connecting, failed, meet};

/// What both sides say; neither has a link.
fn both(client: &Tls, name: &str, server: &Tls) -> [io::Error; 2] {
    let (here, there) = meet(
        |socket| client.connect(socket, name),
        |socket| server.accept(socket),
    );
    [failed(here), failed(there)]
}

#[test]
fn a_client_whose_certificate_is_wrong_is_refused_and_both_sides_say_why() {
    let of_another = Program::with(&OTHER_AUTHORITY, CLIENT, |_| {});
    let self_signed = Program::self_signed(CLIENT);
    let expired = Program::with(&AUTHORITY, CLIENT, |params| {
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    });
    let early = Program::with(&AUTHORITY, CLIENT, |params| {
        params.not_before = rcgen::date_time_ymd(3000, 1, 1);
    });
    let only_a_server = Program::with(&AUTHORITY, CLIENT, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    });
    for (program, here_says, there_says) in [
        (
            of_another,
            "it does not trust the authority",
            "comes from no authority",
        ),
        (
            self_signed,
            "it does not trust the authority",
            "comes from no authority",
        ),
        (
            expired,
            "this program's certificate has expired",
            "its certificate has expired",
        ),
        (
            early,
            "or is not valid yet",
            "its certificate is not valid yet",
        ),
        (
            only_a_server,
            "for another purpose",
            "its certificate is for another purpose",
        ),
    ] {
        let [here, there] = both(&tls(&program), SERVER, &server());
        assert_says(&here, ErrorKind::PermissionDenied, here_says);
        assert_says(&there, ErrorKind::PermissionDenied, there_says);
        // The library's own error stands behind the words.
        let source = std::error::Error::source(there.get_ref().unwrap()).unwrap();
        assert!(source.downcast_ref::<rustls::Error>().is_some());
    }
}

#[test]
fn a_server_whose_certificate_is_wrong_is_refused_and_both_sides_say_why() {
    let of_another = Program::with(&OTHER_AUTHORITY, SERVER, |_| {});
    let self_signed = Program::self_signed(SERVER);
    let expired = Program::with(&AUTHORITY, SERVER, |params| {
        params.not_after = rcgen::date_time_ymd(2020, 1, 1);
    });
    let only_a_client = Program::with(&AUTHORITY, SERVER, |params| {
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
    });
    let another_name = Program::new("mail.example");
    for (program, here_says, there_says) in [
        (
            of_another,
            "comes from no authority",
            "it does not trust the authority",
        ),
        (
            self_signed,
            "comes from no authority",
            "it does not trust the authority",
        ),
        (
            expired,
            "its certificate has expired",
            "this program's certificate has expired",
        ),
        (
            only_a_client,
            "its certificate is for another purpose",
            "for another purpose",
        ),
        (
            another_name,
            "its certificate is not for \"images.example\", but for DnsName(\"mail.example\")",
            "it does not accept this program's certificate (BadCertificate)",
        ),
    ] {
        let [here, there] = both(&client(), SERVER, &tls(&program));
        assert_says(&here, ErrorKind::PermissionDenied, here_says);
        assert_says(&there, ErrorKind::PermissionDenied, there_says);
    }
}

/// Does a handshake as a program that is not ours, and reads until the end.
fn foreign(
    socket: TcpStream,
    program: Option<&Program>,
    version: &'static SupportedProtocolVersion,
    protocols: &[&[u8]],
) -> io::Result<usize> {
    let config = Arc::new(foreign_client(program, version, protocols));
    let connection = ClientConnection::new(config, SERVER.try_into().unwrap()).unwrap();
    let mut stream = rustls::StreamOwned::new(connection, socket);
    stream.read(&mut [0; 100])
}

#[test]
fn a_client_without_a_certificate_is_refused() {
    let error = accepting(&server(), |socket| {
        let told = foreign(socket, None, &TLS13, &[b"tamtam-link"]).unwrap_err();
        assert!(told.to_string().contains("CertificateRequired"), "{told}");
    });
    assert_says(
        &error,
        ErrorKind::PermissionDenied,
        "it has presented no certificate: both sides of a link need one",
    );
}

#[test]
fn a_client_that_has_said_much_before_it_is_refused_still_hears_why() {
    let error = accepting(&server(), |socket| {
        let config = foreign_client(None, &TLS13, &[b"tamtam-link"]);
        let name = SERVER.try_into().unwrap();
        let mut connection = ClientConnection::new(Arc::new(config), name).unwrap();
        connection.set_buffer_limit(None);
        // It goes out with the last message of the handshake.
        connection.writer().write_all(&vec![1; 2 << 20]).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, socket);
        let told = stream.read(&mut [0; 100]).unwrap_err();
        assert!(told.to_string().contains("CertificateRequired"), "{told}");
    });
    assert_says(
        &error,
        ErrorKind::PermissionDenied,
        "it has presented no certificate",
    );
}

#[test]
fn tls_1_2_is_refused_by_both_sides() {
    let program = Program::new(CLIENT);
    let words = "it does not speak TLS 1.3, and a link speaks nothing older";
    let error = accepting(&server(), |socket| {
        let told = foreign(socket, Some(&program), &TLS12, &[b"tamtam-link"]).unwrap_err();
        assert!(told.to_string().contains("ProtocolVersion"), "{told}");
    });
    assert_says(&error, ErrorKind::InvalidData, words);
    let error = connecting(&client(), |socket| {
        let config = Arc::new(foreign_server(&TLS12, &[b"tamtam-link"]));
        let connection = ServerConnection::new(config).unwrap();
        let mut stream = rustls::StreamOwned::new(connection, socket);
        assert!(stream.read(&mut [0; 100]).is_err());
    });
    assert_says(&error, ErrorKind::InvalidData, words);
}

#[test]
fn a_program_with_a_certificate_that_is_no_link_is_refused() {
    let program = Program::new(CLIENT);
    let protocols: [&[&[u8]]; 2] = [&[], &[b"h2", b"http/1.1"]];
    for protocols in protocols {
        let error = accepting(&server(), |socket| {
            let _ = foreign(socket, Some(&program), &TLS13, protocols);
        });
        assert_says(&error, ErrorKind::InvalidData, "is no end of a link");
        let error = connecting(&client(), |socket| {
            let config = Arc::new(foreign_server(&TLS13, protocols));
            let connection = ServerConnection::new(config).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, socket);
            let _ = stream.read(&mut [0; 100]);
        });
        assert_says(&error, ErrorKind::InvalidData, "is no end of a link");
    }
}

/// Sends this, and waits for the other side to end the connection.
fn says(mut socket: &TcpStream, bytes: &[u8]) {
    let _ = socket.write_all(bytes);
    let _ = socket.read_to_end(&mut Vec::new());
}

#[test]
fn what_is_not_tls_is_refused_at_once() {
    // No handshake's limit ends these: it is an hour.
    let garbage: [&[u8]; 4] = [
        b"GET / HTTP/1.1\r\nHost: images.example\r\n\r\n",
        b"SSH-2.0-OpenSSH_9.9\r\n",
        &[0; 100],
        &[0xff; 100_000],
    ];
    for bytes in garbage {
        let error = accepting(&server(), |socket| says(&socket, bytes));
        assert_says(&error, ErrorKind::InvalidData, "is not TLS");
        let error = connecting(&client(), |socket| says(&socket, bytes));
        assert_says(&error, ErrorKind::InvalidData, "is not TLS");
    }
    // A link over bare TCP.
    let (link, accepted) = meet(
        |socket| tcp(Link::builder(), socket).unwrap(),
        |socket| server().accept(socket),
    );
    assert_says(&failed(accepted), ErrorKind::InvalidData, "is not TLS");
    link.close();
    let (connected, link) = meet(
        |socket| client().connect(socket, SERVER),
        |socket| tcp(Link::builder(), socket).unwrap(),
    );
    assert_says(&failed(connected), ErrorKind::InvalidData, "is not TLS");
    link.close();
}

#[test]
fn a_program_that_goes_away_is_told_at_once() {
    let gone = "it has closed the connection";
    let error = accepting(&server(), drop);
    assert_says(&error, ErrorKind::UnexpectedEof, gone);
    let error = connecting(&client(), |socket| {
        // What it was sent is read, so that its end is no reset.
        let _ = (&socket).read(&mut [0; 10_000]);
    });
    assert_says(&error, ErrorKind::UnexpectedEof, gone);
}

#[test]
fn a_program_that_is_silent_or_slow_holds_a_thread_no_longer_than_the_limit() {
    let short = Duration::from_millis(200);
    let (server, client) = (
        server().handshake_limit(short),
        client().handshake_limit(short),
    );
    let words = "it has not completed the handshake within 200ms";
    let error = accepting(&server, |socket| says(&socket, b""));
    assert_says(&error, ErrorKind::TimedOut, words);
    let error = connecting(&client, |socket| says(&socket, b""));
    assert_says(&error, ErrorKind::TimedOut, words);
    // Each byte of a hello comes soon, and the last one never.
    let error = accepting(&server, |mut socket| {
        let mut bytes = vec![0; 10_000];
        bytes[..9].copy_from_slice(&[0x16, 3, 1, 0x3f, 0xf0, 1, 0, 0x3f, 0xe0]);
        for byte in bytes {
            if socket.write_all(&[byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(1));
        }
        panic!("it has taken all");
    });
    assert_says(&error, ErrorKind::TimedOut, words);
}

#[test]
fn a_server_that_begins_no_link_is_not_waited_for() {
    let client = client().handshake_limit(Duration::from_secs(5));
    let (sender, done) = std::sync::mpsc::channel();
    let (connected, ()) = meet(
        move |socket| {
            let connected = client.connect(socket, SERVER);
            sender.send(()).unwrap();
            connected
        },
        move |socket| {
            let _connection = server().accept(socket).unwrap();
            done.recv().unwrap();
        },
    );
    assert_says(
        &failed(connected),
        ErrorKind::TimedOut,
        "it has completed the handshake, and not begun its link within 5s",
    );
}

#[test]
fn the_application_decides_whom_it_lets_in() {
    let (connected, ()) = meet(
        |socket| client().connect(socket, SERVER),
        |socket| {
            let connection = server().accept(socket).unwrap();
            assert!(connection.peer().is_named(CLIENT));
            drop(connection);
        },
    );
    assert_says(
        &failed(connected),
        ErrorKind::PermissionDenied,
        "it trusts this program's certificate, and does not let this program in",
    );
}

#[test]
fn what_this_program_gives_wrongly_is_told_before_there_is_a_socket() {
    let program = Program::new(CLIENT);
    let (pem, key) = (program.certificate.pem(), program.key.serialize_pem());
    let no_certificate = "no certificate is in the PEM";
    let error = Identity::from_pem("", &key).unwrap_err();
    assert_says(&error, ErrorKind::InvalidInput, no_certificate);
    // The two are the wrong way round.
    let error = Identity::from_pem(&key, &pem).unwrap_err();
    assert_says(&error, ErrorKind::InvalidInput, no_certificate);
    let error = Identity::from_pem(&pem, &pem).unwrap_err();
    assert_says(
        &error,
        ErrorKind::InvalidInput,
        "no private key can be read",
    );
    let error = Identity::from_pem("-----BEGIN CERTIFICATE-----\n?", &key).unwrap_err();
    assert_says(&error, ErrorKind::InvalidInput, "what should be PEM is not");
    // Both in one text.
    Identity::from_pem(format!("{key}{pem}"), format!("{key}{pem}")).unwrap();
    let error = Identity::from_files("no/such.pem", "no/such.key").unwrap_err();
    assert_says(&error, ErrorKind::NotFound, "no/such.pem");

    let another = KeyPair::generate().unwrap().serialize_pem();
    let identity = Identity::from_pem(&pem, another).unwrap();
    let error = Tls::new(identity, &authorities()).unwrap_err();
    assert_says(
        &error,
        ErrorKind::InvalidInput,
        "the certificate and its key cannot be used",
    );
    let error = Authorities::from_pem("").unwrap_err();
    assert_says(&error, ErrorKind::InvalidInput, no_certificate);
    let broken = "-----BEGIN CERTIFICATE-----\naGVsbG8=\n-----END CERTIFICATE-----\n";
    let error = Authorities::from_pem(broken).unwrap_err();
    assert_says(
        &error,
        ErrorKind::InvalidInput,
        "a certificate is not that of an authority",
    );

    let (connected, ()) = meet(|socket| client().connect(socket, "a b"), drop);
    assert_says(
        &connected.unwrap_err(),
        ErrorKind::InvalidInput,
        "\"a b\" is neither the name of a host nor an address",
    );
}

//! What a recorder cannot read, since only a class of its program knows how: it is kept as bytes, and found again.

use tamtam_amf::amf3::Value as Amf3;
use tamtam_gateway::{Gateway, Recorder, Replay};

use super::Recorded;
use crate::amf::{flex, small_ping};
use crate::amf_classes::{classes, gateway, packet3, place3, post3};
use crate::world::{Running, run};

const IDS: [&str; 3] = [
    "11111111-2222-4333-8444-555555555555",
    "AAAAAAAA-BBBB-4CCC-8DDD-EEEEEEEEEEEE",
    "99999999-8888-4777-8666-555555555555",
];

fn listed(values: impl IntoIterator<Item = Amf3>) -> Amf3 {
    values.into_iter().collect::<Vec<_>>().into()
}

/// A call of Flex whose id stands before its arguments, or behind them.
fn remote(operation: &str, body: Amf3, id: &str, is_behind: bool) -> (&'static str, Amf3) {
    let own = [
        ("messageId", id.into()),
        ("timestamp", Amf3::Double(id.as_bytes()[0].into())),
    ];
    let call = [
        ("destination", "Shapes".into()),
        ("operation", operation.into()),
        ("body", body),
    ];
    let members = match is_behind {
        true => [&call[..], &own[..]].concat(),
        false => [&own[..], &call[..]].concat(),
    };
    ("null", listed([flex("RemotingMessage", &members)]))
}

impl Recorded {
    fn losses(&self) -> Vec<String> {
        self.losses.lock().unwrap().clone()
    }
}

#[test]
fn arguments_and_answers_of_classes_that_are_not_known_are_found_again() {
    run(|| async {
        let mut recorded = Recorded::of(gateway(), |recorder| recorder).await;
        let at = |x: i32| ("Shapes.at", listed([x.into(), "here".into()]));
        let moved = |x: i32| ("Shapes.moved", listed([place3(x, "far"), 1.into()]));
        let sum = ("Sums.add", listed([1.into(), 2.into()]));
        let first = packet3(1, vec![at(5), moved(7), sum.clone()]);
        let direct = post3(&recorded.server, first.clone()).await;
        assert_eq!(direct[0].1, place3(5, "here"));
        assert_eq!(direct[1].1, place3(8, "far"));
        assert_eq!(post3(&recorded.recorder, first).await, direct);
        assert_eq!(recorded.losses(), [""; 0]);

        let replay = recorded.replay().await;
        // Other places in another packet, and other numbers.
        let again = packet3(40, vec![sum, moved(7), moved(6), at(5), at(4)]);
        let again = post3(&replay, again).await;
        let targets: Vec<_> = again.iter().map(|(target, _)| &**target).collect();
        assert_eq!(
            targets,
            [
                "/40/onResult",
                "/41/onResult",
                "/42/onStatus",
                "/43/onResult",
                "/44/onStatus"
            ]
        );
        assert_eq!(again[0].1, direct[2].1);
        assert_eq!(again[1].1, direct[1].1);
        assert_eq!(again[3].1, direct[0].1);
        for index in [2, 4] {
            let code = again[index].1.get("code");
            assert_eq!(code, Some(&"Replay.NeverAsked".into()));
        }
    });
}

#[test]
fn answers_of_flex_that_cannot_be_read_get_the_id_of_the_new_message() {
    run(|| async {
        let mut recorded = Recorded::of(gateway(), |recorder| recorder).await;
        let at = |id| remote("at", listed([5.into(), "here".into()]), id, true);
        let moved = |id| remote("moved", listed([place3(7, "far"), 1.into()]), id, false);
        let first = packet3(1, vec![at(IDS[0]), moved(IDS[1])]);
        let answers = post3(&recorded.recorder, first).await;
        assert_eq!(answers[0].1.get("correlationId"), Some(&IDS[0].into()));
        assert_eq!(answers[0].1.get("body"), Some(&place3(5, "here")));
        assert_eq!(recorded.losses(), [""; 0]);

        let replay = recorded.replay().await;
        let again = post3(&replay, packet3(8, vec![moved(IDS[2]), at(IDS[1])])).await;
        for (index, (of, id)) in [(1, IDS[2]), (0, IDS[1])].into_iter().enumerate() {
            assert_eq!(again[index].0, format!("/{}/onResult", index + 8));
            let answer = &again[index].1;
            assert_eq!(answer.get("correlationId"), Some(&id.into()));
            assert_eq!(answer.get("body"), answers[of].1.get("body"));
        }
        // An id of another length has no room there.
        let again = post3(&replay, packet3(1, vec![at("short")])).await;
        assert_eq!(again[0].0, "/1/onStatus");
        let fault = &again[0].1;
        assert_eq!(fault.get("faultCode"), Some(&"Replay.Unread".into()));
        assert_eq!(fault.get("correlationId"), Some(&"short".into()));
    });
}

#[test]
fn what_is_found_by_no_request_is_told_and_kept_for_a_replay_that_has_the_classes() {
    run(|| async {
        let mut recorded = Recorded::of(gateway(), |recorder| recorder).await;
        let moved = |id| remote("moved", listed([place3(7, "far"), 1.into()]), id, true);
        post3(&recorded.recorder, packet3(1, vec![moved(IDS[0])])).await;
        let losses = recorded.losses();
        assert_eq!(losses.len(), 1, "{losses:?}");
        assert!(
            losses[0].starts_with(
                "the answer to POST /amf is recorded, and may not be given again: Shapes.moved: "
            ),
            "{losses:?}"
        );
        // The server answers a path that is none of AMF by words.
        let sum = ("Sums.add", listed([1.into(), 2.into()]));
        let packet = packet3(1, vec![sum]);
        let words = recorded
            .recorder
            .post("/jsonrpc", "application/x-amf", packet);
        assert_eq!(words.await.status, 415);
        let losses = recorded.losses();
        assert!(losses[1].contains("it is no packet of AMF"), "{losses:?}");
        let call = r#"{"jsonrpc":"2.0","method":"Sums.add","params":[1,2],"id":1}"#;
        let words = recorded
            .recorder
            .post("/elsewhere", "application/json", call);
        assert_eq!(words.await.status, 404);
        let losses = recorded.losses();
        assert!(losses[2].contains("Sums.add: none has come"), "{losses:?}");

        let replay = Replay::open(&recorded.path).unwrap();
        assert_eq!((replay.call_count(), replay.not_given_count()), (0, 3));
        let never = post3(&recorded.replay().await, packet3(1, vec![moved(IDS[1])])).await;
        let code = never[0].1.get("faultCode");
        assert_eq!(code, Some(&"Replay.NeverAsked".into()));
        let words = "Shapes.moved was recorded, and in no form that can be given again";
        assert_eq!(never[0].1.get("faultString"), Some(&words.into()));

        let replay = Replay::open_with_classes(&recorded.path, &classes()).unwrap();
        assert_eq!((replay.call_count(), replay.not_given_count()), (1, 2));
        let replay = Running::of(Gateway::new().replay(replay)).await;
        let again = post3(&replay, packet3(1, vec![moved(IDS[1])])).await;
        assert_eq!(again[0].1.get("body"), Some(&place3(8, "far")));
        assert_eq!(again[0].1.get("correlationId"), Some(&IDS[1].into()));

        // A recorder that has them, too, has nothing to tell.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("calls.jsonl");
        let server = Running::of(gateway()).await;
        let url = format!("http://{}", server.address);
        let recorder = Recorder::open_with_classes(&url, &path, &classes()).unwrap();
        let recorder = recorder.told(|loss| panic!("{loss}"));
        let recorder = Running::of(Gateway::new().recorder(recorder)).await;
        let answered = post3(&recorder, packet3(1, vec![moved(IDS[0])])).await;
        assert_eq!(answered[0].1.get("body"), Some(&place3(8, "far")));
    });
}

/// The packet with the length of its first value not said.
fn with_unknown_length(mut packet: Vec<u8>, target: &str) -> Vec<u8> {
    let at = packet
        .windows(target.len())
        .position(|part| part == target.as_bytes());
    // The length of the response, and `/1`.
    let at = at.unwrap() + target.len() + 2 + 2;
    packet[at..at + 4].copy_from_slice(&[0xff; 4]);
    packet
}

#[test]
fn a_value_whose_length_is_not_known_reaches_to_the_end_of_its_packet() {
    run(|| async {
        let mut recorded = Recorded::of(gateway(), |recorder| recorder).await;
        let moved = ("Shapes.moved", listed([place3(7, "far"), 1.into()]));
        let sum = ("Sums.add", listed([1.into(), 2.into()]));
        let last = with_unknown_length(packet3(1, vec![moved.clone()]), "Shapes.moved");
        let first = post3(&recorded.recorder, last).await;
        assert_eq!(recorded.losses(), [""; 0]);
        // Before another one nothing says where it ends: only the same bytes are the same call.
        let both = with_unknown_length(packet3(1, vec![moved.clone(), sum]), "Shapes.moved");
        post3(&recorded.recorder, both.clone()).await;
        let losses = recorded.losses();
        assert_eq!(losses.len(), 1);
        assert!(
            losses[0].contains("only the same bytes are the same call: it is no packet of AMF: message 0 (\"Shapes.moved\")")
                && losses[0].contains("does not say how long the value is"),
            "{losses:?}"
        );
        let replay = recorded.replay().await;
        assert_eq!(post3(&replay, packet3(1, vec![moved])).await, first);
        assert_eq!(post3(&replay, both).await.len(), 2);
    });
}

#[test]
fn a_small_message_of_flex_is_answered_under_the_id_that_it_has_in_bytes() {
    run(|| async {
        let mut recorded = Recorded::of(gateway(), |recorder| recorder).await;
        let ping = |id: &str| packet3(1, vec![("null", small_ping(id, ""))]);
        let live = post3(&recorded.recorder, ping(IDS[0])).await;
        assert_eq!(live[0].1.get("correlationId"), Some(&IDS[0].into()));
        let replay = recorded.replay().await;
        let again = post3(&replay, ping(IDS[1])).await;
        assert_eq!(again[0].0, "/1/onResult");
        assert_eq!(again[0].1.get("correlationId"), Some(&IDS[1].into()));
    });
}

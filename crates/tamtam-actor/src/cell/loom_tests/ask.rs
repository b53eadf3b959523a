//! Models of questions: the answer, and the end of the one who was to give it.

use super::*;

/// Asks somebody who keeps the reply.
struct Asker {
    other: Address<Reply<u32>>,
    fate: Arc<Fate>,
}

impl Actor for Asker {
    type Message = ();

    fn handle(&mut self, (): (), cx: &mut Context<Self>) {
        cx.ask(
            &self.other,
            |reply| reply,
            |asker, answer, _| {
                assert_eq!(answer, Err(AskError::Unanswered));
                asker.fate.handled.fetch_add(1, Relaxed);
            },
        );
    }
}

#[test]
fn loom_an_answer_against_becoming_idle() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let place = Arc::new(Mutex::new(None));
        let other = {
            let place = Arc::clone(&place);
            stage
                .spawner()
                .spawn_fn(move |reply: Reply<u32>, _: &mut Here<_>| {
                    *place.lock() = Some(reply);
                })
        };
        let asker = stage.spawner().spawn(Asker {
            other,
            fate: Arc::clone(&fate),
        });
        asker.tell(()).unwrap();
        let refuse = {
            let (stage, place) = (Arc::clone(&stage), Arc::clone(&place));
            move || {
                let reply = place.lock().take();
                drop(reply);
                stage.run();
            }
        };
        let refuser = thread::spawn(refuse.clone());
        stage.run();
        refuser.join().unwrap();
        refuse();
        assert_eq!(fate.handled.load(Relaxed), 1);
    });
}

/// Whoever waits for an answer hears of the actor's end.
#[test]
fn loom_a_question_against_stop() {
    model(2, || {
        let stage = ModelHome::new();
        let address = stage
            .spawner()
            .spawn_fn(|reply: Reply<u32>, _: &mut Here<_>| reply.send(7));
        let done = seam::Arc::new(AtomicBool::new(false));
        let asker = {
            let (address, done) = (address.clone(), seam::Arc::clone(&done));
            thread::spawn(move || {
                let answer = address.ask(|reply| reply);
                done.store(true, Ordering::Release);
                answer
            })
        };
        address.stop();
        // What the question makes due may come at any time.
        while !done.load(Ordering::Acquire) {
            stage.run();
            seam::yield_now();
        }
        let answer = asker.join().unwrap();
        assert!(matches!(
            answer,
            Ok(7) | Err(AskError::Stopped(_) | AskError::Unanswered)
        ));
    });
}

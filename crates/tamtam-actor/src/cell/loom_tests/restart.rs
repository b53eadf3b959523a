//! Models of actors that begin again.

use super::*;

/// Panics, as far as a model can, at one message, and begins again.
struct Fragile {
    _fate: Arc<Fate>,
}

impl Actor for Fragile {
    type Message = Told;

    fn handle(&mut self, message: Told, cx: &mut Context<Self>) {
        if message.0 == 0 {
            // The turn ends with this message, by a panic.
            let state = cx.here().cell().state();
            state.set(State::PANICKED | State::STOPPING);
        }
        message.handled();
    }
}

fn fragile(stage: &Arc<ModelHome>, fate: &Arc<Fate>) -> Address<Told> {
    let fate = Arc::clone(fate);
    let restart = Restart::on_panic()
        .no_limit()
        .backoff(Duration::ZERO, 1.0, Duration::ZERO);
    stage
        .spawner()
        .restart(restart)
        .spawn_with(move |_| Fragile {
            _fate: Arc::clone(&fate),
        })
}

/// What comes while an actor begins again is handled by the next instance.
#[test]
fn loom_restart_against_tell() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = fragile(&stage, &fate);
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, fate, address) = (Arc::clone(&stage), Arc::clone(&fate), address.clone());
            thread::spawn(move || {
                address.tell(Told(1, fate)).unwrap();
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        stage.run();
        check(&address, &fate, 2, 0);
        assert_eq!(*fate.order.lock().unwrap(), [0, 1]);
        assert!(!address.is_stopped());
        drop(address);
        stage.run();
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// A stop is not lost in a restart, nor a message with it.
#[test]
fn loom_restart_against_stop() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = fragile(&stage, &fate);
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        stage.run();
        assert!(address.is_stopped());
        check(&address, &fate, 2, 0);
        assert_eq!(
            address.place().life().end_reason(),
            Some(EndReason::Stopped)
        );
    });
}

/// An actor that pauses is resumed, whenever that is said.
#[test]
fn loom_resume_against_a_pause_and_a_message() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = {
            let fate = Arc::clone(&fate);
            // Nobody decides but this model.
            let policy = Policy::Reported(Arc::new(|_| {}));
            let birth = Born::new(
                move |_: &mut Context<Fragile>| Fragile {
                    _fate: Arc::clone(&fate),
                },
                policy,
            );
            // SAFETY: the actor may be used on any thread.
            unsafe { stage.spawner().settle_birth(Box::new(birth)) }
        };
        let place = address.place();
        Arc::clone(&place).send(System::Resume(None));
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, place) = (Arc::clone(&stage), Arc::clone(&place));
            thread::spawn(move || {
                // Too early, perhaps: then it is for nothing.
                place.send(System::Resume(None));
                stage.run();
            })
        };
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        stage.run();
        other.join().unwrap();
        place.send(System::Resume(None));
        stage.run();
        check(&address, &fate, 2, 0);
        assert_eq!(*fate.order.lock().unwrap(), [0, 1]);
    });
}

//! Models of addresses, which keep the cell together: the last one goes while there is another one again.

use super::*;

/// Makes an address of its own for each message, and keeps it until the next one.
struct Maker {
    own: Option<Address<Told>>,
    keeps: bool,
}

impl Actor for Maker {
    type Message = Told;

    fn handle(&mut self, message: Told, cx: &mut Context<Self>) {
        message.handled();
        let own = cx.address();
        assert!(!own.is_stopped());
        self.own = self.keeps.then_some(own);
    }
}

/// The last address outside is dropped while the actor makes one, which may be the first again.
fn drop_against_another(keeps: bool) {
    model(2, move || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let address = stage.spawner().spawn(Maker { own: None, keeps });
        let weak = address.downgrade();
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let other = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                drop(address);
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        stage.run();
        assert_eq!(fate.handled.load(Relaxed), 1);
        if keeps {
            // It is kept by itself, and reached by nothing else, until it is told to stop.
            let again = weak.upgrade().expect("it keeps an address");
            again.stop();
            stage.run();
        }
        drop(weak);
        assert_eq!(fate.dropped.load(Relaxed), 1);
        // The actor is gone, and its cell: its home is ours alone.
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

#[test]
fn loom_the_last_address_goes_while_the_actor_makes_another() {
    drop_against_another(false);
}

#[test]
fn loom_the_last_address_goes_while_the_actor_makes_one_that_it_keeps() {
    drop_against_another(true);
}

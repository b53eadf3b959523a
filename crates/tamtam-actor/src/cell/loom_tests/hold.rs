//! Models of actors that keep their messages back: because they hold for something, or are muted.

use super::*;
use crate::models::Gate;

/// Awaits a future that is ready once somebody has opened it, and keeps its messages back until then.
struct Holding(Gate, Arc<Fate>);

impl Actor for Holding {
    type Message = Option<Told>;

    fn handle(&mut self, message: Option<Told>, cx: &mut Context<Self>) {
        let Some(message) = message else {
            cx.hold(self.0.clone(), |this, (), _| {
                this.1.order.try_lock().unwrap().push(100);
            });
            return;
        };
        message.handled();
    }
}

/// An actor that keeps its messages back goes on with them once what it waits for is there, whenever that comes.
#[test]
fn loom_hold_against_the_outcome_and_a_message() {
    model(2, || {
        let stage = ModelHome::new();
        let fate = Arc::new(Fate::default());
        let gate = Gate::new();
        let address = stage
            .spawner()
            .spawn(Holding(gate.clone(), Arc::clone(&fate)));
        address.tell(None).unwrap();
        let opener = {
            let (stage, gate) = (Arc::clone(&stage), gate.clone());
            thread::spawn(move || {
                gate.open();
                stage.run();
            })
        };
        address.tell(Some(Told(1, Arc::clone(&fate)))).unwrap();
        stage.run();
        opener.join().unwrap();
        stage.run();
        assert_eq!(*fate.order.lock().unwrap(), [100, 1]);
        assert_eq!(fate.dropped.load(Relaxed), 1);
        drop(address);
        stage.run();
    });
}

/// One that keeps its messages back can be stopped, and those are counted.
#[test]
fn loom_hold_against_stop() {
    model(2, || {
        let stage = ModelHome::new();
        let fate = Arc::new(Fate::default());
        let gate = Gate::new();
        let address = stage
            .spawner()
            .spawn(Holding(gate.clone(), Arc::clone(&fate)));
        address.tell(None).unwrap();
        address.tell(Some(Told(1, Arc::clone(&fate)))).unwrap();
        let stopper = {
            let (stage, address) = (Arc::clone(&stage), address.clone());
            thread::spawn(move || {
                address.stop();
                stage.run();
            })
        };
        stage.run();
        stopper.join().unwrap();
        stage.run();
        assert!(address.is_stopped());
        assert_eq!(fate.dropped.load(Relaxed), 1);
        // The wish to hold may be lost, too.
        assert!((1..=2).contains(&address.lost()));
        gate.open();
        stage.run();
    });
}

/// Sends more than there is room for: it is muted by the one it sends to.
struct Flooding(Arc<Unlocked<Vec<Muted>>>);

impl Actor for Flooding {
    type Message = Told;

    fn handle(&mut self, message: Told, _: &mut Context<Self>) {
        if message.0 == 0 {
            let muted = Muted::at_work().unwrap();
            self.0.try_lock().unwrap().push(muted);
        }
        message.handled();
    }
}

/// A muted actor goes on with its messages once there is room, whenever that comes.
#[test]
fn loom_mute_against_room() {
    model(2, || {
        let stage = ModelHome::new();
        let fate = Arc::new(Fate::default());
        let muted = Arc::new(Unlocked::new(Vec::new()));
        let address = stage.spawner().spawn(Flooding(Arc::clone(&muted)));
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        address.tell(Told(1, Arc::clone(&fate))).unwrap();
        let other = {
            let (stage, muted) = (Arc::clone(&stage), Arc::clone(&muted));
            thread::spawn(move || {
                let taken = core::mem::take(&mut *muted.lock().unwrap());
                drop(taken);
                stage.run();
            })
        };
        stage.run();
        other.join().unwrap();
        let taken = core::mem::take(&mut *muted.lock().unwrap());
        drop(taken);
        stage.run();
        assert_eq!(*fate.order.lock().unwrap(), [0, 1]);
        drop(address);
        stage.run();
    });
}

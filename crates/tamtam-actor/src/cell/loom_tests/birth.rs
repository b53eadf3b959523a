//! Models of births: the first turn, which nobody sends for.

use super::*;

/// Notes that it begins, and what it handles.
struct Beginning(Arc<Fate>);

impl Actor for Beginning {
    type Message = Told;

    fn started(&mut self, _: &mut Context<Self>) {
        self.0.order.try_lock().unwrap().push(100);
    }

    fn handle(&mut self, message: Told, _: &mut Context<Self>) {
        message.handled();
    }
}

/// It begins once, and before its first message, whoever gives it its turns.
#[test]
fn loom_a_birth_against_a_message() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let other = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || stage.run())
        };
        let address = stage.spawner().spawn(Beginning(Arc::clone(&fate)));
        address.tell(Told(0, Arc::clone(&fate))).unwrap();
        other.join().unwrap();
        stage.run();
        assert_eq!(*fate.order.lock().unwrap(), [100, 0]);
        check(&address, &fate, 1, 0);
        drop(address);
        stage.run();
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

/// One whose home ends meanwhile has begun, or not; in any case it ends, and its message is handled, refused or counted.
#[test]
fn loom_a_birth_against_the_end_of_its_home() {
    model(2, || {
        let (stage, fate) = (ModelHome::new(), Arc::new(Fate::default()));
        let other = {
            let stage = Arc::clone(&stage);
            thread::spawn(move || {
                stage.run();
                stage.close();
            })
        };
        let address = stage.spawner().spawn(Beginning(Arc::clone(&fate)));
        let refused = u32::from(address.tell(Told(0, Arc::clone(&fate))).is_err());
        other.join().unwrap();
        // Who has become idle before the end hears of it from the next one who sends.
        let refused = refused + u32::from(address.tell(Told(1, Arc::clone(&fate))).is_err());
        assert!(address.is_stopped());
        check(&address, &fate, 2, refused);
        let order = fate.order.lock().unwrap();
        assert!(matches!(order[..], [] | [100] | [100, 0]), "{order:?}");
        drop(address);
        assert_eq!(Arc::strong_count(&stage), 1);
    });
}

package tamtam.savina;

import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.PoisonPill;
import org.apache.pekko.actor.Props;
import tamtam.PekkoSettings;

/** Pekko: classic actors on a fork-join dispatcher. */
final class Pekko<M> extends Company<M, ActorRef> {
    private final ActorSystem system;

    Pekko(int threads) {
        system = ActorSystem.create("savina", PekkoSettings.of(threads));
    }

    private static final class Player<M> extends AbstractActor {
        private final Part<M> part;
        private final Company<M, ?>.Cast cast;

        Player(Part<M> part, Company<M, ?>.Cast cast) {
            this.part = part;
            this.cast = cast;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().matchAny(this::handle).build();
        }

        @SuppressWarnings("unchecked")
        private void handle(Object message) {
            part.handle((M) message, cast);
        }

        @Override
        public void postStop() {
            cast.ended.countDown();
        }
    }

    @Override
    protected ActorRef player(Part<M> part, Cast cast) {
        Props props = Props.create(Player.class, () -> new Player<>(part, cast));
        return system.actorOf(props.withDispatcher(PekkoSettings.DISPATCHER));
    }

    @Override
    protected void send(ActorRef player, M message) {
        player.tell(message, ActorRef.noSender());
    }

    @Override
    protected void end(Cast cast) throws InterruptedException {
        for (ActorRef player : cast.players) {
            player.tell(PoisonPill.getInstance(), ActorRef.noSender());
        }
        cast.ended.await();
    }

    @Override
    public void close() {
        system.terminate();
    }
}

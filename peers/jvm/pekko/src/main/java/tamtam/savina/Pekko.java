package tamtam.savina;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.PoisonPill;
import org.apache.pekko.actor.Props;
import tamtam.PekkoSettings;

/** Pekko: classic actors on a fork-join dispatcher. */
final class Pekko<M> implements Stage<M> {
    private final ActorSystem system;
    private Cast<M> cast = new Cast<>(0);

    Pekko(int threads) {
        system = ActorSystem.create("savina", PekkoSettings.of(threads));
    }

    /** The actors of a round. */
    private static final class Cast<M> implements Others<M> {
        final List<ActorRef> players;
        final CountDownLatch ended;

        Cast(int actors) {
            players = new ArrayList<>(actors);
            ended = new CountDownLatch(actors);
        }

        @Override
        public void tell(int position, M message) {
            players.get(position).tell(message, ActorRef.noSender());
        }
    }

    private static final class Player<M> extends AbstractActor {
        private final Part<M> part;
        private final Cast<M> cast;

        Player(Part<M> part, Cast<M> cast) {
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
    public void build(List<Part<M>> parts) {
        // Complete before anything is sent, and so before an actor reads it.
        Cast<M> all = new Cast<>(parts.size());
        for (Part<M> part : parts) {
            Props props = Props.create(Player.class, () -> new Player<>(part, all));
            all.players.add(system.actorOf(props.withDispatcher(PekkoSettings.DISPATCHER)));
        }
        cast = all;
    }

    @Override
    public void tell(int position, M message) {
        cast.tell(position, message);
    }

    @Override
    public void clear() throws InterruptedException {
        // Behind what each has got.
        for (ActorRef player : cast.players) {
            player.tell(PoisonPill.getInstance(), ActorRef.noSender());
        }
        cast.ended.await();
        cast = new Cast<>(0);
    }

    @Override
    public void close() {
        system.terminate();
    }
}

package tamtam.savina;

import groovyx.gpars.actor.StaticDispatchActor;
import groovyx.gpars.group.DefaultPGroup;
import java.util.ArrayList;
import java.util.List;

/** GPars: actors with one handler, on a pool of their group. */
final class Gpars<M> implements Stage<M> {
    private final DefaultPGroup group;
    private Cast<M> cast = new Cast<>(0);

    Gpars(int threads) {
        group = new DefaultPGroup(threads);
    }

    /** The actors of a round. */
    private static final class Cast<M> implements Others<M> {
        final List<Player<M>> players;

        Cast(int actors) {
            players = new ArrayList<>(actors);
        }

        @Override
        public void tell(int position, M message) {
            players.get(position).send(message);
        }
    }

    private static final class Player<M> extends StaticDispatchActor<M> {
        private static final long serialVersionUID = 1L;

        private final transient Part<M> part;
        private final transient Cast<M> cast;

        Player(Part<M> part, Cast<M> cast) {
            this.part = part;
            this.cast = cast;
        }

        @Override
        public void onMessage(M message) {
            part.handle(message, cast);
        }
    }

    @Override
    public void build(List<Part<M>> parts) {
        // Complete before anything is sent, and so before an actor reads it.
        Cast<M> all = new Cast<>(parts.size());
        for (Part<M> part : parts) {
            Player<M> player = new Player<>(part, all);
            player.setParallelGroup(group);
            player.start();
            all.players.add(player);
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
        for (Player<M> player : cast.players) {
            player.stop();
        }
        for (Player<M> player : cast.players) {
            player.join();
        }
        cast = new Cast<>(0);
    }

    @Override
    public void close() {
        group.shutdown();
    }
}

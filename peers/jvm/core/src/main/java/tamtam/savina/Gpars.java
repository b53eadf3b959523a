package tamtam.savina;

import groovyx.gpars.actor.StaticDispatchActor;
import groovyx.gpars.group.DefaultPGroup;

/** GPars: actors with one handler, on a pool of their group. */
final class Gpars<M> extends Company<M, Gpars.Player<M>> {
    private final DefaultPGroup group;

    Gpars(int threads) {
        group = new DefaultPGroup(threads);
    }

    static final class Player<M> extends StaticDispatchActor<M> {
        private static final long serialVersionUID = 1L;

        private final transient Part<M> part;
        private final transient Others<M> others;

        private Player(Part<M> part, Others<M> others) {
            this.part = part;
            this.others = others;
        }

        @Override
        public void onMessage(M message) {
            part.handle(message, others);
        }
    }

    @Override
    protected Player<M> player(Part<M> part, Cast cast) {
        Player<M> player = new Player<>(part, cast);
        player.setParallelGroup(group);
        player.start();
        return player;
    }

    @Override
    protected void send(Player<M> player, M message) {
        player.send(message);
    }

    @Override
    protected void end(Cast cast) throws InterruptedException {
        for (Player<M> player : cast.players) {
            player.stop();
        }
        for (Player<M> player : cast.players) {
            player.join();
        }
    }

    @Override
    public void close() {
        group.shutdown();
    }
}

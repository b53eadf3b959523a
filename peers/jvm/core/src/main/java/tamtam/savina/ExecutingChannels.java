package tamtam.savina;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import tamtam.ExecutingChannel;

/** Actors that are executing channels. */
abstract class ExecutingChannels<M> extends Company<M, ExecutingChannels.Player<M>> {
    private final ExecutorService pool;

    ExecutingChannels(ExecutorService pool) {
        this.pool = pool;
    }

    /** On a fixed pool. */
    static final class OnFixedPool<M> extends ExecutingChannels<M> {
        OnFixedPool(int threads) {
            super(Executors.newFixedThreadPool(threads));
        }
    }

    /** On a fork-join pool whose tasks come in the order in which they were submitted. */
    static final class OnForkJoinPool<M> extends ExecutingChannels<M> {
        OnForkJoinPool(int threads) {
            super(new ForkJoinPool(threads, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true));
        }
    }

    static final class Player<M> extends ExecutingChannel<M> {
        private final Part<M> part;
        private final Company<M, ?>.Cast cast;

        private Player(ExecutorService pool, Part<M> part, Company<M, ?>.Cast cast) {
            super(pool);
            this.part = part;
            this.cast = cast;
        }

        @Override
        protected void onMessage(M message) {
            // Nothing is what it gets at its end.
            if (message == null) {
                cast.ended.countDown();
            } else {
                part.handle(message, cast);
            }
        }
    }

    @Override
    protected Player<M> player(Part<M> part, Cast cast) {
        return new Player<>(pool, part, cast);
    }

    @Override
    protected void send(Player<M> player, M message) {
        player.post(message);
    }

    @Override
    protected void end(Cast cast) throws InterruptedException {
        cast.players.forEach(player -> player.post(null));
        cast.ended.await();
    }

    @Override
    public void close() {
        pool.shutdown();
    }
}

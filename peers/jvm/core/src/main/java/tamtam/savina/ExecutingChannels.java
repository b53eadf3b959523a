package tamtam.savina;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import tamtam.ExecutingChannel;

/** Actors that are executing channels. */
abstract class ExecutingChannels<M> implements Stage<M> {
    private final ExecutorService pool;
    private Cast<M> cast = new Cast<>(0);

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

    /** The actors of a round. */
    private static final class Cast<M> implements Others<M> {
        final List<Player<M>> players;
        final CountDownLatch ended;

        Cast(int actors) {
            players = new ArrayList<>(actors);
            ended = new CountDownLatch(actors);
        }

        @Override
        public void tell(int position, M message) {
            players.get(position).post(message);
        }
    }

    private static final class Player<M> extends ExecutingChannel<M> {
        private final Part<M> part;
        private final Cast<M> cast;

        Player(ExecutorService pool, Part<M> part, Cast<M> cast) {
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
    public void build(List<Part<M>> parts) {
        // Complete before anything is sent, and so before an actor reads it.
        Cast<M> all = new Cast<>(parts.size());
        for (Part<M> part : parts) {
            all.players.add(new Player<>(pool, part, all));
        }
        cast = all;
    }

    @Override
    public void tell(int position, M message) {
        cast.tell(position, message);
    }

    @Override
    public void clear() throws InterruptedException {
        cast.players.forEach(player -> player.post(null));
        cast.ended.await();
        cast = new Cast<>(0);
    }

    @Override
    public void close() {
        pool.shutdown();
    }
}

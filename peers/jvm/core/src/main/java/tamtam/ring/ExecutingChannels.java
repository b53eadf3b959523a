package tamtam.ring;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ForkJoinPool;
import tamtam.ExecutingChannel;

/** A ring of executing channels. */
abstract class ExecutingChannels implements Ring {
    private final ExecutorService pool;
    private Actor[] actors = {};

    ExecutingChannels(ExecutorService pool) {
        this.pool = pool;
    }

    /** On a fixed pool. */
    static final class OnFixedPool extends ExecutingChannels {
        OnFixedPool(int threads) {
            super(Executors.newFixedThreadPool(threads));
        }
    }

    /** On a fork-join pool whose tasks come in the order in which they were submitted. */
    static final class OnForkJoinPool extends ExecutingChannels {
        OnForkJoinPool(int threads) {
            super(new ForkJoinPool(threads, ForkJoinPool.defaultForkJoinWorkerThreadFactory, null, true));
        }
    }

    private static final class Actor extends ExecutingChannel<Parcel> {
        private final Station station;
        private Actor next;

        Actor(ExecutorService pool, Station station, Actor next) {
            super(pool);
            this.station = station;
            this.next = next;
        }

        @Override
        protected void onMessage(Parcel parcel) {
            if (station.handle(parcel)) {
                next.post(parcel);
            }
        }
    }

    @Override
    public void build(Course course) {
        actors = new Actor[course.actors];
        Actor next = null;
        for (int position = course.actors - 1; position >= 0; position--) {
            next = new Actor(pool, course.station(position), next);
            actors[position] = next;
        }
        actors[course.actors - 1].next = next;
    }

    @Override
    public void send(int position, Parcel parcel) {
        actors[position].post(parcel);
    }

    @Override
    public void clear() {
        actors = new Actor[0];
    }

    @Override
    public void close() {
        pool.shutdown();
    }
}

package tamtam.savina;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jetlang.channels.Channel;
import org.jetlang.channels.MemoryChannel;
import org.jetlang.fibers.Fiber;
import org.jetlang.fibers.PoolFiberFactory;

/** Jetlang: an actor is a fiber on a fixed pool that is subscribed to a channel. */
final class Jetlang<M> implements Stage<M> {
    private final ExecutorService pool;
    private final PoolFiberFactory factory;
    private final List<Fiber> fibers = new ArrayList<>();
    private Cast<M> cast = new Cast<>(0);

    Jetlang(int threads) {
        pool = Executors.newFixedThreadPool(threads);
        factory = new PoolFiberFactory(pool);
    }

    /** The channels of a round. */
    private static final class Cast<M> implements Others<M> {
        final List<Channel<M>> channels;

        Cast(int actors) {
            channels = new ArrayList<>(actors);
        }

        @Override
        public void tell(int position, M message) {
            channels.get(position).publish(message);
        }
    }

    @Override
    public void build(List<Part<M>> parts) {
        // Complete before anything is sent, and so before a fiber reads it.
        Cast<M> all = new Cast<>(parts.size());
        for (Part<M> part : parts) {
            Channel<M> channel = new MemoryChannel<>();
            Fiber fiber = factory.create();
            channel.subscribe(fiber, message -> part.handle(message, all));
            fiber.start();
            fibers.add(fiber);
            all.channels.add(channel);
        }
        cast = all;
    }

    @Override
    public void tell(int position, M message) {
        cast.tell(position, message);
    }

    @Override
    public void clear() throws InterruptedException {
        CountDownLatch ended = new CountDownLatch(fibers.size());
        // Behind what each has got: a fiber that is disposed of drops it.
        fibers.forEach(fiber -> fiber.execute(ended::countDown));
        ended.await();
        fibers.forEach(Fiber::dispose);
        fibers.clear();
        cast = new Cast<>(0);
    }

    @Override
    public void close() {
        factory.dispose();
        pool.shutdown();
    }
}

package tamtam.ring;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jetlang.channels.Channel;
import org.jetlang.channels.MemoryChannel;
import org.jetlang.fibers.Fiber;
import org.jetlang.fibers.PoolFiberFactory;

/** Jetlang: an actor is a fiber on a fixed pool that is subscribed to a channel. */
final class Jetlang implements Ring {
    private final ExecutorService pool;
    private final PoolFiberFactory factory;
    private final List<Fiber> fibers = new ArrayList<>();
    private List<Channel<Parcel>> channels = new ArrayList<>();

    Jetlang(int threads) {
        pool = Executors.newFixedThreadPool(threads);
        factory = new PoolFiberFactory(pool);
    }

    @Override
    public void build(Course course) {
        channels = new ArrayList<>(course.actors);
        for (int position = 0; position < course.actors; position++) {
            channels.add(new MemoryChannel<>());
        }
        for (int position = 0; position < course.actors; position++) {
            Station station = course.station(position);
            Channel<Parcel> next = channels.get((position + 1) % course.actors);
            Fiber fiber = factory.create();
            channels.get(position).subscribe(fiber, parcel -> {
                if (station.handle(parcel)) {
                    next.publish(parcel);
                }
            });
            fiber.start();
            fibers.add(fiber);
        }
    }

    @Override
    public void send(int position, Parcel parcel) {
        channels.get(position).publish(parcel);
    }

    @Override
    public void clear() {
        fibers.forEach(Fiber::dispose);
        fibers.clear();
        channels = new ArrayList<>();
    }

    @Override
    public void close() {
        factory.dispose();
        pool.shutdown();
    }
}

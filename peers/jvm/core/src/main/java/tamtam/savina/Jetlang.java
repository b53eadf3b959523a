package tamtam.savina;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jetlang.channels.Channel;
import org.jetlang.channels.MemoryChannel;
import org.jetlang.fibers.Fiber;
import org.jetlang.fibers.PoolFiberFactory;

/** Jetlang: an actor is a fiber on a fixed pool that is subscribed to a channel. */
final class Jetlang<M> extends Company<M, Jetlang.Player<M>> {
    private final ExecutorService pool;
    private final PoolFiberFactory factory;

    Jetlang(int threads) {
        pool = Executors.newFixedThreadPool(threads);
        factory = new PoolFiberFactory(pool);
    }

    static final class Player<M> {
        private final Channel<M> channel = new MemoryChannel<>();
        private final Fiber fiber;

        private Player(Fiber fiber) {
            this.fiber = fiber;
        }
    }

    @Override
    protected Player<M> player(Part<M> part, Cast cast) {
        Player<M> player = new Player<>(factory.create());
        player.channel.subscribe(player.fiber, message -> part.handle(message, cast));
        player.fiber.start();
        return player;
    }

    @Override
    protected void send(Player<M> player, M message) {
        player.channel.publish(message);
    }

    @Override
    protected void end(Cast cast) throws InterruptedException {
        // A fiber that is disposed of drops what it has got.
        cast.players.forEach(player -> player.fiber.execute(cast.ended::countDown));
        cast.ended.await();
        cast.players.forEach(player -> player.fiber.dispose());
    }

    @Override
    public void close() {
        factory.dispose();
        pool.shutdown();
    }
}

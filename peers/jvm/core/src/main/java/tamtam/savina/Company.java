package tamtam.savina;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** A stage whose actors lie in a list: the same for all systems but for what an actor, of type {@code P}, is there. */
abstract class Company<M, P> implements Stage<M> {
    private Cast cast = new Cast(0);

    /** The actors of a round. Complete before anything is sent, and so before an actor reads it. */
    final class Cast implements Others<M> {
        final List<P> players;
        /** For those that say themselves that they have ended. */
        final CountDownLatch ended;

        private Cast(int actors) {
            players = new ArrayList<>(actors);
            ended = new CountDownLatch(actors);
        }

        @Override
        public void tell(int position, M message) {
            send(players.get(position), message);
        }
    }

    /** Makes an actor for {@code part}, which knows the others by {@code cast}. */
    protected abstract P player(Part<M> part, Cast cast);

    /** Sends {@code message} to an actor. */
    protected abstract void send(P player, M message);

    /** Ends the actors of a round, each behind what it has got. */
    protected abstract void end(Cast cast) throws InterruptedException;

    @Override
    public final void build(List<Part<M>> parts) {
        Cast all = new Cast(parts.size());
        for (Part<M> part : parts) {
            all.players.add(player(part, all));
        }
        cast = all;
    }

    @Override
    public final void tell(int position, M message) {
        cast.tell(position, message);
    }

    @Override
    public final void clear() throws InterruptedException {
        end(cast);
        cast = new Cast(0);
    }
}

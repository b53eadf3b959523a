package tamtam.savina;

import java.util.ArrayList;
import java.util.List;

/** A token goes round 100 actors, for 100,000 hops. An operation is a hop; the token says which one it is, counted from 0. */
final class ThreadRing implements Classic<Integer> {
    static final ThreadRing PAPERS = new ThreadRing(100, 100_000);

    private final int actors;
    private final int hops;

    ThreadRing(int actors, int hops) {
        this.actors = actors;
        this.hops = hops;
    }

    private final class Node implements Part<Integer> {
        private final Tally tally;
        private final int next;
        /** Which hop is due here. */
        private int due;

        Node(Tally tally, int position) {
            this.tally = tally;
            next = (position + 1) % actors;
            due = position;
        }

        @Override
        public void handle(Integer hop, Others<Integer> others) {
            if (hop != due) {
                tally.fault("hop " + hop + " came where " + due + " was due");
            }
            due += actors;
            int made = hop + 1;
            if (made == hops) {
                tally.done(made);
            } else {
                others.tell(next, made);
            }
        }
    }

    @Override
    public String experiment() {
        return "threadring";
    }

    @Override
    public int operations() {
        return hops;
    }

    @Override
    public int reporters() {
        return 1;
    }

    @Override
    public List<Part<Integer>> parts(Tally tally) {
        List<Part<Integer>> parts = new ArrayList<>(actors);
        for (int position = 0; position < actors; position++) {
            parts.add(new Node(tally, position));
        }
        return parts;
    }

    @Override
    public void start(Others<Integer> others) {
        others.tell(0, 0);
    }
}

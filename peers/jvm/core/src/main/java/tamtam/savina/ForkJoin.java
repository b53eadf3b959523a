package tamtam.savina;

import java.util.ArrayList;
import java.util.List;

/**
 * A thread sends 10,000 messages to each of 60 actors, one to each in turn. An operation is a message sent and handled. The
 * paper calls it fork-join (throughput).
 */
final class ForkJoin implements Classic<Integer> {
    static final ForkJoin PAPERS = new ForkJoin(60, 10_000);

    private final int actors;
    private final int messages;

    ForkJoin(int actors, int messages) {
        this.actors = actors;
        this.messages = messages;
    }

    private final class Worker implements Part<Integer> {
        private final Tally tally;
        private int handled;

        Worker(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void handle(Integer number, Others<Integer> others) {
            if (number != handled) {
                tally.fault(number + " came where " + handled + " was due");
            }
            handled++;
            if (handled == messages) {
                tally.done(handled);
            }
        }
    }

    @Override
    public String experiment() {
        return "fork-join";
    }

    @Override
    public int operations() {
        return actors * messages;
    }

    @Override
    public int reporters() {
        return actors;
    }

    @Override
    public List<Part<Integer>> parts(Tally tally) {
        List<Part<Integer>> parts = new ArrayList<>(actors);
        for (int position = 0; position < actors; position++) {
            parts.add(new Worker(tally));
        }
        return parts;
    }

    @Override
    public void start(Others<Integer> others) {
        for (int number = 0; number < messages; number++) {
            for (int position = 0; position < actors; position++) {
                others.tell(position, number);
            }
        }
    }
}

package tamtam.savina;

import java.util.List;
import tamtam.Rounds;

/** One of the classics, again and again. */
public final class ClassicRounds<M> implements Rounds {
    private final Classic<M> classic;
    private final Stage<M> stage;
    private final long patience;

    ClassicRounds(Classic<M> classic, Stage<M> stage, long patienceMilliseconds) {
        this.classic = classic;
        this.stage = stage;
        patience = patienceMilliseconds;
    }

    /** Those by the contender whose class is named {@code type}, in rounds of about {@code limit} milliseconds in all. */
    public static <M> ClassicRounds<M> open(Classic<M> classic, String type, int threads, long limit)
            throws ReflectiveOperationException {
        // Less than the lab's own patience, so that the reason is told.
        return new ClassicRounds<>(classic, Stage.open(type, threads), 5 * limit + 15_000);
    }

    @Override
    public long count() {
        return classic.operations();
    }

    @Override
    public Round next() throws InterruptedException {
        Tally tally = new Tally(classic.reporters());
        long start = System.nanoTime();
        List<Part<M>> parts = classic.parts(tally);
        stage.build(parts);
        long build = System.nanoTime() - start;
        classic.start(stage);
        tally.await(patience);
        long whole = System.nanoTime() - start;
        stage.clear();
        tally.verify(classic.operations());
        return new Round(build, whole);
    }

    @Override
    public void close() {
        stage.close();
    }
}

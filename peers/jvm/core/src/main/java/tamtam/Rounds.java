package tamtam;

/** An experiment that can be made again and again, on threads that stay. */
public interface Rounds extends AutoCloseable {
    /** How many operations a round is. */
    long count();

    /**
     * Builds the actors, sends, waits, ends them, and looks whether all is as it should be.
     *
     * @throws Unverified if it is not
     */
    Round next() throws InterruptedException;

    /** Ends the threads. */
    @Override
    void close();

    /** The nanoseconds of a round: until the actors were there, and until the last message was handled. */
    final class Round {
        final long build;
        final long whole;

        public Round(long build, long whole) {
            this.build = build;
            this.whole = whole;
        }
    }
}

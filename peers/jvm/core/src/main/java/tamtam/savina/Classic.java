package tamtam.savina;

import java.util.List;

/**
 * One of the classics of the Savina suite: Shams Imam and Vivek Sarkar, "Savina: an actor benchmark suite" (2014). What they
 * do, with which parameters, and how it is verified, is what the Rust programs do (crates/tamtam-lab/src/experiments/savina).
 */
public interface Classic<M> {
    /** All of them. */
    List<Classic<?>> ALL =
            List.of(Counting.PAPERS, ForkJoin.PAPERS, ThreadRing.PAPERS, Big.PAPERS, Chameneos.PAPERS);

    static Classic<?> named(String experiment) {
        for (Classic<?> classic : ALL) {
            if (classic.experiment().equals(experiment)) {
                return classic;
            }
        }
        throw new IllegalArgumentException("no such experiment: " + experiment);
    }

    /** The experiment's name. */
    String experiment();

    /** How many operations a round is. */
    int operations();

    /** How many actors say at the tally that they are done. */
    int reporters();

    /** What each of its actors does. */
    List<Part<M>> parts(Tally tally);

    /** Sends what starts it. */
    void start(Others<M> actors);

    default List<String> variants() {
        return List.of(operations() + "/2cores", operations() + "/1core");
    }
}

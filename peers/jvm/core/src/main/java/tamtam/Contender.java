package tamtam;

import java.util.ArrayList;
import java.util.List;

/** The systems that are measured. `run` knows whose libraries each needs by the beginning of its name. */
enum Contender {
    JETLANG("jetlang", "Jetlang", "jetlang", "fibers on a fixed pool, and channels apart from them"),
    EXECUTING_CHANNEL(
            "executing-channel",
            "ExecutingChannels$OnFixedPool",
            null,
            "a stand-in for Groovy++'s: one object is queue and runnable; a fixed pool runs it"),
    EXECUTING_CHANNEL_FORK_JOIN(
            "executing-channel-forkjoin", "ExecutingChannels$OnForkJoinPool", null, "the same on a fork-join pool"),
    GPARS("gpars", "Gpars", "gpars", "actors with one handler (StaticDispatchActor) on a pool"),
    DISRUPTOR("disruptor", "OneDisruptor", "disruptor", "one ring buffer, one thread for all actors"),
    PEKKO("pekko", "Pekko", "pekko", "classic actors on a fork-join dispatcher"),
    SCALA_LOOP("scala-actors-loop", "ScalaActors$Loop", "scala-actors", "loop { react }, the article's first program"),
    SCALA_REACT("scala-actors-react", "ScalaActors$React", "scala-actors", "a react that calls itself, the second"),
    SCALA_REACTOR(
            "scala-actors-reactor", "ScalaActors$OnForkJoinPool", "scala-actors", "Reactors on a fork-join pool, the third");

    final String title;
    final String about;
    /** The names of its classes: who makes a ring, and who plays the classics. */
    final String ring;
    final String stage;
    private final String library;

    Contender(String title, String type, String library, String about) {
        this.title = title;
        this.ring = "tamtam.ring." + type;
        this.stage = "tamtam.savina." + type;
        this.library = library;
        this.about = about;
    }

    static Contender named(String title) {
        for (Contender contender : values()) {
            if (contender.title.equals(title)) {
                return contender;
            }
        }
        throw new IllegalArgumentException("no such contender: " + title);
    }

    /** Its library's version; the JVM's where it is our own program. */
    String version() {
        return library == null ? Runtime.version().toString() : Versions.of(library);
    }

    List<String> ringVariants() {
        List<String> variants = new ArrayList<>(List.of("4875250/2cores/last", "4875250/2cores/all"));
        if (!isSlow()) {
            variants.add("1000000/2cores/token");
            // A million of Pekko's actors take ten seconds and 3.6 GB.
            if (this != PEKKO) {
                variants.add("4999990/2cores/million");
            }
            variants.addAll(List.of("4875250/1core/last", "4875250/1core/all", "1000000/1core/token"));
        }
        return variants;
    }

    /** Whether a ring takes it seconds, so that it runs the article's variants only. */
    private boolean isSlow() {
        return this == SCALA_LOOP || this == SCALA_REACT || this == SCALA_REACTOR;
    }

    /** The thread of a ring buffer would wait for itself when an actor of `counting` sends more than there is room for. */
    boolean playsClassics() {
        return this != DISRUPTOR;
    }
}

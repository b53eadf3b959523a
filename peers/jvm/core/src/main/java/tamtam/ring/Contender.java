package tamtam.ring;

import java.lang.reflect.InvocationTargetException;

/** The systems that are measured. `run` knows whose libraries each needs by the beginning of its name. */
enum Contender {
    JETLANG("jetlang", "tamtam.ring.Jetlang", "jetlang", "fibers on a fixed pool, and channels apart from them"),
    EXECUTING_CHANNEL(
            "executing-channel",
            "tamtam.ring.ExecutingChannels$OnFixedPool",
            null,
            "a stand-in for Groovy++'s: one object is queue and runnable; a fixed pool runs it"),
    EXECUTING_CHANNEL_FORK_JOIN(
            "executing-channel-forkjoin",
            "tamtam.ring.ExecutingChannels$OnForkJoinPool",
            null,
            "the same on a fork-join pool"),
    GPARS("gpars", "tamtam.ring.Gpars", "gpars", "actors with one handler (StaticDispatchActor) on a pool"),
    DISRUPTOR("disruptor", "tamtam.ring.OneDisruptor", "disruptor", "one ring buffer, one thread for all actors"),
    PEKKO("pekko", "tamtam.ring.Pekko", "pekko", "classic actors on a fork-join dispatcher"),
    SCALA_LOOP("scala-actors-loop", "tamtam.ring.ScalaActors$Loop", "scala-actors", "loop { react }, the article's first program"),
    SCALA_REACT("scala-actors-react", "tamtam.ring.ScalaActors$React", "scala-actors", "a react that calls itself, the second"),
    SCALA_REACTOR(
            "scala-actors-reactor",
            "tamtam.ring.ScalaActors$OnForkJoinPool",
            "scala-actors",
            "Reactors on a fork-join pool, the third");

    final String title;
    final String about;
    private final String type;
    private final String library;

    Contender(String title, String type, String library, String about) {
        this.title = title;
        this.type = type;
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

    /** Whether a ring takes it seconds, so that it runs the article's variants only. */
    boolean isSlow() {
        return this == SCALA_LOOP || this == SCALA_REACT || this == SCALA_REACTOR;
    }

    Ring open(int threads) throws ReflectiveOperationException {
        try {
            return (Ring) Class.forName(type).getDeclaredConstructor(int.class).newInstance(threads);
        } catch (InvocationTargetException error) {
            throw new IllegalStateException(error.getCause());
        }
    }
}

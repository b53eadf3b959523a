package tamtam;

import com.typesafe.config.Config;
import com.typesafe.config.ConfigFactory;

/** How a system of Pekko's actors is set. */
public final class PekkoSettings {
    /** The dispatcher that its actors run on. */
    public static final String DISPATCHER = "measured";

    private PekkoSettings() {}

    /** With so many threads for actors. */
    public static Config of(int threads) {
        // Nothing but the result goes to the standard output.
        String settings = "pekko { loglevel = OFF, stdout-loglevel = OFF, log-dead-letters = off }\n" + DISPATCHER
                + " { type = Dispatcher, executor = fork-join-executor, fork-join-executor { parallelism-min = " + threads
                + ", parallelism-max = " + threads + ", parallelism-factor = 1.0 } }";
        return ConfigFactory.parseString(settings).withFallback(ConfigFactory.load());
    }
}

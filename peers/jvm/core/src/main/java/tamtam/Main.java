package tamtam;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;
import tamtam.ring.RingRounds;
import tamtam.savina.Classic;
import tamtam.savina.ClassicRounds;

/**
 * The peers of the JVM in Tamtam's lab: {@code contender list} and {@code contender run EXPERIMENT CONTENDER VARIANT
 * --limit-ms N}. What is measured, and how it is verified, is what the Rust programs do (crates/tamtam-lab/src/experiments/ring,
 * crates/tamtam-lab/src/experiments/savina).
 */
public final class Main {
    private static final String RING = "ring";

    private Main() {}

    public static void main(String[] words) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try {
            if (words.length == 2 && words[1].equals("list")) {
                for (Contender contender : Contender.values()) {
                    list(contender, out);
                }
            } else if (words.length == 7 && words[1].equals("run") && words[5].equals("--limit-ms")) {
                out.println(run(words[2], Contender.named(words[3]), words[4], milliseconds(words[6])));
            } else {
                fail(2, "usage: contender list\n       contender run EXPERIMENT CONTENDER VARIANT --limit-ms N");
            }
        } catch (Unverified error) {
            fail(1, words[2] + " " + words[3] + " " + words[4] + ": delivery not verified: " + error.getMessage());
        } catch (IllegalArgumentException error) {
            fail(2, error.getMessage());
        } catch (Exception error) {
            error.printStackTrace();
            fail(1, String.join(" ", words) + " failed: " + error);
        }
        // Whatever threads a system keeps.
        System.exit(0);
    }

    private static void fail(int code, String reason) {
        System.err.println(reason);
        System.exit(code);
    }

    private static long milliseconds(String word) {
        if (!word.matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException("--limit-ms: not a number of milliseconds: " + word);
        }
        return Long.parseLong(word);
    }

    private static void list(Contender contender, PrintStream out) {
        out.println(listing(contender, RING, contender.ringVariants()));
        if (contender.playsClassics()) {
            for (Classic<?> classic : Classic.ALL) {
                out.println(listing(contender, classic.experiment(), classic.variants()));
            }
        }
    }

    private static String listing(Contender contender, String experiment, List<String> variants) {
        String names = variants.stream().map(Main::quoted).collect(Collectors.joining(","));
        return "{\"contender\":" + quoted(contender.title) + ",\"version\":" + quoted(contender.version())
                + ",\"ours\":false,\"experiment\":" + quoted(experiment) + ",\"variants\":[" + names + "],\"about\":"
                + quoted(contender.about) + "}";
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    private static String run(String experiment, Contender contender, String variant, long limit) throws Exception {
        try (Rounds rounds = open(experiment, contender, variant, limit)) {
            Measurement measurement = new Measurement(rounds, limit);
            return "{\"experiment\":" + quoted(experiment) + ",\"variant\":" + quoted(variant) + ",\"contender\":"
                    + quoted(contender.title) + ",\"version\":" + quoted(contender.version())
                    + ",\"ours\":false,\"verified\":true,\"operations\":" + measurement.operations() + ",\"elapsed_ns\":"
                    + measurement.elapsed() + ",\"metrics\":[" + measurement.metrics() + "],\"note\":null}";
        }
    }

    private static Rounds open(String experiment, Contender contender, String variant, long limit)
            throws ReflectiveOperationException {
        // As many as the processors that this process may use.
        int threads = Runtime.getRuntime().availableProcessors();
        if (experiment.equals(RING)) {
            return new RingRounds(contender.ring, threads, variant);
        }
        Classic<?> classic = Classic.named(experiment);
        if (!contender.playsClassics()) {
            throw new IllegalArgumentException(contender.title + " does not play " + experiment);
        }
        if (!classic.variants().contains(variant)) {
            throw new IllegalArgumentException("no such variant of " + experiment + ": " + variant);
        }
        return ClassicRounds.open(classic, contender.stage, threads, limit);
    }
}

package tamtam.ring;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * The peers of the JVM in Tamtam's lab: {@code contender list} and {@code contender run ring CONTENDER VARIANT --limit-ms N}.
 * What is measured, and how it is verified, is what the Rust programs do (crates/tamtam-cli/src/drive/ring).
 */
public final class Main {
    /** So many rounds are made, unless they take much longer than they should: the compiler needs some. */
    private static final int ROUNDS = 8;
    /** So many are made however long they take. */
    private static final int LEAST_ROUNDS = 2;

    private Main() {}

    public static void main(String[] words) {
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        try {
            if (words.length == 2 && words[1].equals("list")) {
                for (Contender contender : Contender.values()) {
                    out.println(listing(contender));
                }
            } else if (words.length == 7 && words[1].equals("run") && words[2].equals("ring") && words[5].equals("--limit-ms")) {
                out.println(run(Contender.named(words[3]), words[4], Long.parseLong(words[6])));
            } else {
                fail(2, "usage: contender list\n       contender run ring CONTENDER VARIANT --limit-ms N");
            }
        } catch (Unverified error) {
            fail(1, "ring " + words[3] + " " + words[4] + ": delivery not verified: " + error.getMessage());
        } catch (IllegalArgumentException error) {
            fail(2, error.getMessage());
        } catch (Exception error) {
            error.printStackTrace();
            fail(1, "ring " + String.join(" ", words) + " failed: " + error);
        }
        // Whatever threads a system keeps.
        System.exit(0);
    }

    private static void fail(int code, String reason) {
        System.err.println(reason);
        System.exit(code);
    }

    /** Why a round has no figure. */
    private static final class Unverified extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Unverified(String reason) {
            super(reason);
        }
    }

    private static String listing(Contender contender) {
        List<String> variants = new ArrayList<>();
        variants.add(quoted("4875250/2cores/last"));
        variants.add(quoted("4875250/2cores/all"));
        if (!contender.isSlow()) {
            variants.add(quoted("1000000/2cores/token"));
            // A million of Pekko's actors take ten seconds and 3.6 GB.
            if (contender != Contender.PEKKO) {
                variants.add(quoted("4999990/2cores/million"));
            }
            variants.add(quoted("4875250/1core/last"));
            variants.add(quoted("4875250/1core/all"));
            variants.add(quoted("1000000/1core/token"));
        }
        return "{\"contender\":" + quoted(contender.title) + ",\"version\":" + quoted(contender.version())
                + ",\"ours\":false,\"experiment\":\"ring\",\"variants\":[" + String.join(",", variants) + "],\"about\":"
                + quoted(contender.about) + "}";
    }

    private static String quoted(String text) {
        return '"' + text + '"';
    }

    /** The nanoseconds of a round. */
    private static final class Round {
        final long build;
        final long whole;

        Round(long build, long whole) {
            this.build = build;
            this.whole = whole;
        }
    }

    private static String run(Contender contender, String variant, long limit) throws Exception {
        List<Round> rounds = new ArrayList<>();
        Round first;
        long count = Course.of(variant).count();
        long cpu;
        // As many as the processors that this process may use.
        try (Ring ring = contender.open(Runtime.getRuntime().availableProcessors())) {
            long start = System.nanoTime();
            first = round(ring, variant);
            long before = cpuTime();
            while (true) {
                long spent = (System.nanoTime() - start) / 1_000_000;
                int made = rounds.size() + 1;
                if (made >= LEAST_ROUNDS && spent >= limit && (made >= ROUNDS || spent >= 5 * limit)) {
                    break;
                }
                rounds.add(round(ring, variant));
            }
            cpu = cpuTime() - before;
        }
        List<Round> steady = rounds.subList(rounds.size() / 2, rounds.size());
        double total = median(steady.stream().mapToLong(round -> round.whole).sorted().toArray());
        double build = median(steady.stream().mapToLong(round -> round.build).sorted().toArray());
        long best = rounds.stream().mapToLong(round -> round.whole).min().getAsLong();
        long elapsed = rounds.stream().mapToLong(round -> round.whole).sum();
        long operations = count * rounds.size();
        String metrics = String.join(
                ",",
                metric("ns_per_op", "ns", total / count),
                metric("total_us", "µs", total / 1e3),
                metric("first_us", "µs", first.whole / 1e3),
                metric("best_us", "µs", best / 1e3),
                metric("build_us", "µs", build / 1e3),
                metric("cpu_ns_per_op", "ns", (double) cpu / operations),
                metric("peak_rss_kib", "KiB", peak()));
        return "{\"experiment\":\"ring\",\"variant\":" + quoted(variant) + ",\"contender\":" + quoted(contender.title)
                + ",\"version\":" + quoted(contender.version()) + ",\"ours\":false,\"verified\":true,\"operations\":" + operations
                + ",\"elapsed_ns\":" + elapsed + ",\"metrics\":[" + metrics + "],\"note\":null}";
    }

    /** Builds the actors, sends, waits, and looks whether all is as it should be. */
    private static Round round(Ring ring, String variant) throws InterruptedException {
        Course course = Course.of(variant);
        long start = System.nanoTime();
        ring.build(course);
        long build = System.nanoTime() - start;
        for (int number = 0; number < course.messages; number++) {
            ring.send(number, new Parcel(number));
        }
        course.latch.await();
        long whole = System.nanoTime() - start;
        ring.clear();
        String objection = course.objection();
        if (objection != null) {
            throw new Unverified(objection);
        }
        return new Round(build, whole);
    }

    private static double median(long[] sorted) {
        int middle = sorted.length / 2;
        return sorted.length % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2.0;
    }

    private static String metric(String name, String unit, double value) {
        return String.format(Locale.ROOT, "{\"metric\":\"%s\",\"unit\":\"%s\",\"value\":%.3f}", name, unit, value);
    }

    private static long cpuTime() {
        return ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }

    /** The largest memory so far, in KiB. */
    private static double peak() throws IOException {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmHWM:")) {
                return Double.parseDouble(line.replaceAll("[^0-9]", ""));
            }
        }
        throw new IOException("/proc/self/status has no VmHWM");
    }
}

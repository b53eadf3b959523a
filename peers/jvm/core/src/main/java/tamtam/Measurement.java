package tamtam;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToLongFunction;

/** What came of the rounds that one process made. */
final class Measurement {
    /** So many rounds are made, unless they take much longer than they should: the compiler needs some. */
    private static final int ROUNDS = 8;
    /** So many are made however long they take. */
    private static final int LEAST_ROUNDS = 2;

    private final long count;
    private final Rounds.Round first;
    /** All but the first. */
    private final List<Rounds.Round> others = new ArrayList<>();
    /** The processor's nanoseconds of those. */
    private final long cpu;

    /** Makes rounds for about {@code limit} milliseconds. */
    Measurement(Rounds rounds, long limit) throws InterruptedException {
        count = rounds.count();
        long start = System.nanoTime();
        first = rounds.next();
        long before = cpuTime();
        while (true) {
            long spent = (System.nanoTime() - start) / 1_000_000;
            int made = others.size() + 1;
            if (made >= LEAST_ROUNDS && spent >= limit && (made >= ROUNDS || spent >= 5 * limit)) {
                break;
            }
            others.add(rounds.next());
        }
        cpu = cpuTime() - before;
    }

    /** In all rounds but the first. */
    long operations() {
        return count * others.size();
    }

    /** The nanoseconds of all rounds but the first. */
    long elapsed() {
        return others.stream().mapToLong(round -> round.whole).sum();
    }

    /** The figures, as JSON objects with commas between them. The steady state is the later half of the rounds. */
    String metrics() throws IOException {
        double total = steady(round -> round.whole);
        long best = others.stream().mapToLong(round -> round.whole).min().getAsLong();
        return String.join(
                ",",
                metric("ns_per_op", "ns", total / count),
                metric("total_us", "µs", total / 1e3),
                metric("first_us", "µs", first.whole / 1e3),
                metric("best_us", "µs", best / 1e3),
                metric("build_us", "µs", steady(round -> round.build) / 1e3),
                metric("cpu_ns_per_op", "ns", (double) cpu / operations()),
                metric("peak_rss_kib", "KiB", peak()));
    }

    private double steady(ToLongFunction<Rounds.Round> time) {
        List<Rounds.Round> later = others.subList(others.size() / 2, others.size());
        long[] sorted = later.stream().mapToLong(time).sorted().toArray();
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

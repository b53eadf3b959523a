package tamtam.savina;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tamtam.Rounds;
import tamtam.Unverified;

class ClassicTest {
    /** What befalls one message. */
    private enum Fault {
        NONE,
        LOSE,
        DOUBLE,
        /** It goes to the next actor. */
        MISROUTE
    }

    /** Runs its actors in the calling thread as soon as something is sent from outside of them, with one fault in all. */
    private static final class Simple<M> implements Stage<M> {
        private final Fault fault;
        /** Which message it befalls, counted from 0. */
        private final int at;
        private final Queue<Runnable> mail = new ArrayDeque<>();
        private List<Part<M>> parts = List.of();
        private boolean running;
        private int sent;

        Simple(Fault fault, int at) {
            this.fault = fault;
            this.at = at;
        }

        @Override
        public void build(List<Part<M>> parts) {
            this.parts = parts;
        }

        @Override
        public void tell(int position, M message) {
            boolean struck = fault != Fault.NONE && sent == at;
            sent++;
            if (struck && fault == Fault.LOSE) {
                return;
            }
            Part<M> part = parts.get(struck && fault == Fault.MISROUTE ? (position + 1) % parts.size() : position);
            mail.add(() -> part.handle(message, this));
            if (struck && fault == Fault.DOUBLE) {
                mail.add(() -> part.handle(message, this));
            }
            if (!running) {
                running = true;
                for (Runnable next = mail.poll(); next != null; next = mail.poll()) {
                    next.run();
                }
                running = false;
            }
        }

        @Override
        public void clear() {
            parts = List.of();
        }

        @Override
        public void close() {}
    }

    private static List<Classic<?>> small() {
        return List.of(
                new Counting(20), new ForkJoin(4, 5), new ThreadRing(4, 21), new Big(4, 5), new Chameneos(5, 11));
    }

    @ParameterizedTest
    @MethodSource("small")
    <M> void everyFaultIsNoticed(Classic<M> classic) throws InterruptedException {
        Simple<M> well = new Simple<>(Fault.NONE, 0);
        new ClassicRounds<>(classic, well, 0).next();
        assertTrue(well.sent >= classic.operations());
        for (int at = 0; at < well.sent; at++) {
            for (Fault fault : List.of(Fault.LOSE, Fault.DOUBLE, Fault.MISROUTE)) {
                Rounds rounds = new ClassicRounds<>(classic, new Simple<>(fault, at), 0);
                assertThrows(Unverified.class, rounds::next, fault + " " + at + " of " + classic.experiment());
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"Jetlang", "Gpars", "ExecutingChannels$OnFixedPool", "ExecutingChannels$OnForkJoinPool"})
    void everyoneDelivers(String type) throws Exception {
        for (Classic<?> classic : small()) {
            try (Rounds rounds = ClassicRounds.open(classic, "tamtam.savina." + type, 2, 0)) {
                rounds.next();
                rounds.next();
            }
        }
    }

    @Test
    void variantsAreThoseOfTheOtherPrograms() {
        assertEquals(List.of("1000000/2cores", "1000000/1core"), Classic.named("counting").variants());
        assertEquals(List.of("600000/2cores", "600000/1core"), Classic.named("fork-join").variants());
        assertEquals(List.of("100000/2cores", "100000/1core"), Classic.named("threadring").variants());
        assertEquals(List.of("240000/2cores", "240000/1core"), Classic.named("big").variants());
        assertEquals(List.of("200000/2cores", "200000/1core"), Classic.named("chameneos").variants());
    }
}

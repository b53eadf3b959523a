package tamtam.ring;

import tamtam.Rounds;
import tamtam.Unverified;

/** A ring of actors, again and again. */
public final class RingRounds implements Rounds {
    private final Ring ring;
    private final String variant;
    private final long count;

    /** Those of {@code variant}, COUNT/PLACEMENT/EXTRA, by the contender whose class is named {@code type}. */
    public RingRounds(String type, int threads, String variant) throws ReflectiveOperationException {
        this.variant = variant;
        count = Course.of(variant).count();
        ring = Ring.open(type, threads);
    }

    @Override
    public long count() {
        return count;
    }

    @Override
    public Round next() throws InterruptedException {
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

    @Override
    public void close() {
        ring.close();
    }
}

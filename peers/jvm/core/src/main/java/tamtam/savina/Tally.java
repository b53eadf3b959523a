package tamtam.savina;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import tamtam.Unverified;

/** What the actors of a round say when they are done, each once. */
final class Tally {
    /** Counted down by each. */
    private final CountDownLatch latch;
    private final AtomicLong operations = new AtomicLong();
    /** What was wrong first. */
    private final AtomicReference<String> fault = new AtomicReference<>();

    Tally(int reporters) {
        latch = new CountDownLatch(reporters);
    }

    /** An actor is done, and has seen so many operations. */
    void done(long seen) {
        operations.addAndGet(seen);
        latch.countDown();
    }

    /** Something came that was not due. The round goes on if it can. */
    void fault(String what) {
        fault.compareAndSet(null, what);
    }

    /** Waits until all are done. */
    void await(long patienceMilliseconds) throws InterruptedException {
        if (!latch.await(patienceMilliseconds, TimeUnit.MILLISECONDS)) {
            objectToFault();
            throw new Unverified(latch.getCount() + " actors were not done after " + patienceMilliseconds + " ms");
        }
    }

    /** Looks whether as many operations were done as were due, and nothing came out of turn. */
    void verify(long due) {
        objectToFault();
        if (operations.get() != due) {
            throw new Unverified(operations.get() + " operations were done where " + due + " were due");
        }
    }

    private void objectToFault() {
        String what = fault.get();
        if (what != null) {
            throw new Unverified(what);
        }
    }
}

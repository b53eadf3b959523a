package tamtam;

import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A stand-in for Groovy++'s ExecutingChannel, written from its description: one object is queue and runnable at once. A
 * post to an idle one submits it to the executor; a run takes the whole batch.
 */
public abstract class ExecutingChannel<M> implements Runnable {
    /** Behind the last message of a batch that came while a run was at work. */
    private static final Node<?> BUSY = new Node<>(null);

    private final Executor executor;
    /** The newest message first; null when idle, BUSY when at work without mail. */
    private final AtomicReference<Node<M>> mail = new AtomicReference<>();

    protected ExecutingChannel(Executor executor) {
        this.executor = executor;
    }

    private static final class Node<M> {
        final M message;
        Node<M> older;

        Node(M message) {
            this.message = message;
        }
    }

    /** Handles one message. */
    protected abstract void onMessage(M message);

    public final void post(M message) {
        Node<M> node = new Node<>(message);
        Node<M> before;
        do {
            before = mail.get();
            node.older = before;
        } while (!mail.compareAndSet(before, node));
        if (before == null) {
            executor.execute(this);
        }
    }

    @Override
    @SuppressWarnings("unchecked")
    public final void run() {
        Node<M> busy = (Node<M>) BUSY;
        Node<M> newest = mail.getAndSet(busy);
        // Turned round, so that the oldest comes first.
        Node<M> oldest = null;
        while (newest != null && newest != busy) {
            Node<M> older = newest.older;
            newest.older = oldest;
            oldest = newest;
            newest = older;
        }
        for (Node<M> node = oldest; node != null; node = node.older) {
            onMessage(node.message);
        }
        if (!mail.compareAndSet(busy, null)) {
            executor.execute(this);
        }
    }
}

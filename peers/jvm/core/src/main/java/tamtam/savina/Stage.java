package tamtam.savina;

import java.lang.reflect.InvocationTargetException;
import java.util.List;

/** A way of running actors that know each other by their positions. Its constructor, with the number of threads, starts those. */
public interface Stage<M> extends Others<M>, AutoCloseable {
    /** One of the class named {@code type}, whose libraries may not be those of this module. */
    @SuppressWarnings("unchecked")
    static <M> Stage<M> open(String type, int threads) throws ReflectiveOperationException {
        try {
            return (Stage<M>) Class.forName(type).getDeclaredConstructor(int.class).newInstance(threads);
        } catch (InvocationTargetException error) {
            throw new IllegalStateException(error.getCause());
        }
    }

    /**
     * Makes an actor for each of {@code parts}, in the order of their positions. Each hands its part every message, with
     * the others of its round.
     */
    void build(List<Part<M>> parts);

    /** Ends the actors, when each has handled what it has got. The threads stay. */
    void clear() throws InterruptedException;

    /** Ends the threads. */
    @Override
    void close();
}

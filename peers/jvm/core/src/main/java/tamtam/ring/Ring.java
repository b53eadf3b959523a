package tamtam.ring;

import java.lang.reflect.InvocationTargetException;

/** A way of running actors that can make a ring of them. Its constructor, with the number of threads, starts those. */
public interface Ring extends AutoCloseable {
    /** One of the class named {@code type}, whose libraries may not be those of this module. */
    static Ring open(String type, int threads) throws ReflectiveOperationException {
        try {
            return (Ring) Class.forName(type).getDeclaredConstructor(int.class).newInstance(threads);
        } catch (InvocationTargetException error) {
            throw new IllegalStateException(error.getCause());
        }
    }

    /**
     * Makes the actors of a round. The one at position {@code p} hands each message to {@code course.station(p)}, and if that
     * says so sends it to the actor behind it; the last one's next is the first if the course is closed.
     */
    void build(Course course);

    /** Sends {@code parcel} to the actor at {@code position}. */
    void send(int position, Parcel parcel);

    /** Ends the actors of this round; the threads stay. */
    void clear();

    /** Ends the threads. */
    @Override
    void close();
}

package tamtam.ring;

/** What one actor of the ring does with a message: the state that a contender puts into each of its actors. */
public final class Station {
    private final Course course;
    private final boolean everyoneCounts;
    private final boolean notes;
    private final boolean ends;
    private final int round;
    private int due;

    Station(Course course, int position) {
        this.course = course;
        everyoneCounts = course.kind == Course.Kind.ALL;
        ends = position == course.lastPosition();
        notes = position == course.messages - 1 && course.kind != Course.Kind.TOKEN && !ends;
        round = course.kind == Course.Kind.TOKEN ? course.actors : 0;
        due = position;
    }

    /** Handles a message; says whether it is to be sent on to the next actor. */
    public boolean handle(Parcel parcel) {
        parcel.hop(due);
        due += round;
        if (notes) {
            course.middle.add(parcel.number);
        }
        // A token that went astray ends at once.
        boolean over = ends && (course.hops == 0 || parcel.hops() >= course.hops || parcel.hops() < 0);
        if (over) {
            course.end.add(parcel);
        }
        // Last, so that whoever waits for it sees the rest.
        if (everyoneCounts || over) {
            course.latch.countDown();
        }
        return !over;
    }
}

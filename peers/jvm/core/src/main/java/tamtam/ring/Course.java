package tamtam.ring;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** What goes round, who counts it, and what came of it: for one round. */
public final class Course {
    /** What counts. */
    enum Kind {
        LAST,
        ALL,
        TOKEN
    }

    public final int actors;
    final int messages;
    final Kind kind;
    final int hops;
    private final long count;

    /** The numbers of the parcels that passed the last actor at which one enters. */
    final List<Integer> middle = new ArrayList<>();
    /** The parcels that came to their end. */
    final List<Parcel> end = new ArrayList<>();
    final CountDownLatch latch;

    private Course(int actors, int messages, Kind kind, long count) {
        this.actors = actors;
        this.messages = messages;
        this.kind = kind;
        this.count = count;
        hops = kind == Kind.TOKEN ? Math.toIntExact(count) : 0;
        latch = new CountDownLatch(kind == Kind.ALL ? Math.toIntExact(count) : messages);
    }

    /** A new one for {@code variant}, COUNT/PLACEMENT/EXTRA. */
    static Course of(String variant) {
        String[] words = variant.split("/");
        if (words.length != 3 || !words[0].matches("[0-9]{1,9}")) {
            throw new IllegalArgumentException("no such variant: " + variant);
        }
        long count = Long.parseLong(words[0]);
        Course course;
        switch (words[2]) {
            case "last":
                course = new Course(10_000, 500, Kind.LAST, count);
                break;
            case "all":
                course = new Course(10_000, 500, Kind.ALL, count);
                break;
            case "token":
                course = new Course(10_000, 1, Kind.TOKEN, count);
                break;
            case "million":
                course = new Course(1_000_000, 5, Kind.LAST, count);
                break;
            default:
                throw new IllegalArgumentException("no such variant: " + variant);
        }
        long handled = (long) course.actors * course.messages - (long) course.messages * (course.messages - 1) / 2;
        if (course.kind != Kind.TOKEN && handled != count) {
            throw new IllegalArgumentException(handled + " messages are handled, not " + count);
        }
        return course;
    }

    /** How many messages are handled. */
    long count() {
        return count;
    }

    /** Whether the last actor sends to the first. */
    public boolean isClosed() {
        return kind == Kind.TOKEN;
    }

    /** What the actor at {@code position} does with its messages. */
    public Station station(int position) {
        return new Station(this, position);
    }

    int lastPosition() {
        return kind == Kind.TOKEN ? (hops - 1) % actors : actors - 1;
    }

    /** Says what is not as it was sent; null if all is. */
    String objection() {
        if (end.size() != messages) {
            return end.size() + " messages came to the last actor where " + messages + " were due";
        }
        BitSet came = new BitSet(messages);
        long handled = 0;
        for (int place = 0; place < messages; place++) {
            Parcel parcel = end.get(place);
            int due = kind == Kind.TOKEN ? hops : actors - parcel.number;
            if (parcel.hops() != due) {
                return "message " + parcel.number + " was handled " + parcel.hops() + " times where " + due + " were due";
            }
            if (came.get(parcel.number)) {
                return "message " + parcel.number + " came twice";
            }
            came.set(parcel.number);
            handled += parcel.hops();
            if (kind != Kind.TOKEN && middle.get(place) != parcel.number) {
                return "messages of one sender overtook each other";
            }
        }
        return handled == count ? null : handled + " messages were handled where " + count + " were due";
    }
}

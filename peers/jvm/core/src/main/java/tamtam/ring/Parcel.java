package tamtam.ring;

/** A message of the ring, which counts its own way. It belongs to the actor that has it, and is passed on as it is. */
public final class Parcel {
    /** The hops of one that came to the wrong actor. */
    private static final int ASTRAY = Integer.MIN_VALUE;

    final int number;
    private int hops;

    Parcel(int number) {
        this.number = number;
    }

    int hops() {
        return hops;
    }

    /** An actor at which parcels are due whose number and hops make {@code due} has handled it. */
    void hop(int due) {
        hops = number + hops == due ? hops + 1 : ASTRAY;
    }
}

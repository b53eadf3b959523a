package tamtam.savina;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;

/**
 * 100 creatures come to one mall, which makes pairs of them; the two change their colours and come again, until 200,000
 * pairs have met. An operation is a meeting: four messages. The game is Kaiser and Pradat-Peyre's ("Chameneos, a concurrency
 * game for Java, Ada and others", 2003).
 *
 * <p>The first visits of the creatures have the numbers of their positions, and the next of a creature has a number higher
 * by as many actors as there are.
 */
final class Chameneos implements Classic<Chameneos.Message> {
    static final Chameneos PAPERS = new Chameneos(100, 200_000);

    private static final int MALL = 0;

    private final int creatures;
    /** The mall included. */
    private final int actors;
    private final int meetings;

    Chameneos(int creatures, int meetings) {
        this.creatures = creatures;
        actors = creatures + 1;
        this.meetings = meetings;
    }

    enum Colour {
        BLUE,
        RED,
        YELLOW;

        private static final Colour[] ALL = values();

        /** The third colour, or the same if both are the same. */
        Colour met(Colour other) {
            return this == other ? this : ALL[3 - ordinal() - other.ordinal()];
        }
    }

    enum What {
        /** To a creature: go to the mall. */
        START,
        /** To the mall: here I am, on that visit, in that colour. */
        COME,
        /** To a creature, about that visit: somebody has come, too, whose visit and colour these are. */
        MEET,
        /** To the one who came second, about that visit: the colour that both have now. */
        CHANGE,
        /** To a creature, about that visit: the mall has closed. */
        CLOSED,
        /** To the mall, from the creature at that position: how often it has met somebody. */
        MET
    }

    static final class Message {
        private final What what;
        private final int visit;
        /** The other one's visit, or how often. */
        private final int other;
        private final Colour colour;

        private Message(What what, int visit, int other, Colour colour) {
            this.what = what;
            this.visit = visit;
            this.other = other;
            this.colour = colour;
        }

        @Override
        public String toString() {
            return what + " " + visit + " " + other + " " + colour;
        }
    }

    private final class Mall implements Part<Message> {
        private final Tally tally;
        private Message waiting;
        private int made;
        /** Who has said how often it met somebody, by the positions. */
        private final BitSet heard = new BitSet(actors);
        private long met;

        Mall(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void handle(Message message, Others<Message> others) {
            if (message.what == What.COME) {
                come(message, others);
            } else if (message.what == What.MET && !heard.get(message.visit)) {
                heard.set(message.visit);
                met += message.other;
                if (heard.cardinality() == creatures) {
                    if (met % 2 == 1) {
                        tally.fault("somebody met nobody");
                    }
                    tally.done(met / 2);
                }
            } else {
                tally.fault(message + " came to the mall");
            }
        }

        private void come(Message message, Others<Message> others) {
            if (made == meetings) {
                others.tell(message.visit % actors, new Message(What.CLOSED, message.visit, 0, null));
            } else if (waiting == null) {
                waiting = message;
            } else {
                made++;
                int visit = waiting.visit;
                waiting = null;
                others.tell(visit % actors, new Message(What.MEET, visit, message.visit, message.colour));
            }
        }
    }

    private final class Creature implements Part<Message> {
        private final Tally tally;
        private final int position;
        private Colour colour;
        /** The number of its visit; 0 before the first and after the last. */
        private int visit;
        private int met;
        private boolean gone;

        Creature(Tally tally, int position) {
            this.tally = tally;
            this.position = position;
            colour = Colour.ALL[position % 3];
        }

        @Override
        public void handle(Message message, Others<Message> others) {
            boolean due = visit != 0 && message.visit == visit;
            if (message.what == What.START && visit == 0 && !gone) {
                go(position, others);
            } else if (message.what == What.MEET && due) {
                change(colour.met(message.colour));
                others.tell(message.other % actors, new Message(What.CHANGE, message.other, 0, colour));
                go(visit + actors, others);
            } else if (message.what == What.CHANGE && due) {
                change(message.colour);
                go(visit + actors, others);
            } else if (message.what == What.CLOSED && due) {
                visit = 0;
                gone = true;
                others.tell(MALL, new Message(What.MET, position, met, null));
            } else {
                tally.fault(message + " came to creature " + position + " on its visit " + visit);
            }
        }

        private void change(Colour now) {
            colour = now;
            met++;
        }

        private void go(int number, Others<Message> others) {
            visit = number;
            others.tell(MALL, new Message(What.COME, visit, 0, colour));
        }
    }

    @Override
    public String experiment() {
        return "chameneos";
    }

    @Override
    public int operations() {
        return meetings;
    }

    @Override
    public int reporters() {
        return 1;
    }

    @Override
    public List<Part<Message>> parts(Tally tally) {
        List<Part<Message>> parts = new ArrayList<>(actors);
        parts.add(new Mall(tally));
        for (int position = 1; position <= creatures; position++) {
            parts.add(new Creature(tally, position));
        }
        return parts;
    }

    @Override
    public void start(Others<Message> others) {
        for (int position = 1; position <= creatures; position++) {
            others.tell(position, new Message(What.START, 0, 0, null));
        }
    }
}

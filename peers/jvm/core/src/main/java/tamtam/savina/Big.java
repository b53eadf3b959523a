package tamtam.savina;

import java.util.ArrayList;
import java.util.List;

/**
 * Each of 120 actors sends 2,000 pings, one after the other, to others chosen at random, and waits for each pong before it
 * sends the next. An operation is a ping with its pong. The paper lets each send 20,000.
 */
final class Big implements Classic<Big.Message> {
    static final Big PAPERS = new Big(120, 2000);

    private final int actors;
    private final int pings;

    Big(int actors, int pings) {
        this.actors = actors;
        this.pings = pings;
    }

    enum What {
        START,
        PING,
        PONG
    }

    static final class Message {
        private final What what;
        private final int from;
        private final int to;
        private final int number;

        private Message(What what, int from, int to, int number) {
            this.what = what;
            this.from = from;
            this.to = to;
            this.number = number;
        }

        @Override
        public String toString() {
            return what + " " + number + " from " + from + " to " + to;
        }
    }

    private final class Player implements Part<Message> {
        private final Tally tally;
        private final int position;
        /** How many of its pings were sent. */
        private int sent;
        private int answered;
        private int random;

        Player(Tally tally, int position) {
            this.tally = tally;
            this.position = position;
            // Any number but 0.
            random = 0x9E3779B9 ^ position;
        }

        @Override
        public void handle(Message message, Others<Message> others) {
            if (message.what == What.PING && message.to == position) {
                others.tell(message.from, new Message(What.PONG, position, message.from, message.number));
            } else if (message.what == What.PONG && message.to == position && message.number == answered) {
                answered++;
                pingNext(others);
            } else if (message.what == What.START && sent == 0) {
                pingNext(others);
            } else {
                tally.fault(message + " came to actor " + position + " where the answer to its ping " + answered + " was due");
            }
        }

        private void pingNext(Others<Message> others) {
            if (sent == pings) {
                tally.done(sent);
                return;
            }
            int to = anybodyElse();
            others.tell(to, new Message(What.PING, position, to, sent++));
        }

        /** Marsaglia's generator ("Xorshift RNGs", 2003): the same choices for everybody who is measured. */
        private int anybodyElse() {
            random ^= random << 13;
            random ^= random >>> 17;
            random ^= random << 5;
            int ahead = 1 + Integer.remainderUnsigned(random, actors - 1);
            return (position + ahead) % actors;
        }
    }

    @Override
    public String experiment() {
        return "big";
    }

    @Override
    public int operations() {
        return actors * pings;
    }

    @Override
    public int reporters() {
        return actors;
    }

    @Override
    public List<Part<Message>> parts(Tally tally) {
        List<Part<Message>> parts = new ArrayList<>(actors);
        for (int position = 0; position < actors; position++) {
            parts.add(new Player(tally, position));
        }
        return parts;
    }

    @Override
    public void start(Others<Message> others) {
        for (int position = 0; position < actors; position++) {
            others.tell(position, new Message(What.START, position, position, 0));
        }
    }
}

package tamtam.savina;

import java.util.List;

/** One actor sends another 1,000,000 numbers, then asks how many came. An operation is a number sent and counted. */
final class Counting implements Classic<Counting.Message> {
    static final Counting PAPERS = new Counting(1_000_000);

    private static final int PRODUCER = 0;
    private static final int COUNTER = 1;

    private final int numbers;

    Counting(int numbers) {
        this.numbers = numbers;
    }

    enum What {
        START,
        NUMBER,
        HOW_MANY,
        SO_MANY
    }

    static final class Message {
        private final What what;
        private final int number;

        private Message(What what, int number) {
            this.what = what;
            this.number = number;
        }

        @Override
        public String toString() {
            return what + " " + number;
        }
    }

    private final class Producer implements Part<Message> {
        private final Tally tally;

        Producer(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void handle(Message message, Others<Message> others) {
            switch (message.what) {
                case START:
                    for (int number = 0; number < numbers; number++) {
                        others.tell(COUNTER, new Message(What.NUMBER, number));
                    }
                    others.tell(COUNTER, new Message(What.HOW_MANY, 0));
                    break;
                case SO_MANY:
                    tally.done(message.number);
                    break;
                default:
                    tally.fault(message + " came to the producer");
            }
        }
    }

    private static final class Counter implements Part<Message> {
        private final Tally tally;
        private int counted;

        Counter(Tally tally) {
            this.tally = tally;
        }

        @Override
        public void handle(Message message, Others<Message> others) {
            switch (message.what) {
                case NUMBER:
                    if (message.number != counted) {
                        tally.fault(message.number + " came where " + counted + " was due");
                    }
                    counted++;
                    break;
                case HOW_MANY:
                    others.tell(PRODUCER, new Message(What.SO_MANY, counted));
                    break;
                default:
                    tally.fault(message + " came to the counter");
            }
        }
    }

    @Override
    public String experiment() {
        return "counting";
    }

    @Override
    public int operations() {
        return numbers;
    }

    @Override
    public int reporters() {
        return 1;
    }

    @Override
    public List<Part<Message>> parts(Tally tally) {
        return List.of(new Producer(tally), new Counter(tally));
    }

    @Override
    public void start(Others<Message> actors) {
        actors.tell(PRODUCER, new Message(What.START, 0));
    }
}

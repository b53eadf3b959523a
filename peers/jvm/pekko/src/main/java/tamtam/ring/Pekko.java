package tamtam.ring;

import java.util.concurrent.CountDownLatch;
import org.apache.pekko.actor.AbstractActor;
import org.apache.pekko.actor.ActorRef;
import org.apache.pekko.actor.ActorSystem;
import org.apache.pekko.actor.Props;
import tamtam.PekkoSettings;

/** Pekko: classic actors on a fork-join dispatcher. */
final class Pekko implements Ring {
    private final ActorSystem system;
    private ActorRef[] nodes = {};
    private CountDownLatch ended = new CountDownLatch(0);

    Pekko(int threads) {
        system = ActorSystem.create("ring", PekkoSettings.of(threads));
    }

    /** Whom the last actor of a closed ring sends to. */
    private static final class First {
        final ActorRef reference;

        First(ActorRef reference) {
            this.reference = reference;
        }
    }

    private static final class Node extends AbstractActor {
        private final Station station;
        private final CountDownLatch ended;
        private ActorRef next;

        Node(Station station, ActorRef next, CountDownLatch ended) {
            this.station = station;
            this.next = next;
            this.ended = ended;
        }

        @Override
        public Receive createReceive() {
            return receiveBuilder().match(Parcel.class, this::handle).match(First.class, first -> next = first.reference).build();
        }

        private void handle(Parcel parcel) {
            if (station.handle(parcel)) {
                next.tell(parcel, ActorRef.noSender());
            }
        }

        @Override
        public void postStop() {
            ended.countDown();
        }
    }

    @Override
    public void build(Course course) {
        nodes = new ActorRef[course.actors];
        CountDownLatch latch = new CountDownLatch(course.actors);
        ActorRef next = null;
        for (int position = course.actors - 1; position >= 0; position--) {
            Station station = course.station(position);
            ActorRef behind = next;
            next = system.actorOf(Props.create(Node.class, () -> new Node(station, behind, latch)).withDispatcher(PekkoSettings.DISPATCHER));
            nodes[position] = next;
        }
        ended = latch;
        if (course.isClosed()) {
            nodes[course.actors - 1].tell(new First(next), ActorRef.noSender());
        }
    }

    @Override
    public void send(int position, Parcel parcel) {
        nodes[position].tell(parcel, ActorRef.noSender());
    }

    @Override
    public void clear() {
        for (ActorRef node : nodes) {
            system.stop(node);
        }
        nodes = new ActorRef[0];
        try {
            ended.await();
        } catch (InterruptedException error) {
            throw new IllegalStateException(error);
        }
    }

    @Override
    public void close() {
        system.terminate();
    }
}

package tamtam.ring;

import groovyx.gpars.actor.StaticDispatchActor;
import groovyx.gpars.group.DefaultPGroup;

/** GPars: actors with one handler, on a pool of their group. */
final class Gpars implements Ring {
    private final DefaultPGroup group;
    private Node[] nodes = {};

    Gpars(int threads) {
        group = new DefaultPGroup(threads);
    }

    private static final class Node extends StaticDispatchActor<Parcel> {
        private static final long serialVersionUID = 1L;

        private final transient Station station;
        private transient Node next;

        Node(Station station, Node next) {
            this.station = station;
            this.next = next;
        }

        @Override
        public void onMessage(Parcel parcel) {
            if (station.handle(parcel)) {
                next.send(parcel);
            }
        }
    }

    @Override
    public void build(Course course) {
        nodes = new Node[course.actors];
        Node next = null;
        for (int position = course.actors - 1; position >= 0; position--) {
            next = new Node(course.station(position), next);
            next.setParallelGroup(group);
            nodes[position] = next;
        }
        nodes[course.actors - 1].next = next;
        for (Node node : nodes) {
            node.start();
        }
    }

    @Override
    public void send(int position, Parcel parcel) {
        nodes[position].send(parcel);
    }

    @Override
    public void clear() {
        for (Node node : nodes) {
            node.terminate();
        }
        nodes = new Node[0];
    }

    @Override
    public void close() {
        group.shutdown();
    }
}

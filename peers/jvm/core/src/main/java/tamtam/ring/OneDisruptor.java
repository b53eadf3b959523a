package tamtam.ring;

import com.lmax.disruptor.RingBuffer;
import com.lmax.disruptor.YieldingWaitStrategy;
import com.lmax.disruptor.dsl.Disruptor;
import com.lmax.disruptor.dsl.ProducerType;
import com.lmax.disruptor.util.DaemonThreadFactory;

/**
 * Disruptor: one ring buffer for the mail of all actors, and one thread that handles it and puts into it what goes on. It
 * holds more than are ever on their way, so that the thread never waits for itself.
 */
final class OneDisruptor implements Ring {
    private static final int CAPACITY = 1024;

    private final Disruptor<Mail> disruptor;
    private final RingBuffer<Mail> buffer;
    // Written before anything is published, and so seen by the handler.
    private Station[] stations = {};

    OneDisruptor(int threads) {
        disruptor = new Disruptor<>(
                Mail::new, CAPACITY, DaemonThreadFactory.INSTANCE, ProducerType.MULTI, new YieldingWaitStrategy());
        disruptor.handleEventsWith((mail, sequence, endOfBatch) -> {
            Parcel parcel = mail.parcel;
            int position = mail.position;
            mail.parcel = null;
            if (stations[position].handle(parcel)) {
                publish(position + 1 == stations.length ? 0 : position + 1, parcel);
            }
        });
        buffer = disruptor.start();
    }

    private static final class Mail {
        int position;
        Parcel parcel;
    }

    private void publish(int position, Parcel parcel) {
        long sequence = buffer.next();
        Mail mail = buffer.get(sequence);
        mail.position = position;
        mail.parcel = parcel;
        buffer.publish(sequence);
    }

    @Override
    public void build(Course course) {
        Station[] all = new Station[course.actors];
        for (int position = 0; position < course.actors; position++) {
            all[position] = course.station(position);
        }
        stations = all;
    }

    @Override
    public void send(int position, Parcel parcel) {
        publish(position, parcel);
    }

    @Override
    public void clear() {
        // The handler is through with them: nothing is on its way any more.
        stations = new Station[0];
    }

    @Override
    public void close() {
        disruptor.shutdown();
    }
}

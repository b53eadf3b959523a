// A connection that sends several calls in a packet, which the library reads and writes but does not offer, and keeps the bytes of the
// last answer.

import flex.messaging.io.SerializationContext;
import flex.messaging.io.amf.ActionMessage;
import flex.messaging.io.amf.Amf3Output;
import flex.messaging.io.amf.AmfMessageSerializer;
import flex.messaging.io.amf.MessageBody;
import flex.messaging.io.amf.client.AMFConnection;
import flex.messaging.io.amf.client.exceptions.ClientStatusException;
import flex.messaging.io.amf.client.exceptions.ServerStatusException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

final class Connection extends AMFConnection {
    /** How values are written and read: may be changed between two calls. */
    final SerializationContext context = context();

    private List<MessageBody> answers;
    private byte[] answer;

    Connection(String url, int version) throws Exception {
        setObjectEncoding(version);
        connect(url, context);
    }

    private static SerializationContext context() {
        SerializationContext context = new SerializationContext();
        context.createASObjectForMissingType = true;
        context.supportDatesByReference = true;
        context.allowXml = true;
        // Lists are arrays, not Flex's collections, unless they are those.
        context.legacyCollection = true;
        context.setDeserializationValidator(null);
        SerializationContext.setSerializationContext(context);
        return context;
    }

    List<MessageBody> callAll(MessageBody... calls) throws Exception {
        ActionMessage packet = new ActionMessage(getObjectEncoding());
        for (MessageBody call : calls) {
            packet.addBody(call);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        AmfMessageSerializer serializer = new AmfMessageSerializer();
        serializer.initialize(context, bytes, null);
        serializer.writeMessage(packet);
        answers = null;
        send(bytes);
        return answers;
    }

    /** Whether the last answer has the bytes that this library writes for a value of AMF3 alone. */
    boolean answerHas(Object value) throws IOException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        Amf3Output output = new Amf3Output(context);
        output.setOutputStream(bytes);
        output.writeObject(value);
        output.flush();
        String written = bytes.toString(StandardCharsets.ISO_8859_1);
        return new String(answer, StandardCharsets.ISO_8859_1).contains(written);
    }

    @Override
    protected Object processHttpResponseBody(InputStream in)
            throws ClassNotFoundException, IOException, ClientStatusException, ServerStatusException {
        answer = in.readAllBytes();
        return super.processHttpResponseBody(new ByteArrayInputStream(answer));
    }

    @Override
    protected Object processAmfBody(ArrayList<MessageBody> bodies) throws ServerStatusException {
        answers = bodies;
        return bodies.size() == 1 ? super.processAmfBody(bodies) : null;
    }
}

// BlazeDS's AMFConnection against the gateway at the URL that is given, in both versions, and with the messages of Flex.

import flex.messaging.io.ArrayCollection;
import flex.messaging.io.MessageIOConstants;
import flex.messaging.io.SerializationContext;
import flex.messaging.io.amf.ASObject;
import flex.messaging.io.amf.ActionMessage;
import flex.messaging.io.amf.AmfMessageSerializer;
import flex.messaging.io.amf.MessageBody;
import flex.messaging.io.amf.client.AMFConnection;
import flex.messaging.io.amf.client.exceptions.ServerStatusException;
import flex.messaging.messages.AcknowledgeMessage;
import flex.messaging.messages.CommandMessage;
import flex.messaging.messages.ErrorMessage;
import flex.messaging.messages.Message;
import flex.messaging.messages.RemotingMessage;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Externalizable;
import java.io.IOException;
import java.io.ObjectInput;
import java.io.ObjectOutput;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.Dictionary;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.ls.DOMImplementationLS;

public final class AmfConnectionClient {
    /** A class that both sides know by an alias, with members of its own. */
    public static final class Tile {
        private double x;
        private String color;

        public double getX() {
            return x;
        }

        public void setX(double x) {
            this.x = x;
        }

        public String getColor() {
            return color;
        }

        public void setColor(String color) {
            this.color = color;
        }
    }

    /** Types of the server that are classes. */
    public static final class Circle {
        private double radius;

        public double getRadius() {
            return radius;
        }

        public void setRadius(double radius) {
            this.radius = radius;
        }
    }

    /** One that writes itself. */
    public static final class Place implements Externalizable {
        private int x;
        private Object label;

        @Override
        public void writeExternal(ObjectOutput out) throws IOException {
            out.writeInt(x);
            out.writeObject(label);
        }

        @Override
        public void readExternal(ObjectInput in) throws IOException, ClassNotFoundException {
            x = in.readInt();
            label = in.readObject();
        }
    }

    /** A connection that sends several calls in a packet, which the library reads and writes but does not offer. */
    private static final class Connection extends AMFConnection {
        private final SerializationContext context;
        private List<MessageBody> answers;

        Connection(String url, int version, SerializationContext context) throws Exception {
            this.context = context;
            setObjectEncoding(version);
            connect(url, context);
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

        @Override
        protected Object processAmfBody(ArrayList<MessageBody> bodies) throws ServerStatusException {
            answers = bodies;
            return bodies.size() == 1 ? super.processAmfBody(bodies) : null;
        }
    }

    private static int counted = 0;

    public static void main(String[] arguments) throws Exception {
        String url = arguments[0] + "/amf";
        for (Class<?> type : Arrays.asList(Tile.class, Circle.class, Place.class)) {
            AMFConnection.registerAlias("com.example." + type.getSimpleName(), type.getName());
        }
        for (int version : new int[] {MessageIOConstants.AMF0, MessageIOConstants.AMF3}) {
            try {
                version(url, version);
            } catch (Throwable error) {
                throw new AssertionError("in version " + version, error);
            }
        }
        flex(url);
        System.out.println(
                "AMFConnection: " + counted + " values, tables, faults, packets of three calls, in both versions; messages of Flex");
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

    private static void version(String url, int version) throws Exception {
        boolean isNew = version == MessageIOConstants.AMF3;
        SerializationContext context = context();
        Connection connection = new Connection(url, version, context);
        ASObject inner = new ASObject();
        inner.put("b", Arrays.asList(0.5, null));
        ASObject outer = new ASObject();
        outer.put("a", inner);
        ASObject typed = new ASObject("com.example.Unknown");
        typed.put("x", 1.5);
        List<Object> values =
                new ArrayList<>(Arrays.asList(
                        null, true, false, 0.5, -0.0, 1e300, Double.POSITIVE_INFINITY, "", "é", "x".repeat(70_000),
                        new Date(1_167_707_045_000L), new Date(-1L), new ArrayList<>(), Arrays.asList(1.5, Arrays.asList("a", null)),
                        outer, new ASObject(), typed));
        if (isNew) {
            Dictionary<Object, Object> dictionary = new Hashtable<>();
            dictionary.put("key", 5);
            dictionary.put(0.5, "value");
            values.addAll(Arrays.asList(
                    7, -7, (1 << 28) - 1, -(1 << 28), new byte[] {0, -1}, new ArrayCollection(Arrays.asList(1, "a")), dictionary));
        } else {
            values.add(7.0);
        }
        for (Object value : values) {
            same(value, connection.call("Echo.echo", value));
        }
        same(xml("<a b=\"c\">d</a>"), connection.call("Echo.echo", xml("<a b=\"c\">d</a>")));
        if (isNew) {
            // The arguments are a vector then, too, which for the gateway is one argument.
            context.preferVectors = true;
            for (Object vector : Arrays.asList(new int[] {1, -1}, new double[] {0.5, -0.0}, new String[] {"a", ""})) {
                same(Arrays.asList(vector), connection.call("Echo.echo", new Object[] {vector}));
            }
            context.preferVectors = false;
        }

        // What is there twice comes back twice.
        List<Object> twice = Arrays.asList(inner, inner);
        same(twice, connection.call("Echo.echo", twice));

        Tile tile = new Tile();
        tile.setX(1.5);
        tile.setColor("ff8800");
        Tile back = (Tile) connection.call("Echo.echo", tile);
        check(back.getX() == 1.5 && back.getColor().equals("ff8800"), "another tile");

        Circle grown = (Circle) connection.call("Shapes.grow", circle(1.5), 3.0);
        check(grown.getRadius() == 4.5, "another circle: " + grown.getRadius());
        if (isNew) {
            for (int x : new int[] {5, -5, Integer.MAX_VALUE - 10}) {
                place(x + 3, connection.call("Shapes.shift", place(x), 3));
            }
            place(7, list(connection.call("Echo.echo", new Object[] {Arrays.asList(place(7))})).get(0));
        }

        table(connection.call("Tiles.list", "palette"), isNew);

        try {
            connection.call("Fault.raise");
            throw new AssertionError("no fault");
        } catch (ServerStatusException fault) {
            Map<?, ?> data = (Map<?, ?>) fault.getData();
            same("Kit.Fault", data.get("code"));
            same("raised on purpose", data.get("description"));
        }

        List<MessageBody> answers =
                connection.callAll(
                        new MessageBody("Echo.echo", "/a", new Object[] {"one"}),
                        new MessageBody("Fault.raise", "/b", new Object[0]),
                        new MessageBody("Echo.echo", "/c", new Object[] {2.5}));
        check(answers.size() == 3, answers.size() + " answers");
        same("/a/onResult", answers.get(0).getTargetURI());
        same("one", answers.get(0).getData());
        same("/b/onStatus", answers.get(1).getTargetURI());
        same("/c/onResult", answers.get(2).getTargetURI());
        same(2.5, answers.get(2).getData());
        connection.close();
    }

    private static Circle circle(double radius) {
        Circle circle = new Circle();
        circle.setRadius(radius);
        return circle;
    }

    private static Place place(int x) {
        Place place = new Place();
        place.x = x;
        place.label = "hé";
        return place;
    }

    private static void place(int x, Object back) {
        check(back instanceof Place, show(back) + " is no place");
        Place place = (Place) back;
        check(place.x == x && "hé".equals(place.label), "another place: " + place.x + " " + place.label);
        counted++;
    }

    /** The 1,000 rows: a RecordSet in version 0, objects in version 3. */
    private static void table(Object table, boolean isNew) {
        List<?> rows;
        if (isNew) {
            rows = list(table);
            Map<?, ?> first = (Map<?, ?>) rows.get(0);
            same(1, first.get("slot_number"));
            check(first.size() == 5, "other columns: " + first.keySet());
        } else {
            ASObject set = (ASObject) table;
            same("RecordSet", set.getType());
            Map<?, ?> info = (Map<?, ?>) set.get("serverInfo");
            same(Arrays.asList("slot_number", "x", "y", "color", "rotation"), info.get("columnNames"));
            rows = list(info.get("initialData"));
            same(1.0, list(rows.get(0)).get(0));
        }
        check(rows.size() == 1000, rows.size() + " rows");
    }

    /** What a RemoteObject of Flex sends: a ping, and calls; in AMF3 within packets of version 3. */
    private static void flex(String url) throws Exception {
        Connection connection = new Connection(url, MessageIOConstants.AMF3, context());
        CommandMessage ping = new CommandMessage(CommandMessage.CLIENT_PING_OPERATION);
        AcknowledgeMessage pong = acknowledged(connection, ping);
        check(pong.getHeader(Message.FLEX_CLIENT_ID_HEADER) != null, "no id of a client: " + pong.getHeaders());

        RemotingMessage call = new RemotingMessage();
        call.setDestination("Echo");
        call.setOperation("echo");
        call.setParameters(Arrays.asList(Arrays.asList("a", 5)));
        same(Arrays.asList("a", 5), acknowledged(connection, call).getBody());

        RemotingMessage list = new RemotingMessage();
        list.setDestination("Tiles");
        list.setOperation("list");
        list.setParameters(Arrays.asList("palette"));
        table(acknowledged(connection, list).getBody(), true);

        RemotingMessage grow = new RemotingMessage();
        grow.setDestination("Shapes");
        grow.setOperation("grow");
        grow.setParameters(Arrays.asList(circle(1.5), 2.0));
        Circle grown = (Circle) acknowledged(connection, grow).getBody();
        check(grown.getRadius() == 3.0, "another circle: " + grown.getRadius());

        RemotingMessage shift = new RemotingMessage();
        shift.setDestination("Shapes");
        shift.setOperation("shift");
        shift.setParameters(Arrays.asList(place(1), 2));
        place(3, acknowledged(connection, shift).getBody());

        RemotingMessage raise = new RemotingMessage();
        raise.setDestination("Fault");
        raise.setOperation("raise");
        raise.setParameters(new ArrayList<>());
        identify(raise);
        try {
            connection.call("null", raise);
            throw new AssertionError("no fault");
        } catch (ServerStatusException fault) {
            ErrorMessage error = (ErrorMessage) fault.getData();
            same("Kit.Fault", error.faultCode);
            same("raised on purpose", error.faultString);
            same(raise.getMessageId(), error.getCorrelationId());
        }
        connection.close();
    }

    private static void identify(Message message) {
        message.setMessageId(UUID.randomUUID().toString().toUpperCase());
        message.setHeader(Message.FLEX_CLIENT_ID_HEADER, "nil");
    }

    private static AcknowledgeMessage acknowledged(Connection connection, Message message) throws Exception {
        identify(message);
        AcknowledgeMessage answer = (AcknowledgeMessage) connection.call("null", message);
        same(message.getMessageId(), answer.getCorrelationId());
        return answer;
    }

    private static Document xml(String text) throws Exception {
        ByteArrayInputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in);
    }

    private static String text(Document document) {
        // By the text: the library reads with names of namespaces.
        DOMImplementationLS implementation = (DOMImplementationLS) document.getImplementation();
        return implementation.createLSSerializer().writeToString(document.getDocumentElement());
    }

    /** A value came back as it went: also of the same class, but for lists and arrays, which are one kind in AMF. */
    private static void same(Object sent, Object back) {
        check(isSame(sent, back), show(sent) + " came back as " + show(back));
        counted++;
    }

    private static boolean isSame(Object sent, Object back) {
        if (sent == null || back == null) {
            return sent == back;
        } else if (sent instanceof Document) {
            return back instanceof Document && text((Document) sent).equals(text((Document) back));
        } else if (sent instanceof ArrayCollection && !(back instanceof ArrayCollection)) {
            return false;
        } else if (sent instanceof byte[]) {
            return back instanceof byte[] && Arrays.equals((byte[]) sent, (byte[]) back);
        } else if (list(sent) != null) {
            List<?> one = list(sent);
            List<?> other = list(back);
            if (other == null || one.size() != other.size()) {
                return false;
            }
            for (int i = 0; i < one.size(); i++) {
                if (!isSame(one.get(i), other.get(i))) {
                    return false;
                }
            }
            return true;
        } else if (sent instanceof ASObject) {
            if (!(back instanceof ASObject) || !same((ASObject) sent, (ASObject) back)) {
                return false;
            }
            return isSameMap((Map<?, ?>) sent, (Map<?, ?>) back);
        } else if (sent instanceof Dictionary) {
            return back instanceof Dictionary && isSameMap((Map<?, ?>) sent, (Map<?, ?>) back);
        }
        return sent.equals(back);
    }

    private static boolean same(ASObject one, ASObject other) {
        String name = one.getType() == null ? "" : one.getType();
        return name.equals(other.getType() == null ? "" : other.getType());
    }

    private static boolean isSameMap(Map<?, ?> one, Map<?, ?> other) {
        if (!one.keySet().equals(other.keySet())) {
            return false;
        }
        for (Object key : one.keySet()) {
            if (!isSame(one.get(key), other.get(key))) {
                return false;
            }
        }
        return true;
    }

    private static List<?> list(Object value) {
        if (value instanceof List) {
            return (List<?>) value;
        } else if (value instanceof Object[]) {
            return Arrays.asList((Object[]) value);
        } else if (value instanceof int[]) {
            return Arrays.stream((int[]) value).boxed().toList();
        } else if (value instanceof double[]) {
            return Arrays.stream((double[]) value).boxed().toList();
        }
        return null;
    }

    private static String show(Object value) {
        String text = list(value) == null ? String.valueOf(value) : list(value).toString();
        String name = value == null ? "" : " (" + value.getClass().getName() + ")";
        return (text.length() > 200 ? text.substring(0, 200) + ".." : text) + name;
    }

    private static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}

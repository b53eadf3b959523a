// BlazeDS's AMFConnection against the gateway at the URL that is given, in both versions, and with the messages of Flex.

import flex.messaging.io.ArrayCollection;
import flex.messaging.io.MessageIOConstants;
import flex.messaging.io.ObjectProxy;
import flex.messaging.io.amf.ASObject;
import flex.messaging.io.amf.MessageBody;
import flex.messaging.io.amf.client.exceptions.ServerStatusException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Date;
import java.util.Dictionary;
import java.util.HashMap;
import java.util.Hashtable;
import java.util.List;
import java.util.Map;

public final class AmfConnectionClient {
    public static void main(String[] arguments) throws Exception {
        String url = arguments[0] + "/amf";
        Classes.register();
        for (int version : new int[] {MessageIOConstants.AMF0, MessageIOConstants.AMF3}) {
            try {
                version(url, version);
            } catch (Throwable error) {
                throw new AssertionError("in version " + version, error);
            }
        }
        FlexClient.speak(url);
        System.out.println(
                "AMFConnection: " + Comparison.counted
                        + " values, tables, faults, credentials, packets of three calls, in both versions; messages of Flex");
    }

    private static void version(String url, int version) throws Exception {
        boolean isNew = version == MessageIOConstants.AMF3;
        Connection connection = new Connection(url, version);
        for (Object value : isNew ? valuesOfAmf3() : valuesOfAmf0()) {
            Comparison.same(value, connection.call("Echo.echo", value));
        }
        arraysWithNames(connection, isNew);
        if (isNew) {
            vectors(connection);
        }

        // What is there twice comes back twice.
        ASObject object = object("", "a", 0.5);
        List<Object> twice = Arrays.asList(object, object);
        Comparison.same(twice, connection.call("Echo.echo", twice));

        Comparison.same(new Classes.Circle(4.5), connection.call("Shapes.grow", new Classes.Circle(1.5), 3.0));
        if (isNew) {
            for (int x : new int[] {5, -5, Integer.MAX_VALUE - 10}) {
                Comparison.same(new Classes.Place(x + 3), connection.call("Shapes.shift", new Classes.Place(x), 3));
            }
        }

        table(connection.call("Tiles.list", "palette"), isNew);
        fault(connection, "Fault.raise", "Kit.Fault", "raised on purpose");
        several(connection);
        credentials(connection);
        connection.close();
    }

    /** What both versions have. */
    private static List<Object> values() throws Exception {
        ASObject outer = object("", "a", object("", "b", Arrays.asList(0.5, null)));
        return new ArrayList<>(Arrays.asList(
                null, true, false, 0.5, -0.0, 1e300, Double.POSITIVE_INFINITY, "", "é", "x".repeat(70_000),
                new Date(1_167_707_045_000L), new Date(-1L), new ArrayList<>(), Arrays.asList(1.5, Arrays.asList("a", null)),
                outer, new ASObject(), object("com.example.Unknown", "x", 1.5), new Classes.Tile(1.5, "ff8800"),
                Comparison.xml("<a b=\"c\">d</a>")));
    }

    private static List<Object> valuesOfAmf0() throws Exception {
        List<Object> values = values();
        values.add(7.0);
        return values;
    }

    static List<Object> valuesOfAmf3() throws Exception {
        List<Object> values = values();
        Dictionary<Object, Object> dictionary = new Hashtable<>();
        dictionary.put("key", 5);
        dictionary.put(0.5, "value");
        Classes.Tile tile = new Classes.Tile(0.5, null);
        // Flex's own classes, each within the others.
        Object collection = new ArrayCollection(Arrays.asList(1, "a"));
        Object list = new flex.messaging.io.ArrayList(Arrays.asList(1.5, tile, collection, new flex.messaging.io.ArrayList()));
        ObjectProxy proxy = proxy("list", list, "tile", tile, "object", object("", "a", 1), "none", null);
        values.addAll(Arrays.asList(
                7, -7, (1 << 28) - 1, -(1 << 28), new byte[] {0, -1}, dictionary, Arrays.asList(new Classes.Place(7)),
                collection, list, new ObjectProxy(), proxy, proxy("inner", proxy("inner", proxy, "x", -0.5)),
                new ArrayCollection(Arrays.asList(proxy, Arrays.asList(proxy, dictionary)))));
        return values;
    }

    /** Arrays with names, which to this library are maps that are no objects. */
    private static void arraysWithNames(Connection connection, boolean isNew) throws Exception {
        connection.context.legacyMap = true;
        Map<String, Object> inner = map("b", 0.5, "c", null);
        Map<String, Object> outer = map("list", Arrays.asList(inner, "x"), "inner", inner, "object", object("", "a", inner));
        List<Map<String, Object>> arrays = new ArrayList<>(Arrays.asList(
                inner, outer, map("0", "zero", "1", 1.5, "7", true, "é", "x".repeat(70_000)), map("tile", new Classes.Tile(1.5, "x"))));
        if (!isNew) {
            // In AMF3 one without names is a list.
            arrays.add(map());
        }
        for (Map<String, Object> array : arrays) {
            Comparison.same(array, connection.call("Echo.echo", array));
        }
        connection.context.legacyMap = false;
    }

    /** Vectors: fixed ones are Java's arrays, others lists; those of objects have the name of a class. */
    private static void vectors(Connection connection) throws Exception {
        connection.context.preferVectors = true;
        Classes.Tile[] tiles = {new Classes.Tile(1.5, "ff8800"), new Classes.Tile(-0.5, null), null};
        for (Object vector :
                new Object[] {
                    new int[] {1, -1}, new double[] {0.5, -0.0}, new String[] {"a", ""}, tiles, new Classes.Tile[0],
                    new Classes.Tile[][] {tiles, {}}, new Classes.Place[] {new Classes.Place(7)}, Arrays.asList(1, -1),
                    Arrays.asList(0.5, -0.0), Arrays.asList(tiles[0], tiles[1]), new Object[] {"a", tiles[0], 5}
                }) {
            // The arguments are a vector then, too, which for the gateway is one argument.
            Object[] arguments = {vector};
            Comparison.same(arguments, connection.call("Echo.echo", arguments));
            // This library forgets of what class a vector was, and whether it was fixed.
            Comparison.check(connection.answerHas(arguments), "another vector than " + Comparison.show(vector));
        }
        connection.context.preferVectors = false;
    }

    private static void several(Connection connection) throws Exception {
        List<MessageBody> answers =
                connection.callAll(
                        new MessageBody("Echo.echo", "/a", new Object[] {"one"}),
                        new MessageBody("Fault.raise", "/b", new Object[0]),
                        new MessageBody("Echo.echo", "/c", new Object[] {2.5}));
        Comparison.check(answers.size() == 3, answers.size() + " answers");
        Comparison.same("/a/onResult", answers.get(0).getTargetURI());
        Comparison.same("one", answers.get(0).getData());
        Comparison.same("/b/onStatus", answers.get(1).getTargetURI());
        Comparison.same("/c/onResult", answers.get(2).getTargetURI());
        Comparison.same(2.5, answers.get(2).getData());
    }

    /** The header of remoting by which a client says who it is. */
    private static void credentials(Connection connection) throws Exception {
        fault(connection, "Vault.open", "Client.Authentication", "send a name and a password");
        for (String[] wrong : new String[][] {{"ada", "wrong"}, {"eve", "secret"}, {"", ""}}) {
            connection.addAmfHeader("Credentials", true, object("", "userid", wrong[0], "password", wrong[1]));
            fault(connection, "Vault.open", "Client.Authentication", "the name or the password is wrong");
            connection.removeAllAmfHeaders();
        }
        connection.addAmfHeader("Credentials", true, object("", "userid", "ada", "password", "secret"));
        Comparison.same("gold", connection.call("Vault.open"));
        connection.removeAllAmfHeaders();
        connection.addAmfHeader("Unknown", true, "x");
        fault(connection, "Echo.echo", "Client.Malformed", "the header \"Unknown\" has to be understood, and is not known");
        connection.removeAllAmfHeaders();
    }

    private static void fault(Connection connection, String method, String code, String description) throws Exception {
        try {
            connection.call(method);
        } catch (ServerStatusException fault) {
            Map<?, ?> data = (Map<?, ?>) fault.getData();
            Comparison.same(code, data.get("code"));
            Comparison.same(description, data.get("description"));
            Comparison.same("error", data.get("level"));
            return;
        }
        throw new AssertionError("no fault");
    }

    /** The 1,000 rows: a RecordSet in version 0, objects in version 3. */
    static void table(Object table, boolean isNew) {
        List<?> rows;
        if (isNew) {
            rows = Comparison.list(table);
            Map<?, ?> first = (Map<?, ?>) rows.get(0);
            Comparison.same(1, first.get("slot_number"));
            Comparison.check(first.size() == 5, "other columns: " + first.keySet());
        } else {
            ASObject set = (ASObject) table;
            Comparison.same("RecordSet", set.getType());
            Map<?, ?> info = (Map<?, ?>) set.get("serverInfo");
            Comparison.same(Arrays.asList("slot_number", "x", "y", "color", "rotation"), info.get("columnNames"));
            rows = Comparison.list(info.get("initialData"));
            Comparison.same(1.0, Comparison.list(rows.get(0)).get(0));
        }
        Comparison.check(rows.size() == 1000, rows.size() + " rows");
    }

    /** An object of a class, or of none, whose members these are, each behind its name. */
    @SuppressWarnings("unchecked")
    private static ASObject object(String type, Object... members) {
        ASObject object = type.isEmpty() ? new ASObject() : new ASObject(type);
        object.putAll(map(members));
        return object;
    }

    @SuppressWarnings("unchecked")
    private static ObjectProxy proxy(Object... members) {
        ObjectProxy proxy = new ObjectProxy();
        proxy.putAll(map(members));
        return proxy;
    }

    private static Map<String, Object> map(Object... members) {
        Map<String, Object> map = new HashMap<>();
        for (int i = 0; i < members.length; i += 2) {
            map.put((String) members[i], members[i + 1]);
        }
        return map;
    }
}

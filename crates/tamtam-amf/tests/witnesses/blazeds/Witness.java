// Adobe's BlazeDS as a witness: see the README beside this folder.

import flex.messaging.io.ClassAliasRegistry;
import flex.messaging.io.SerializationContext;
import flex.messaging.io.amf.ASObject;
import flex.messaging.io.amf.ActionMessage;
import flex.messaging.io.amf.Amf0Input;
import flex.messaging.io.amf.Amf0Output;
import flex.messaging.io.amf.Amf3Input;
import flex.messaging.io.amf.Amf3Output;
import flex.messaging.io.amf.AmfMessageDeserializer;
import flex.messaging.io.amf.AmfMessageSerializer;
import flex.messaging.io.amf.MessageBody;
import flex.messaging.io.amf.MessageHeader;
import flex.messaging.messages.AcknowledgeMessageExt;
import flex.messaging.messages.AsyncMessage;
import flex.messaging.messages.AsyncMessageExt;
import flex.messaging.messages.CommandMessage;
import flex.messaging.messages.CommandMessageExt;
import flex.messaging.messages.Message;
import flex.messaging.util.UUIDUtils;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Date;
import java.util.Dictionary;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import javax.xml.transform.OutputKeys;
import javax.xml.transform.Transformer;
import javax.xml.transform.TransformerFactory;
import javax.xml.transform.dom.DOMSource;
import javax.xml.transform.stream.StreamResult;
import org.w3c.dom.Document;

public final class Witness {
    private static final HexFormat HEX = HexFormat.of();
    /** The values around the one that is told, from the outermost one on. */
    private static final List<Object> AROUND = new ArrayList<>();

    public static void main(String[] arguments) throws Exception {
        // As its endpoints do for clients of Flex.
        ClassAliasRegistry classes = ClassAliasRegistry.getRegistry();
        classes.registerAlias(AcknowledgeMessageExt.CLASS_ALIAS, AcknowledgeMessageExt.class.getName());
        classes.registerAlias(AsyncMessageExt.CLASS_ALIAS, AsyncMessageExt.class.getName());
        classes.registerAlias(CommandMessageExt.CLASS_ALIAS, CommandMessageExt.class.getName());
        // What the library prints is no answer.
        PrintStream answers = System.out;
        System.setOut(System.err);
        BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = lines.readLine()) != null; ) {
            String[] parts = line.split(" ");
            String answer;
            AROUND.clear();
            try {
                byte[] bytes = HEX.parseHex(parts[1]);
                answer = parts[0].equals("p") ? packet(bytes) : value(parts[0], bytes);
            } catch (Throwable error) {
                answer = "error " + error.toString().replaceAll("\\s+", " ");
            }
            answers.println(answer);
            answers.flush();
        }
    }

    private static SerializationContext context(String form) {
        SerializationContext context = new SerializationContext();
        context.createASObjectForMissingType = true;
        context.supportDatesByReference = true;
        context.allowXml = true;
        context.preferVectors = form.equals("v");
        context.legacyMap = form.equals("e") || form.equals("a");
        // Otherwise it refuses most classes of its own.
        context.setDeserializationValidator(null);
        SerializationContext.setSerializationContext(context);
        return context;
    }

    private static String value(String form, byte[] bytes) throws Exception {
        SerializationContext context = context(form);
        ByteArrayInputStream in = new ByteArrayInputStream(bytes);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        Object value;
        if (form.equals("0") || form.equals("e")) {
            Amf0Input input = new Amf0Input(context);
            input.setInputStream(in);
            value = input.readObject();
            Amf0Output output = new Amf0Output(context);
            output.setOutputStream(out);
            output.writeObject(value);
            output.flush();
        } else {
            Amf3Input input = new Amf3Input(context);
            input.setInputStream(in);
            value = input.readObject();
            Amf3Output output = new Amf3Output(context);
            output.setOutputStream(out);
            output.writeObject(value);
            output.flush();
        }
        if (in.available() > 0) {
            return "error " + in.available() + " bytes are left";
        }
        return "ok " + what(value) + " " + HEX.formatHex(out.toByteArray());
    }

    private static String packet(byte[] bytes) throws Exception {
        SerializationContext context = context("p");
        AmfMessageDeserializer deserializer = new AmfMessageDeserializer();
        deserializer.initialize(context, new ByteArrayInputStream(bytes), null);
        ActionMessage message = new ActionMessage();
        deserializer.readMessage(message, new flex.messaging.io.amf.ActionContext());
        StringBuilder what = new StringBuilder("P" + message.getVersion());
        for (int i = 0; i < message.getHeaderCount(); i++) {
            MessageHeader header = message.getHeader(i);
            what.append('(').append(text(header.getName()));
            what.append(header.getMustUnderstand() ? "!" : "?");
            what.append(what(header.getData())).append(')');
        }
        for (int i = 0; i < message.getBodyCount(); i++) {
            MessageBody body = message.getBody(i);
            what.append('(').append(text(body.getTargetURI()));
            what.append(':').append(text(body.getResponseURI()));
            what.append('=').append(what(body.getData())).append(')');
        }
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        AmfMessageSerializer serializer = new AmfMessageSerializer();
        serializer.initialize(context, out, null);
        serializer.writeMessage(message);
        return "ok " + what + " " + HEX.formatHex(out.toByteArray());
    }

    private static String text(String text) {
        return HEX.formatHex(text.getBytes(StandardCharsets.UTF_8));
    }

    private static String bits(double number) {
        return String.format("%016x", Double.doubleToLongBits(number));
    }

    /** What is said of a value, or how far out that is if it is around already. */
    private static String what(Object value) throws Exception {
        int last = AROUND.size() - 1;
        for (int i = last; i >= 0; i--) {
            if (AROUND.get(i) == value) {
                return "^" + (last - i);
            }
        }
        AROUND.add(value);
        String what = itself(value);
        AROUND.remove(last + 1);
        return what;
    }

    private static String itself(Object value) throws Exception {
        if (value == null) {
            return "n";
        } else if (value instanceof Boolean) {
            return (Boolean) value ? "t" : "f";
        } else if (value instanceof Number) {
            return "d" + bits(((Number) value).doubleValue());
        } else if (value instanceof String) {
            return "s" + text((String) value);
        } else if (value instanceof Date) {
            return "D" + bits(((Date) value).getTime());
        } else if (value instanceof byte[]) {
            return "b" + HEX.formatHex((byte[]) value);
        } else if (value instanceof Document) {
            return "x" + text(xml((Document) value));
        } else if (value instanceof Message) {
            return message((Message) value);
        } else if (value instanceof List) {
            return list(((List<?>) value).toArray());
        } else if (value.getClass().isArray()) {
            return list(value);
        } else if (value instanceof Dictionary) {
            List<String> entries = new ArrayList<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                entries.add(what(entry.getKey()) + "=" + what(entry.getValue()));
            }
            Collections.sort(entries);
            return "<" + String.join(",", entries) + ">";
        } else if (value instanceof Map) {
            String type = value instanceof ASObject ? ((ASObject) value).getType() : null;
            List<String> entries = new ArrayList<>();
            for (Map.Entry<?, ?> entry : ((Map<?, ?>) value).entrySet()) {
                entries.add(text((String) entry.getKey()) + "=" + what(entry.getValue()));
            }
            return object(type, entries);
        }
        throw new IllegalArgumentException("nothing is known of " + value.getClass());
    }

    private static String object(String type, List<String> entries) {
        Collections.sort(entries);
        return "{" + text(type == null ? "" : type) + ";" + String.join(",", entries) + "}";
    }

    private static String list(Object array) throws Exception {
        List<String> values = new ArrayList<>();
        for (int i = 0; i < Array.getLength(array); i++) {
            values.add(what(Array.get(array, i)));
        }
        return "[" + String.join(",", values) + "]";
    }

    /** The members that a small message carries, if they are there. */
    private static String message(Message message) throws Exception {
        List<String> entries = new ArrayList<>();
        add(entries, "body", message.getBody());
        add(entries, "clientId", id(message.getClientId()));
        add(entries, "destination", message.getDestination());
        Map<?, ?> headers = message.getHeaders();
        add(entries, "headers", headers == null || headers.isEmpty() ? null : headers);
        add(entries, "messageId", id(message.getMessageId()));
        add(entries, "timestamp", message.getTimestamp() == 0 ? null : message.getTimestamp());
        add(entries, "timeToLive", message.getTimeToLive() == 0 ? null : message.getTimeToLive());
        if (message instanceof AsyncMessage) {
            add(entries, "correlationId", id(((AsyncMessage) message).getCorrelationId()));
        }
        if (message instanceof CommandMessage) {
            add(entries, "operation", ((CommandMessage) message).getOperation());
        }
        String name = message.getClass().getSimpleName();
        String alias = name.startsWith("Acknowledge") ? "DSK" : name.startsWith("Async") ? "DSA" : "DSC";
        return object(alias, entries);
    }

    /** An id as text, in the letters of the standard where it was bytes. */
    private static Object id(Object id) {
        return UUIDUtils.isUID((String) id) ? ((String) id).toLowerCase() : id;
    }

    private static void add(List<String> entries, String name, Object value) throws Exception {
        if (value != null) {
            entries.add(text(name) + "=" + what(value));
        }
    }

    private static String xml(Document document) throws Exception {
        Transformer transformer = TransformerFactory.newInstance().newTransformer();
        transformer.setOutputProperty(OutputKeys.OMIT_XML_DECLARATION, "yes");
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        transformer.transform(new DOMSource(document), new StreamResult(out));
        return out.toString(StandardCharsets.UTF_8);
    }
}

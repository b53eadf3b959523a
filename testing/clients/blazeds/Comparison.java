// What was sent and what came back.

import flex.messaging.io.ArrayCollection;
import flex.messaging.io.amf.ASObject;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import javax.xml.parsers.DocumentBuilderFactory;
import org.w3c.dom.Document;
import org.w3c.dom.ls.DOMImplementationLS;

final class Comparison {
    /** How many values came back as they went. */
    static int counted = 0;

    private Comparison() {}

    static Document xml(String text) throws Exception {
        ByteArrayInputStream in = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        return DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(in);
    }

    private static String text(Document document) {
        // By the text: the library reads with names of namespaces.
        DOMImplementationLS implementation = (DOMImplementationLS) document.getImplementation();
        return implementation.createLSSerializer().writeToString(document.getDocumentElement());
    }

    /** A value came back as it went: also of the same class, but for lists and arrays, which are one kind in AMF. */
    static void same(Object sent, Object back) {
        check(isSame(sent, back), show(sent) + " came back as " + show(back));
        counted++;
    }

    private static boolean isSame(Object sent, Object back) {
        if (sent == null || back == null) {
            return sent == back;
        } else if (sent instanceof Document) {
            return back instanceof Document && text((Document) sent).equals(text((Document) back));
        } else if (sent instanceof ArrayCollection && back.getClass() != sent.getClass()) {
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
        } else if (sent instanceof Map) {
            // An object, an array with names, a dictionary or a proxy: each is a class of maps.
            boolean isOfOneKind = back.getClass() == sent.getClass() && type(sent).equals(type(back));
            return isOfOneKind && isSameMap((Map<?, ?>) sent, (Map<?, ?>) back);
        }
        return sent.equals(back);
    }

    /** The name of an object's class, if a map is an object. */
    private static String type(Object map) {
        String name = map instanceof ASObject ? ((ASObject) map).getType() : null;
        return name == null ? "" : name;
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

    static List<?> list(Object value) {
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

    static String show(Object value) {
        String text = list(value) == null ? String.valueOf(value) : list(value).toString();
        String name = value == null ? "" : " (" + value.getClass().getName() + ")";
        return (text.length() > 200 ? text.substring(0, 200) + ".." : text) + name;
    }

    static void check(boolean holds, String otherwise) {
        if (!holds) {
            throw new AssertionError(otherwise);
        }
    }
}

// What a client of Flex says, mx:RemoteObject and its channel: a ping, a login, calls, a logout; in AMF3 within packets of version 3.

import flex.messaging.io.MessageIOConstants;
import flex.messaging.io.amf.client.AMFConnection;
import flex.messaging.io.amf.client.exceptions.ServerStatusException;
import flex.messaging.messages.AcknowledgeMessage;
import flex.messaging.messages.AcknowledgeMessageExt;
import flex.messaging.messages.AsyncMessage;
import flex.messaging.messages.AsyncMessageExt;
import flex.messaging.messages.CommandMessage;
import flex.messaging.messages.CommandMessageExt;
import flex.messaging.messages.ErrorMessage;
import flex.messaging.messages.Message;
import flex.messaging.messages.RemotingMessage;
import flex.messaging.util.UUIDUtils;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.UUID;

final class FlexClient {
    private final Connection connection;
    /** By which it is known: what it is told first, and nothing later, as Flex has it. */
    private String id = null;

    private FlexClient(String url) throws Exception {
        connection = new Connection(url, MessageIOConstants.AMF3);
    }

    static void speak(String url) throws Exception {
        AMFConnection.registerAlias(AcknowledgeMessageExt.CLASS_ALIAS, AcknowledgeMessageExt.class.getName());
        AMFConnection.registerAlias(AsyncMessageExt.CLASS_ALIAS, AsyncMessageExt.class.getName());
        AMFConnection.registerAlias(CommandMessageExt.CLASS_ALIAS, CommandMessageExt.class.getName());
        FlexClient client = new FlexClient(url);
        client.ping(false);
        client.calls();
        client.smallMessages();
        for (boolean isSmall : new boolean[] {false, true}) {
            client.logsInAndOut(url, isSmall);
        }
        client.connection.close();
        // One that has its program's credentials before it connects logs in instead of a ping.
        FlexClient other = new FlexClient(url);
        other.login("ada:secret", false);
        Comparison.same("gold", other.call("Vault", "open"));
        other.connection.close();
    }

    private void ping(boolean isSmall) throws Exception {
        CommandMessage ping = new CommandMessage(CommandMessage.CLIENT_PING_OPERATION);
        ping.setHeader(CommandMessage.MESSAGING_VERSION, 1.0);
        ping.setHeader(CommandMessage.NEEDS_CONFIG_HEADER, true);
        String known = id;
        AcknowledgeMessage pong = acknowledged(ping, isSmall);
        // It has no configuration to give, and promises to take no small messages, so that Flex sends none.
        Comparison.same(null, pong.getBody());
        Comparison.same(null, pong.getHeader(CommandMessage.MESSAGING_VERSION));
        Comparison.check(UUIDUtils.isUID(id), id + " is no id");
        Comparison.check(known == null || known.equals(id), "another id for " + known);
        Comparison.same(id, pong.getHeader(Message.FLEX_CLIENT_ID_HEADER));
    }

    private void calls() throws Exception {
        for (Object value : AmfConnectionClient.valuesOfAmf3()) {
            Comparison.same(value, call("Echo", "echo", value));
        }
        AmfConnectionClient.table(call("Tiles", "list", "palette"), true);
        Comparison.same(new Classes.Circle(3.0), call("Shapes", "grow", new Classes.Circle(1.5), 2.0));
        Comparison.same(new Classes.Place(3), call("Shapes", "shift", new Classes.Place(1), 2));
        refused(calling("Fault", "raise"), false, "Kit.Fault", "raised on purpose");
        refused(calling("Nothing", "at_all"), false, "Client.NoMethod", "there is no service \"Nothing\"");
        // What subscribes or polls is no call, and a goodbye wants no answer.
        for (int operation : new int[] {CommandMessage.SUBSCRIBE_OPERATION, CommandMessage.DISCONNECT_OPERATION}) {
            refused(new CommandMessage(operation), false, "Client.Malformed", "of the commands ping, login and logout are answered");
        }
    }

    /** The short forms of messages, as a client's, and as values both ways. */
    private void smallMessages() throws Exception {
        ping(true);
        CommandMessage poll = new CommandMessage(CommandMessage.POLL_OPERATION);
        refused(poll, true, "Client.Malformed", "of the commands ping, login and logout are answered");
        AsyncMessage said = new AsyncMessage();
        said.setDestination("Echo");
        said.setBody(Arrays.asList("a", 5));
        refused(said, true, "Client.Malformed", "of Flex's messages CommandMessage and RemotingMessage are answered");

        List<AsyncMessage> messages = Arrays.asList(said, new AcknowledgeMessage(), poll);
        for (AsyncMessage message : messages) {
            message.setBody(Arrays.asList("a", 0.5));
            message.setCorrelationId(newId());
            message.setClientId(newId());
            message.setTimestamp(1_167_707_045_000L);
            identify(message);
        }
        List<?> back = Comparison.list(call("Echo", "echo", messages.stream().map(FlexClient::small).toList()));
        for (int i = 0; i < messages.size(); i++) {
            Comparison.same(small(messages.get(i)).getClass(), back.get(i).getClass());
            sameMessage(messages.get(i), (AsyncMessage) back.get(i));
        }
    }

    /** The short form, which writes the message that it is of. */
    private static Message small(Message message) {
        if (message instanceof CommandMessage) {
            return new CommandMessageExt((CommandMessage) message);
        } else if (message instanceof AcknowledgeMessage) {
            return new AcknowledgeMessageExt((AcknowledgeMessage) message);
        }
        return new AsyncMessageExt((AsyncMessage) message);
    }

    @SuppressWarnings("unchecked")
    private static void sameMessage(AsyncMessage sent, AsyncMessage back) {
        Comparison.same(sent.getBody(), back.getBody());
        Comparison.same(sent.getMessageId(), back.getMessageId());
        Comparison.same(sent.getClientId(), back.getClientId());
        Comparison.same(sent.getCorrelationId(), back.getCorrelationId());
        Comparison.same(sent.getTimestamp(), back.getTimestamp());
        Comparison.same(sent.getHeaders(), new HashMap<>(back.getHeaders()));
        if (sent instanceof CommandMessage) {
            Comparison.same(((CommandMessage) sent).getOperation(), ((CommandMessage) back).getOperation());
        }
    }

    private void logsInAndOut(String url, boolean isSmall) throws Exception {
        refusedVault("send a name and a password");
        for (String wrong : new String[] {"ada:wrong", "eve:secret"}) {
            refused(loggingIn(wrong), isSmall, "Client.Authentication", "the name or the password is wrong");
            refusedVault("send a name and a password");
        }
        refused(loggingIn("ada"), isSmall, "Client.Arguments", "a login has NAME:PASSWORD in Base64 as its body");

        login("ada:secret", isSmall);
        Comparison.same("gold", call("Vault", "open"));
        Comparison.same("gold", call("Vault", "open"));
        ping(isSmall);
        Comparison.same("gold", call("Vault", "open"));
        // So far the login is this one's alone.
        FlexClient other = new FlexClient(url);
        other.refusedVault("send a name and a password");
        other.ping(isSmall);
        Comparison.check(!other.id.equals(id), "two clients have one id");
        other.refusedVault("send a name and a password");
        other.connection.close();

        CommandMessage logout = new CommandMessage(CommandMessage.LOGOUT_OPERATION);
        Comparison.same("success", acknowledged(logout, isSmall).getBody());
        refusedVault("send a name and a password");

        // Or each call says who calls.
        RemotingMessage call = calling("Vault", "open");
        call.setHeader(Message.REMOTE_CREDENTIALS_HEADER, encoded("ada:secret"));
        Comparison.same("gold", acknowledged(call, false).getBody());
        call = calling("Vault", "open");
        call.setHeader(Message.REMOTE_CREDENTIALS_HEADER, encoded("ada:wrong"));
        refused(call, false, "Client.Authentication", "the name or the password is wrong");
        refusedVault("send a name and a password");
    }

    private void login(String credentials, boolean isSmall) throws Exception {
        Comparison.same("success", acknowledged(loggingIn(credentials), isSmall).getBody());
    }

    private static CommandMessage loggingIn(String credentials) {
        CommandMessage login = new CommandMessage(CommandMessage.LOGIN_OPERATION);
        login.setDestination("auth");
        login.setBody(encoded(credentials));
        return login;
    }

    private static String encoded(String credentials) {
        return Base64.getEncoder().encodeToString(credentials.getBytes(StandardCharsets.UTF_8));
    }

    private void refusedVault(String description) throws Exception {
        refused(calling("Vault", "open"), false, "Client.Authentication", description);
    }

    private Object call(String service, String method, Object... arguments) throws Exception {
        return acknowledged(calling(service, method, arguments), false).getBody();
    }

    private static RemotingMessage calling(String service, String method, Object... arguments) {
        RemotingMessage call = new RemotingMessage();
        call.setDestination(service);
        call.setOperation(method);
        call.setParameters(Arrays.asList(arguments));
        return call;
    }

    private AcknowledgeMessage acknowledged(Message message, boolean isSmall) throws Exception {
        AcknowledgeMessage answer = (AcknowledgeMessage) send(message, isSmall);
        Comparison.same(AcknowledgeMessage.class, answer.getClass());
        answers(message, answer);
        if (id == null) {
            id = (String) answer.getHeader(Message.FLEX_CLIENT_ID_HEADER);
        }
        return answer;
    }

    private Object send(Message message, boolean isSmall) throws Exception {
        identify(message);
        return connection.call("null", isSmall ? small(message) : message);
    }

    private void refused(Message message, boolean isSmall, String code, String description) throws Exception {
        try {
            send(message, isSmall);
        } catch (ServerStatusException fault) {
            ErrorMessage error = (ErrorMessage) fault.getData();
            Comparison.same(code, error.faultCode);
            Comparison.same(description, error.faultString);
            answers(message, error);
            return;
        }
        throw new AssertionError("no fault " + code);
    }

    /** What each answer has, so that its client knows whose it is. */
    private static void answers(Message message, AcknowledgeMessage answer) {
        Comparison.same(message.getMessageId(), answer.getCorrelationId());
        Comparison.same(message.getDestination(), answer.getDestination());
        Comparison.check(UUIDUtils.isUID(answer.getMessageId()), answer.getMessageId() + " is no id");
        Comparison.check(UUIDUtils.isUID((String) answer.getClientId()), answer.getClientId() + " is no id");
        Comparison.check(answer.getTimestamp() > 1_700_000_000_000L, "it is of " + answer.getTimestamp());
        Comparison.check(answer.getHeaders() != null, "no headers");
    }

    private void identify(Message message) {
        message.setMessageId(newId());
        message.setHeader(Message.FLEX_CLIENT_ID_HEADER, id == null ? "nil" : id);
    }

    private static String newId() {
        return UUID.randomUUID().toString().toUpperCase();
    }
}

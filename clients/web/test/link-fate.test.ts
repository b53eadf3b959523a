// What becomes of questions when a link is lost, and of answers that another link does not carry.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "../src/link/address.js";
import { connect } from "../src/link/connect.js";
import { LinkError, type Fate } from "../src/link/error.js";
import type { Frame } from "../src/link/frame.js";
import { bytesOf, end, flushed, hello, payloadOf, reporting } from "./link-by-hand.js";

/** A socket whose network takes no byte but what the test lets go. */
class SlowSocket {
    static last: SlowSocket;
    readonly CONNECTING = 0;
    readonly OPEN = 1;
    readyState = 1;
    binaryType = "";
    bufferedAmount = 0;
    onmessage: ((event: { data: unknown }) => void) | null = null;
    onclose: ((event: { code: number; reason: string; wasClean: boolean }) => void) | null = null;

    constructor() {
        SlowSocket.last = this;
    }

    send(data: string | Uint8Array): void {
        this.bufferedAmount += typeof data === "string" ? new TextEncoder().encode(data).length : data.byteLength;
    }

    close(): void {
        this.readyState = 3;
    }
}

async function fateOf(answer: Promise<unknown>): Promise<Fate> {
    const error: unknown = await answer.then(() => undefined, (error: unknown) => error);
    assert.ok(error instanceof LinkError);
    return error.fate;
}

test("a question that went before a long call is not said to be unsent when the call is stuck", async () => {
    const opening = connect("ws://server/link/x", { webSocket: SlowSocket as unknown as new () => WebSocket });
    const socket = SlowSocket.last;
    socket.onmessage?.({ data: bytesOf(hello()).slice().buffer });
    const link = await opening;
    const asking = (reply: Reply<unknown>): unknown => ({ ask: reply });
    const gone = fateOf(link.root.ask(asking));
    await flushed();
    // All of it has left this machine.
    socket.bufferedAmount = 0;
    const before = fateOf(link.root.ask(asking));
    const call = link.call("Files.put", ["ü".repeat(1 << 20)]).catch(() => {});
    const behind = fateOf(link.root.ask(asking));
    await flushed();
    // The one that was asked before the call has gone, too, and a part of the call.
    const waiting = socket.bufferedAmount;
    assert.ok(waiting > 1 << 21);
    socket.bufferedAmount = waiting - (1 << 20);
    socket.onclose?.({ code: 1006, reason: "", wasClean: false });
    assert.deepEqual(await Promise.all([gone, before, behind]), ["unknown", "unknown", "not begun"]);
    await call;
});

test("a call behind more than is kept for the server is told so", async () => {
    const opening = connect("ws://server/link/x", { webSocket: SlowSocket as unknown as new () => WebSocket, mostUnread: 1000 });
    SlowSocket.last.onmessage?.({ data: bytesOf(hello()).slice().buffer });
    const link = await opening;
    link.root.tell({ text: "x".repeat(2000) });
    await assert.rejects(link.call("Sums.add", [1, 2]), (error) => error instanceof LinkError && error.code === "ended" && /does not read/.test(error.message));
});

test("an answer that another link does not carry keeps up nothing that comes behind it", async () => {
    await reporting(async (reported) => {
        const one = end();
        one.core.receive(bytesOf(hello()));
        const narrow = end();
        narrow.core.receive(bytesOf(hello(64)));
        // The narrow link asks an actor here, which passes the reply on to the other link.
        const [root] = one.roots;
        const [asker] = narrow.roots;
        assert.ok(root !== undefined && asker !== undefined);
        const { OwnAddress } = await import("../src/link/own.js");
        const passing = new OwnAddress<Reply<unknown>>((reply) => root.tell({ ask: reply }), 8);
        asker.tell({ at: passing });
        await flushed();
        const offered = narrow.sent.flatMap((frame) => (frame.kind === "tell" ? frame.body.exports : []))[0];
        assert.ok(offered !== undefined);
        narrow.core.receive(bytesOf({ kind: "tell", number: offered.actor, body: { replies: [1], exports: [], payload: payloadOf({ $reply: 1 }) } }));
        await flushed();
        const asked = one.sent.flatMap((frame) => (frame.kind === "tell" ? frame.body.replies : []))[0];
        assert.ok(asked !== undefined);
        const heard: unknown[] = [];
        const behind = root.ask((reply) => ({ ask: reply })).then((answer) => heard.push(answer));
        await flushed();
        const body = (value: unknown): Frame & { kind: "answer" } => ({ kind: "answer", number: asked, body: { replies: [], exports: [], payload: payloadOf(value) } });
        one.core.receive(bytesOf(body("x".repeat(100)), { ...body(7), number: asked + 1 }));
        await behind;
        assert.deepEqual(heard, [7]);
        assert.ok(narrow.sent.some((frame) => frame.kind === "failed" && frame.number === 1), "the one who asks is told");
        assert.equal(reported.length, 1);
        assert.ok(reported[0] instanceof LinkError && reported[0].code === "too-large");
    });
});

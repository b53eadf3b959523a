// A page's end of a link against a real gateway: actors that it calls, and actors of its own that call back.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { after, before, describe, test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { Address, connect, LinkError, type Fate, type Link, type LinkErrorCode, type Place, type Reply } from "../src/link.js";
import { LinkServer, program, type Count, type Question } from "./link-server.js";

/** That it fails so. */
async function fails(promise: Promise<unknown>, code: LinkErrorCode, words: RegExp, fate?: Fate): Promise<void> {
    await assert.rejects(promise, (error) => {
        assert.ok(error instanceof LinkError, String(error));
        assert.equal(error.code, code, error.message);
        assert.match(error.message, words);
        if (fate !== undefined) assert.equal(error.fate, fate, error.message);
        return true;
    });
}

function refuses(tell: () => void, code: LinkErrorCode, words: RegExp): void {
    assert.throws(tell, (error) => error instanceof LinkError && error.code === code && words.test(error.message));
}

const guide = readFileSync(new URL("../../../../docs/src/gateway/pages.md", import.meta.url), "utf8");

test("the guide names every code of an error", () => {
    const declared = readFileSync(new URL("../../src/link/error.ts", import.meta.url), "utf8");
    const codes = Array.from(declared.matchAll(/^ {4}\| "([a-z-]+)"/gm), ([, code]) => code).sort();
    assert.ok(codes.length >= 10);
    const rows = Array.from(guide.slice(guide.indexOf("## When it ends"), guide.indexOf("## What holds")).matchAll(/^\| (`.+?) \|/gm), ([, row]) => row ?? "");
    const named = rows.flatMap((row) => Array.from(row.matchAll(/`([a-z-]+)`/g), ([, code]) => code)).filter((code) => code !== "code");
    assert.deepEqual(named.sort(), codes);
});

test("a server that is not there is said to be so", async () => {
    // A port at which no program listens any more.
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve));
    const { port } = taken.address() as AddressInfo;
    await new Promise((resolve) => taken.close(resolve));
    await fails(connect(`http://127.0.0.1:${port}/link/none`), "connect", /there is no link to ws:\/\/127\.0\.0\.1:\d+\/link\/none: the other side is gone: the server is not there/);
    await fails(connect("/link/none"), "connect", /is no URL/);
});

test("a server that says nothing is given up", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => sockets.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    await fails(connect(`ws://127.0.0.1:${port}/`, { timeout: 20 }), "connect", /it was not there within 20 ms/);
    const unhurried = connect(`ws://127.0.0.1:${port}/`, { timeout: Infinity }).then(String, String);
    assert.equal(await Promise.race([unhurried, new Promise((resolve) => setTimeout(resolve, 20))]), undefined);
    silent.close();
    for (const socket of sockets) socket.destroy();
    assert.match(String(await unhurried), /there is no link to/);
});

describe("against a gateway", { skip: program === undefined && "name the program link_server in TAMTAM_LINK_SERVER" }, () => {
    let server: LinkServer;
    const links: Link<Count>[] = [];
    before(async () => (server = await LinkServer.start()));
    after(async () => {
        for (const link of links) link.close();
        await server.stop();
    });

    async function open(name = "counter", token?: string): Promise<Link<Count>> {
        const link = await connect<Count>(`${server.url}/link/${name}`, token === undefined ? {} : { token });
        links.push(link);
        return link;
    }

    const total = (actor: Address<Count>): Promise<number> => actor.ask<number>((reply) => ({ Total: reply }));

    test("a page tells and asks", async () => {
        const { root } = await open();
        for (let number = 1; number <= 1_000; number++) root.tell({ Add: number });
        assert.equal(await total(root), 500_500);
        root.tell("Reset");
        assert.equal(await root.ask<number>((reply) => ({ Total: reply }), { timeout: 60_000 }), 0);
        // A question goes in the order of what is told.
        root.tell({ Add: 1 });
        const between = total(root);
        root.tell({ Add: 2 });
        assert.equal(await between, 1);
        root.tell("Reset");
        const all = Array.from({ length: 1_000 }, () => total(root));
        assert.deepEqual(new Set(await Promise.all(all)), new Set([0]));
    });

    test("a page calls methods and listens beside its link", async () => {
        const link = await open();
        assert.equal(await link.call<number>("Sums.add", [40, 2]), 42);
        const heard: [number, Place][] = [];
        let wakes = (): void => {};
        const subscription = await link.subscribe<number>("Sums.last", (value, place) => {
            heard.push([value, place]);
            wakes();
        });
        // The value that the property had is the first.
        while (heard.length === 0) await new Promise<void>((resolve) => (wakes = resolve));
        assert.equal(heard[0]?.[0], 42);
        link.root.tell({ Add: 7 });
        assert.equal(await link.call("Sums.add", [1, 2]), 3);
        while (heard.at(-1)?.[0] !== 3) await new Promise<void>((resolve) => (wakes = resolve));
        assert.ok(heard.at(-1)![1].number > subscription.number);
        const rest = await subscription.unsubscribe();
        assert.ok(rest.number >= heard.at(-1)![1].number);
        await link.call("Sums.add", [5, 5]);
        assert.equal(heard.at(-1)?.[0], 3);
        assert.equal(await total(link.root), 7);

        await assert.rejects(link.call("Sums.add", [2 ** 62, 2 ** 62]), (error) => {
            assert.ok(error instanceof LinkError);
            assert.deepEqual([error.code, error.fault?.code], ["fault", "Sums.TooLarge"]);
            return true;
        });
        await fails(link.call("Sums.none"), "fault", /none/);
        await fails(link.subscribe("Sums.none", () => {}), "fault", /none/);
        await fails(link.call("Sums.slow", [], { timeout: 20 }), "timed-out", /within 20 ms/, "unknown");
        const given = new AbortController();
        const called = link.call("Sums.slow", [], { signal: given.signal });
        given.abort();
        await fails(called, "cancelled", /given the question up/, "unknown");
        await fails(link.call("Sums.slow", [], { signal: given.signal }), "cancelled", /given/, "not begun");
        await fails(link.call("Sums.add", [1n, 2n]), "not-encodable", /Sums\.add/, "not begun");
        const pending = link.call("Sums.slow");
        link.close();
        await fails(pending, "ended", /closed here; whether the method was called is not known/, "unknown");
        await fails(link.call("Sums.add", [1, 2]), "ended", /closed here/, "not begun");
    });

    test("each page has an actor of its own, or all have one", async () => {
        const [one, other, shared, same] = [await open(), await open(), await open("shared"), await open("shared")];
        one.root.tell({ Add: 1 });
        shared.root.tell({ Add: 5 });
        assert.deepEqual([await total(one.root), await total(other.root)], [1, 0]);
        assert.equal(await total(shared.root), 5);
        assert.equal(await total(same.root), 5);
    });

    test("an actor tells the page, in order", async () => {
        const link = await open();
        const heard: number[] = [];
        let enough = (): void => {};
        const all = new Promise<void>((resolve) => (enough = resolve));
        const watcher = link.export<number>((sum) => {
            heard.push(sum);
            if (heard.length === 1_000) enough();
        });
        link.root.tell({ Watch: watcher });
        for (let number = 0; number < 1_000; number++) link.root.tell({ Add: 1 });
        await all;
        assert.deepEqual(heard, Array.from({ length: 1_000 }, (_, at) => at + 1));
    });

    test("an actor asks the page, whose handler may take its time", async () => {
        const link = await open();
        const order: string[] = [];
        const page = link.export<Question>(async ({ text, reply }) => {
            order.push(`begins ${text}`);
            await new Promise((resolve) => setImmediate(resolve));
            order.push(`ends ${text}`);
            reply.send(text.toUpperCase());
            assert.throws(() => reply.send("again"), /the reply has been used/);
        });
        const ask = (text: string): Promise<string> => link.root.ask<string>((reply) => ({ AskBack: { page, text, reply } }));
        assert.deepEqual(await Promise.all([ask("drum"), ask("flute")]), ["DRUM", "FLUTE"]);
        assert.deepEqual(order, ["begins drum", "ends drum", "begins flute", "ends flute"]);
    });

    test("a handler of the page that throws is told to the one who asks, and goes on", async () => {
        const link = await open();
        const reported: unknown[] = [];
        const globals = globalThis as { reportError?: (error: unknown) => void };
        const { reportError } = globals;
        globals.reportError = (error) => void reported.push(error);
        try {
            const page = link.export<Question>(({ text, reply }) => {
                if (text === "ink") throw new Error("no more ink");
                if (text === "drop") return reply.drop();
                reply.send(text);
            });
            const ask = (text: string): Promise<string> => link.root.ask<string>((reply) => ({ AskBack: { page, text, reply } }));
            assert.match(await ask("ink"), /^error: .*no more ink/);
            assert.match(await ask("drop"), /^error: /);
            assert.equal(await ask("paper"), "paper");
            assert.equal(reported.length, 1);
        } finally {
            if (reportError === undefined) delete globals.reportError;
            else globals.reportError = reportError;
        }
    });

    test("an address that is sent leads to an actor, until it is released", async () => {
        const { root } = await open();
        const child = await root.ask<Address<Count>>((reply) => ({ Spawn: reply }));
        assert.ok(child instanceof Address);
        child.tell({ Add: 7 });
        assert.equal(await total(child), 7);
        assert.equal(await total(root), 0);
        const { ended } = child;
        child.release();
        refuses(() => child.tell({ Add: 1 }), "used", /the address was released/);
        assert.deepEqual(await ended, { why: "no addresses" });
    });

    test("an address that is forgotten is released", async () => {
        const { root } = await open();
        setFlagsFromString("--expose-gc");
        const collect = runInNewContext("gc") as () => void;
        let isEnded = false;
        // Not kept by the frame of this function.
        await (async () => {
            const child = await root.ask<Address<Count>>((reply) => ({ Spawn: reply }));
            void child.ended.then(() => (isEnded = true));
        })();
        while (!isEnded) {
            collect();
            await total(root);
        }
    });

    test("a reply that is forgotten is an answer that does not come", async () => {
        const link = await open();
        setFlagsFromString("--expose-gc");
        const collect = runInNewContext("gc") as () => void;
        const page = link.export<Question>(() => {});
        let said: string | undefined;
        void link.root.ask<string>((reply) => ({ AskBack: { page, text: "", reply } })).then((text) => (said = text));
        while (said === undefined) {
            collect();
            await total(link.root);
        }
        assert.match(said, /^error: /);
    });

    test("the address of an actor of the page comes back as the same", async () => {
        const link = await open();
        const heard: number[] = [];
        const own = link.export<number>((number) => void heard.push(number));
        const back = await link.root.ask<Address<number>>((reply) => ({ Back: [own, reply] }));
        assert.equal(back, own);
        back.tell(3);
        assert.deepEqual(heard, [3]);
    });

    test("a reply may be passed on, by the actor and by the page", async () => {
        const link = await open();
        const answering = link.export<Reply<number>>((reply) => reply.send(11));
        assert.equal(await link.root.ask<number>((reply) => ({ Forward: [answering, reply] })), 11);
        const passing = link.export<Reply<number>>((reply) => link.root.tell({ Total: reply }));
        link.root.tell({ Add: 4 });
        assert.equal(await link.root.ask<number>((reply) => ({ Forward: [passing, reply] })), 4);
    });

    test("whatever JSON has comes back", async () => {
        const { root } = await open();
        const echo = (value: unknown): Promise<unknown> => root.ask((reply) => ({ Echo: [value, reply] }));
        for (const value of [null, true, 0, -1.5, 1e300, Number.MAX_SAFE_INTEGER, "", "\u0000\u2028🥁\"\\", [], [[{}]], { a: [1, { b: null }] }, { $reply: "7", $address: [0] }]) {
            assert.deepEqual(await echo(value), value);
        }
        // What looks like an address or a reply, and was not sent as one, is what it is.
        for (const value of [{ $reply: 4711 }, { $address: [0, 4711] }, [{ $address: [1, 4711] }]]) assert.deepEqual(await echo(value), value);
        assert.deepEqual(await echo(Uint8Array.of(0, 255)), [0, 255]);
        assert.deepEqual(await echo({ gone: undefined }), {});
        refuses(() => root.tell({ Echo: [1n, undefined] } as unknown as Count), "not-encodable", /BigInt/);
        refuses(() => root.tell(undefined as unknown as Count), "not-encodable", /undefined/);
    });

    test("what the actor cannot read is an error at the one who asks, and ends nothing", async () => {
        const { root } = await open();
        await fails(root.ask((reply) => ({ Unknown: reply }) as unknown as Count), "not-decodable", /unknown variant `Unknown`/, "not begun");
        const kept: unknown[] = [];
        const without = (reply: unknown): Count => {
            kept.push(reply);
            return { Total: 7 } as unknown as Count;
        };
        await fails(root.ask(without, { timeout: 50 }), "timed-out", /no answer within 50 ms/);
        assert.equal(kept.length, 1);
        await fails(root.ask((reply) => ({ Echo: [{}, { more: reply }] }) as unknown as Count), "not-decodable", /line 1/, "not begun");
        assert.equal(await total(root), 0);
    });

    test("a question that gets no answer says why", async () => {
        const { root } = await open();
        await fails(root.ask<number>((reply) => ({ Drop: reply })), "unanswered", /dropped unanswered/, "begun");
        await fails(root.ask<number>((reply) => ({ Refuse: ["the drum is sold", reply] })), "refused", /^the drum is sold$/, "begun");
        await fails(root.ask<number>((reply) => ({ Keep: reply }), { timeout: 30 }), "timed-out", /no answer within 30 ms/, "unknown");
        const control = new AbortController();
        const given = fails(root.ask<number>((reply) => ({ Keep: reply }), { signal: control.signal }), "cancelled", /given the question up/);
        control.abort();
        await given;
        await fails(root.ask<number>((reply) => ({ Keep: reply }), { signal: AbortSignal.abort() }), "cancelled", /given the question up/);
        // Its answer comes nevertheless, with an address; the link goes on.
        const late = new AbortController();
        const spawned = fails(root.ask((reply) => ({ Spawn: reply as Reply<Address<Count>> }), { signal: late.signal }), "cancelled", /given the question up/, "unknown");
        late.abort();
        await spawned;
        assert.equal(await total(root), 0);
        const kept = fails(root.ask<number>((reply) => ({ Keep: reply })), "panicked", /its handler panicked/, "begun");
        root.tell({ Fail: "the secret of the house" });
        await kept;
        assert.deepEqual(await root.ended, { why: "panicked", text: "its handler panicked" });
        refuses(() => root.tell({ Add: 1 }), "stopped", /the actor has ended: it panicked/);
        await fails(total(root), "stopped", /the actor has ended/);
    });

    test("an actor that stops is told of", async () => {
        const { root } = await open();
        root.tell("Stop");
        assert.deepEqual(await root.ended, { why: "stopped" });
        assert.deepEqual(await root.ended, { why: "stopped" });
    });

    test("an actor of the page that ends is told to those who ask it", async () => {
        const link = await open();
        const page = link.export<Question>(({ reply }) => reply.send("here"));
        const ask = (): Promise<string> => link.root.ask<string>((reply) => ({ AskBack: { page, text: "", reply } }));
        assert.equal(await ask(), "here");
        page.release();
        assert.deepEqual(await page.ended, { why: "stopped" });
        await fails(ask(), "stopped", /of this page that stands in it has ended/);
    });

    test("what is too large comes back", async () => {
        const { root } = await open();
        refuses(() => root.tell({ Fail: "x".repeat(300_000) }), "too-large", /it takes 30\d+ bytes, and the link carries 262144 at once/);
        await fails(root.ask((reply) => ({ Echo: ["x".repeat(300_000), reply] })), "too-large", /carries 262144/, "not begun");
        assert.equal(await root.ask((reply) => ({ Echo: ["x".repeat(200_000), reply] })), "x".repeat(200_000));
        assert.equal(await total(root), 0);
    });

    test("a mailbox with room for two holds the page back", async () => {
        const link = await open("patient");
        link.root.tell({ Add: 1 });
        link.root.tell({ Add: 1 });
        assert.equal(link.unconfirmed, 2);
        refuses(() => link.root.tell({ Add: 1 }), "full", /takes no more than 2 messages/);
        await link.root.room();
        link.root.tell({ Add: 1 });
        for (let number = 0; number < 500; number++) {
            await link.root.room();
            link.root.tell({ Add: 1 });
        }
        const asked = Array.from({ length: 100 }, () => total(link.root));
        assert.deepEqual(new Set(await Promise.all(asked)), new Set([503]));
        // The last one is confirmed behind its answer.
        while (link.unconfirmed > 0) await new Promise((resolve) => setImmediate(resolve));
    });

    test("an actor of the page holds the server back", async () => {
        const link = await open();
        let waits = 0;
        let heard = 0;
        let enough = (): void => {};
        const all = new Promise<void>((resolve) => (enough = resolve));
        const slow = link.export<number>(
            async (number) => {
                assert.equal(number, heard);
                // No more than the window wait here, the one at hand among them.
                waits++;
                await new Promise((resolve) => setImmediate(resolve));
                waits--;
                heard++;
                if (heard === 2_000) enough();
            },
            { window: 4 },
        );
        link.root.tell({ Flood: [slow, 2_000] });
        await all;
        assert.equal(waits, 0);
    });

    test("a page without the token is told so", async () => {
        await fails(open("closed"), "connect", /the other side has closed the link: send the token/);
        await fails(open("closed", "let me out"), "connect", /the token is wrong/);
        await fails(open("none"), "connect", /there is no link "none"/);
        const link = await open("closed", "let me in");
        assert.equal(typeof (await total(link.root)), "number");
        await fails(open("closed", "péché 🥁"), "connect", /the token is wrong/);
    });

    test("a link that is closed here says so to all who wait", async () => {
        const link = await open();
        const kept = fails(link.root.ask<number>((reply) => ({ Keep: reply })), "ended", /the link was closed here; whether the question was handled is not known/, "unknown");
        link.close();
        link.close();
        await kept;
        assert.deepEqual(await link.ended, { how: "closed", text: "it was closed here" });
        assert.equal((await link.root.ended).why, "link lost");
        refuses(() => link.root.tell({ Add: 1 }), "ended", /the link was closed here/);
        await fails(total(link.root), "ended", /the link was closed here/, "not begun");
    });

    test("what was told before a link is closed still goes", async () => {
        const [link, shared] = [await open("shared"), await open("shared")];
        const before = await total(shared.root);
        for (let number = 0; number < 100; number++) link.root.tell({ Add: 1 });
        link.close();
        while ((await total(shared.root)) < before + 100);
    });

    test("the guide's code does what it says", async () => {
        const [code, ...more] = Array.from(guide.matchAll(/^```js\n([\s\S]*?)^```$/gm), ([, code]) => code);
        assert.ok(code !== undefined && more.length === 0);
        const folder = new URL("guide/", import.meta.url);
        mkdirSync(folder, { recursive: true });
        const file = new URL("link.mjs", folder);
        assert.ok(code.includes('"@tamtam/web/link"'));
        writeFileSync(file, code.replaceAll('"@tamtam/web/link"', JSON.stringify(new URL("../src/link.js", import.meta.url).href)));
        const own = await LinkServer.start();
        const shown: string[] = [];
        let told = (): void => {};
        const globals = globalThis as unknown as { location?: { href: string }; show?: (text: string) => void };
        globals.location = { href: `${own.url}/` };
        globals.show = (text) => {
            shown.push(text);
            told();
        };
        try {
            const sum = new Promise<void>((resolve) => (told = () => shown.length === 2 && resolve()));
            await import(file.href);
            await sum;
            assert.deepEqual(shown, ["the total is 3", "now it is 7"]);
            const end = new Promise<void>((resolve) => (told = resolve));
            await own.stop();
            await end;
            assert.equal(shown[2], "the link has ended: the server ends");
        } finally {
            delete globals.location;
            delete globals.show;
        }
    });

    test("a server that stops says so, and one that is killed is noticed", async () => {
        for (const isKilled of [false, true]) {
            const own = await LinkServer.start();
            const link = await connect<Count>(`${own.url}/link/counter`);
            const kept = fails(link.root.ask<number>((reply) => ({ Keep: reply })), "ended", isKilled ? /the other side is gone/ : /the server ends/);
            assert.equal(await total(link.root), 0);
            await (isKilled ? own.kill() : own.stop());
            await kept;
            const end = await link.ended;
            assert.equal(end.how, isKilled ? "lost" : "goodbye");
        }
    });
});

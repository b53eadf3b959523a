// Who waits for an actor that takes no more messages for now, and who gives that up.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Address, Reply } from "../src/link/address.js";
import { LinkError } from "../src/link/error.js";
import { after } from "../src/link/patience.js";
import { bytesOf, end } from "./link-by-hand.js";

/** An actor that takes so many messages, what it was told, and how it is done with them. */
function actor(window: number): { root: Address<unknown>; told: () => string[]; confirm: (count: number) => void; unconfirmed: () => number } {
    const { core, sent, roots } = end();
    core.receive(bytesOf({ kind: "hello", most: 1 << 20, encoding: 1, program: "", root: { type: "", window } }));
    const told = (): string[] => sent.flatMap((frame) => (frame.kind === "tell" ? [Object.keys(JSON.parse(new TextDecoder().decode(frame.body.payload)) as object).join()] : []));
    const [root] = roots;
    assert.ok(root !== undefined);
    return { root, told, confirm: (count) => core.receive(bytesOf({ kind: "confirm", number: 0, count })), unconfirmed: () => core.unconfirmed };
}

const asking = (name: string) => (reply: Reply<unknown>): unknown => ({ [name]: reply });
const soon = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 5));

test("a question that was given up while it waited for room does not take the room of the next", async () => {
    const { root, told, confirm } = actor(1);
    void root.ask(asking("first"));
    const gaveUp = new AbortController();
    const second = root.ask(asking("second"), { timeout: 1 });
    const third = root.ask(asking("third"), { signal: gaveUp.signal });
    void root.ask(asking("fourth"));
    await assert.rejects(second, (error) => error instanceof LinkError && error.code === "timed-out" && error.fate === "not begun");
    gaveUp.abort();
    await assert.rejects(third, (error) => error instanceof LinkError && error.code === "cancelled");
    confirm(1);
    await soon();
    assert.deepEqual(told(), ["first", "fourth"]);
});

test("a question that cannot be sent when there is room does not take it from the next", async () => {
    const { root, told, confirm } = actor(1);
    void root.ask(asking("first"));
    const huge = root.ask((reply) => ({ huge: ["x".repeat(1 << 20), reply] }));
    void root.ask(asking("last"));
    confirm(1);
    await assert.rejects(huge, (error) => error instanceof LinkError && error.code === "too-large");
    await soon();
    assert.deepEqual(told(), ["first", "last"]);
});

test("room that was waited for and not used is there for the next", async () => {
    const { root, told, confirm } = actor(1);
    root.tell({ first: 0 });
    const unused = root.room();
    const used = root.room().then(() => root.tell({ second: 0 }));
    void root.ask(asking("third"));
    confirm(1);
    await Promise.all([unused, used]);
    confirm(1);
    await soon();
    assert.deepEqual(told(), ["first", "second", "third"]);
});

test("no more are told of room than there is room for", async () => {
    const { root, told, confirm, unconfirmed } = actor(2);
    const failed: unknown[] = [];
    root.tell({ first: 0 });
    root.tell({ second: 0 });
    const names = Array.from({ length: 20 }, (_, number) => `n${number}`);
    // Each tells in the turn in which it was told of room: none of them finds the actor full.
    const tellers = names.map((name) => root.room().then(() => root.tell({ [name]: 0 })).catch((error: unknown) => failed.push(error)));
    for (let done = false; !done; ) {
        await soon();
        done = told().length === names.length + 2;
        assert.ok(unconfirmed() <= 2);
        confirm(unconfirmed());
    }
    await Promise.all(tellers);
    assert.deepEqual([failed, told()], [[], ["first", "second", ...names]]);
});

test("an actor that ends lets no one wait for room", async () => {
    const { core, roots } = end();
    core.receive(bytesOf({ kind: "hello", most: 1 << 20, encoding: 1, program: "", root: { type: "", window: 1 } }));
    const [root] = roots;
    root?.tell(0);
    const waiting = [root?.room(), root?.ask(asking("question"))];
    core.receive(bytesOf({ kind: "ended", number: 0, end: { why: "stopped" } }));
    for (const each of waiting) await assert.rejects(each ?? Promise.resolve(), (error) => error instanceof LinkError && error.code === "stopped");
});

test("a question may wait for any time, however it is said", async () => {
    const { root, told } = actor(0);
    const given = new AbortController();
    const { signal } = given;
    const asked = [Infinity, 2 ** 31, 1e300].map((timeout) => root.ask(asking(`within${timeout}`), { timeout, signal }));
    const first = await Promise.race([...asked.map((answer) => answer.then(String, String)), soon().then(soon)]);
    assert.equal(first, undefined);
    assert.equal(told().length, 3);
    // No timer is left, or this program would not end for weeks.
    given.abort();
    for (const answer of asked) await assert.rejects(answer, (error) => error instanceof LinkError && error.code === "cancelled");
});

test("a wait of more milliseconds than a timer counts is over when they are", (context) => {
    context.mock.timers.enable({ apis: ["setTimeout"] });
    const over: string[] = [];
    after(2 ** 31 + 1_000, () => over.push("long"));
    const stop = after(2 ** 31 + 1_000, () => over.push("stopped"));
    context.mock.timers.tick(2 ** 31 - 1);
    stop();
    context.mock.timers.tick(1_000);
    assert.deepEqual(over, []);
    context.mock.timers.tick(1);
    assert.deepEqual(over, ["long"]);
});

// Actors of a page, and what the page itself tells and asks them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { Reply } from "../src/link/address.js";
import { LinkError } from "../src/link/error.js";
import { OwnAddress } from "../src/link/own.js";
import { bytesOf, end, hello, reporting } from "./link-by-hand.js";

test("a window that cannot be written is refused, and one without an end is none", () => {
    for (const window of [-1, 1.5, NaN, 2 ** 53, -Infinity, "8" as unknown as number]) {
        assert.throws(() => new OwnAddress(() => {}, window), (error) => error instanceof RangeError && error.message.includes(`a window of ${window}: `));
    }
    for (const [window, written] of [[Infinity, 0], [0, 0], [1, 1], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]] as const) {
        const page = new OwnAddress(() => {}, window);
        assert.equal(page.window, written);
        const { core, sent, roots } = end();
        core.receive(bytesOf(hello()));
        roots[0]?.tell({ at: page });
        core.flush();
        assert.deepEqual(sent.flatMap((frame) => (frame.kind === "tell" ? frame.body.exports : [])), [{ actor: 1, window: written }]);
    }
});

/** That a question fails so, at the latest when the engine has collected what is forgotten. */
async function isUnanswered(answer: Promise<unknown>): Promise<void> {
    setFlagsFromString("--expose-gc");
    const collect = runInNewContext("gc") as () => void;
    let error: unknown;
    void answer.catch((thrown: unknown) => (error = thrown));
    // The engine may take some rounds; where the reply is kept no number is enough.
    for (let round = 0; round < 500 && error === undefined; round++) {
        collect();
        await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(error instanceof LinkError && error.code === "unanswered", String(error));
}

const asking = (reply: Reply<unknown>): unknown => ({ ask: reply });

test("a reply that an actor of the page forgets is an answer that does not come, also to the page", async () => {
    const heard: string[] = [];
    const page = new OwnAddress<unknown>((message) => void heard.push(Object.keys(message as object).join()), 8);
    await isUnanswered(page.ask(asking));
    assert.deepEqual(heard, ["ask"]);
});

test("a page that asks its own actor is told what the handler throws", async () => {
    await reporting(async (reported) => {
        const page = new OwnAddress<unknown>(() => {
            throw new Error("no more ink");
        }, 8);
        await assert.rejects(page.ask(asking), (error) => error instanceof LinkError && error.code === "panicked" && error.message === "no more ink");
        assert.equal(reported.length, 1);
    });
});

test("a page that asks its own actor is told that this has ended", async () => {
    let go = (): void => {};
    const page = new OwnAddress<unknown>(() => new Promise<void>((resolve) => (go = resolve)), 8);
    page.tell("first");
    const waiting = page.ask(asking);
    page.release();
    const hasStopped = (error: unknown): boolean => error instanceof LinkError && error.code === "stopped" && error.fate === "not begun";
    await assert.rejects(waiting, hasStopped);
    await assert.rejects(page.ask(asking), hasStopped);
    go();
});

test("a page that has its answer hears no more of that question", async () => {
    await reporting(async (reported) => {
        const page = new OwnAddress<{ ask: Reply<number> }>(({ ask }) => {
            ask.send(7);
            throw new Error("too late");
        }, 8);
        assert.equal(await page.ask<number>((reply) => ({ ask: reply })), 7);
        assert.equal(reported.length, 1);
    });
});

test("an actor of the page whose handler throws what has no text goes on", async () => {
    await reporting(async (reported) => {
        const page = new OwnAddress<{ ask: Reply<number> }>(({ ask }) => {
            if (reported.length === 0) throw Object.create(null);
            ask.send(7);
        }, 8);
        const asked = (): Promise<number> => page.ask<number>((reply) => ({ ask: reply }));
        await assert.rejects(asked(), (error) => error instanceof LinkError && error.code === "panicked" && error.message === "what was thrown cannot be said in words");
        assert.equal(await asked(), 7);
    });
});

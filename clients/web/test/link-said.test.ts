// What is said for people over a link, in frames that the other side takes.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Reply } from "../src/link/address.js";
import { Output } from "../src/link/bytes.js";
import { writeWithin } from "../src/link/cut.js";
import { LENGTH, read, type End, type Failure, type Frame } from "../src/link/frame.js";
import { OwnAddress, type Handler } from "../src/link/own.js";
import { bytesOf, end, flushed, hello, payloadOf, reporting } from "./link-by-hand.js";

/** What the other side takes before its hello, and at least. */
const LEAST = 2_048;
const long = 100_000;

const lengthOf = (frame: Frame): number => bytesOf(frame).length - LENGTH;

/** What the other side, which takes frames of so many bytes, is told of a question to an actor of the page. */
async function failed(most: number, handler: Handler<Reply<unknown>>): Promise<Frame & { kind: "failed" }> {
    const { core, sent, roots } = end();
    core.receive(bytesOf(hello(most)));
    const page = new OwnAddress(handler, 8);
    roots[0]?.tell({ at: page });
    core.receive(bytesOf({ kind: "tell", number: 1, body: { replies: [1], exports: [], payload: payloadOf({ $reply: 1 }) } }));
    await flushed();
    const frame = sent.find(({ kind }) => kind === "failed");
    assert.ok(frame?.kind === "failed");
    return frame;
}

/** That it is the beginning of a text, by whole characters. */
function isCut(said: string, whole: string): void {
    assert.ok(said.endsWith("…"));
    assert.ok(whole.startsWith(said.slice(0, -1)));
    assert.equal(Buffer.from(said).toString(), said);
}

test("a long error that a handler throws is cut, and does not end the link", async () => {
    await reporting(async () => {
        for (const most of [LEAST, 5_000]) {
            for (const letter of ["x", "é", "…", "🥁"]) {
                // Wherever the cut falls into a character.
                for (let before = 0; before < 4; before++) {
                    const whole = "-".repeat(before) + letter.repeat(long);
                    const frame = await failed(most, () => {
                        throw new Error(whole);
                    });
                    assert.ok(frame.failure.why === "panicked");
                    isCut(frame.failure.text, whole);
                    const length = lengthOf(frame);
                    assert.ok(length <= most && length > most - 64, `${length} bytes of ${most}`);
                }
            }
        }
    });
});

test("a long reason of a refusal is cut", async () => {
    const whole = "é".repeat(long);
    const frame = await failed(LEAST, (reply) => reply.refuse(whole));
    assert.ok(frame.failure.why === "refused");
    isCut(frame.failure.text, whole);
    assert.ok(lengthOf(frame) <= LEAST);
});

test("a page's hello goes before the server's, and is no longer than any side takes", async () => {
    const { core, bytes, sent } = end(() => 0, "🥁".repeat(long));
    core.flush();
    const [frame] = sent;
    assert.ok(frame?.kind === "hello");
    isCut(frame.program, "🥁".repeat(long));
    assert.ok((bytes[0]?.length ?? 0) - LENGTH <= LEAST);
});

test("whatever has a text is cut to any length that a side may take", () => {
    const text = "🥁".repeat(long);
    const name = "n".repeat(1_024);
    const gaveUp: End = { why: "gave up", restarts: Number.MAX_SAFE_INTEGER, text };
    const failures: Failure[] = [
        { why: "panicked", name: "", text },
        { why: "panicked", name: text, text },
        ...(["not-decodable", "not-encodable", "too-large", "other"] as const).map((why): Failure => ({ why, fate: "begun", text })),
        { why: "refused", text },
    ];
    const ends: End[] = [
        { why: "panicked", text },
        gaveUp,
        { why: "link lost", text },
        { why: "linked", names: Array.from({ length: 64 }, () => name), end: gaveUp },
        { why: "linked", names: Array.from({ length: 64 }, () => ""), end: gaveUp },
        { why: "linked", names: [text], end: { why: "exited", code: 1 } },
    ];
    const number = Number.MAX_SAFE_INTEGER;
    const frames: Frame[] = [
        { kind: "hello", most: number, encoding: 1, program: text, root: undefined },
        { kind: "hello", most: number, encoding: 1, program: text, root: { type: text, window: number } },
        ...failures.map((failure): Frame => ({ kind: "failed", number, failure })),
        ...ends.map((end): Frame => ({ kind: "ended", number, end })),
        { kind: "goodbye", text },
    ];
    const output = new Output();
    for (const most of [LEAST, 5_000, 1 << 16]) {
        for (const frame of frames) {
            writeWithin(frame, most, output);
            const bytes = output.take();
            assert.ok(bytes.length - LENGTH <= most, `${bytes.length} bytes of ${most}`);
            // It is as long as the length before it says, of the same kind, and shows that it was cut.
            assert.equal(new DataView(bytes.buffer).getUint32(0, true), bytes.length - LENGTH);
            const cut = read(bytes.subarray(LENGTH));
            assert.equal(cut.kind, frame.kind);
            assert.ok(JSON.stringify(cut).includes("…"), JSON.stringify(cut));
        }
    }
    // What has room goes as it is.
    for (const frame of frames) {
        writeWithin(frame, lengthOf(frame), output);
        assert.deepEqual(output.take(), bytesOf(frame));
    }
});

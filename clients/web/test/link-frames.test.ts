// The bytes of a link: each golden frame of crates/tamtam-link/golden, and what is none.

import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { Output } from "../src/link/bytes.js";
import { describeEnd, errorFailure, failureError } from "../src/link/end.js";
import { LinkError } from "../src/link/error.js";
import { LENGTH, read, write, type Frame } from "../src/link/frame.js";
import { bytesOf, end } from "./link-by-hand.js";
import { Random } from "./random.js";

const folder = new URL("../../../../crates/tamtam-link/golden/", import.meta.url);
const golden = new Map(readdirSync(folder).map((name) => [name.replace(".hex", ""), new Uint8Array(Buffer.from(readFileSync(new URL(name, folder), "utf8").trim(), "hex"))]));

const payload = new TextEncoder().encode("payload");
const body = { replies: [7, 300], exports: [{ actor: 1, window: 0 }, { actor: 1, window: 0 }, { actor: Number.MAX_SAFE_INTEGER, window: 200 }], payload };
const text = "said";

/** What each golden frame says: the same list as in crates/tamtam-link/src/frame.rs. */
const said: { readonly [name: string]: Frame } = {
    "hello-1": { kind: "hello", most: 1 << 24, encoding: 0, program: "resizer", root: undefined },
    "hello-2": { kind: "hello", most: 0, encoding: 1, program: "", root: { type: "u32", window: 1000 } },
    "tell-1": { kind: "tell", number: 0, body },
    "answer-1": { kind: "answer", number: 9, body },
    "release-1": { kind: "release", number: 3, count: 2 },
    "confirm-1": { kind: "confirm", number: 3, count: 200 },
    "probe-1": { kind: "probe", number: 3, process: 2n ** 64n - 1n, wait: 7n, path: ["one", text] },
    "watch-1": { kind: "watch", number: 3 },
    "stop-1": { kind: "stop", number: 3 },
    "finish-1": { kind: "finish", number: 3 },
    "goodbye-1": { kind: "goodbye", text: "enough" },
    "descriptors-1": { kind: "descriptors", number: 300, count: 2 },
    "received-1": { kind: "received", number: 300 },
    "unwatch-1": { kind: "unwatch", number: 3 },
    "link-1": { kind: "link", link: 300n, number: 3, linker: 7, name: "linker" },
    "unlink-1": { kind: "unlink", byReader: false, link: 300n },
    "unlink-2": { kind: "unlink", byReader: true, link: 300n },
    "failed-1": { kind: "failed", number: 5, failure: { why: "unanswered" } },
    "failed-2": { kind: "failed", number: 5, failure: { why: "stopped" } },
    "failed-3": { kind: "failed", number: 5, failure: { why: "full" } },
    "failed-4": { kind: "failed", number: 5, failure: { why: "hung" } },
    "failed-5": { kind: "failed", number: 5, failure: { why: "panicked", name: "", text } },
    "failed-6": { kind: "failed", number: 5, failure: { why: "panicked", name: text, text } },
    "failed-7": { kind: "failed", number: 5, failure: { why: "not-decodable", fate: "not begun", text } },
    "failed-8": { kind: "failed", number: 5, failure: { why: "not-encodable", fate: "begun", text } },
    "failed-9": { kind: "failed", number: 5, failure: { why: "too-large", fate: "begun", text } },
    "failed-10": { kind: "failed", number: 5, failure: { why: "other", fate: "unknown", text } },
    "failed-11": { kind: "failed", number: 5, failure: { why: "exited", code: -1 } },
    "failed-12": { kind: "failed", number: 5, failure: { why: "killed", code: 9 } },
    "failed-13": { kind: "failed", number: 5, failure: { why: "refused", text } },
    "failed-14": { kind: "failed", number: 5, failure: { why: "killed", code: 0 } },
    "failed-15": { kind: "failed", number: 5, failure: { why: "killed", code: -1 } },
    "failed-16": { kind: "failed", number: 5, failure: { why: "dropped" } },
    "ended-1": { kind: "ended", number: 5, end: { why: "stopped" } },
    "ended-2": { kind: "ended", number: 5, end: { why: "no addresses" } },
    "ended-3": { kind: "ended", number: 5, end: { why: "home ended" } },
    "ended-4": { kind: "ended", number: 5, end: { why: "panicked", text } },
    "ended-5": { kind: "ended", number: 5, end: { why: "gave up", restarts: 3, text } },
    "ended-6": { kind: "ended", number: 5, end: { why: "linked", names: [text, ""], end: { why: "gave up", restarts: 3, text } } },
    "ended-7": { kind: "ended", number: 5, end: { why: "link lost", text } },
    "ended-8": { kind: "ended", number: 5, end: { why: "exited", code: 3 } },
    "ended-9": { kind: "ended", number: 5, end: { why: "killed", code: 11 } },
    "ended-10": { kind: "ended", number: 5, end: { why: "killed", code: 0 } },
    "ended-11": { kind: "ended", number: 5, end: { why: "killed", code: -1 } },
};

test("each golden frame is read, and written with the same bytes", () => {
    assert.deepEqual(Array.from(golden.keys()).sort(), Object.keys(said).sort());
    for (const [name, bytes] of golden) {
        const expected = said[name];
        const frame = read(bytes.subarray(LENGTH));
        assert.deepEqual(plain(frame), plain(expected), name);
        const output = new Output();
        write(frame, output);
        assert.equal(Buffer.from(output.take()).toString("hex"), Buffer.from(bytes).toString("hex"), name);
    }
});

test("a text that begins with a byte order mark keeps it", () => {
    const frame: Frame = { kind: "goodbye", text: "\ufeffenough" };
    assert.deepEqual(read(bytesOf(frame).subarray(LENGTH)), frame);
});

/** With a payload that does not care in which buffer it lies. */
function plain(frame: Frame | undefined): unknown {
    if (frame?.kind !== "tell" && frame?.kind !== "answer") return frame;
    return { ...frame, body: { ...frame.body, payload: Array.from(frame.body.payload) } };
}

test("how a process has ended is said in words, also where no signal ended it", () => {
    for (const [why, code, words] of [
        ["exited", 3, "exited with code 3"],
        ["killed", 11, "killed by signal 11"],
        ["killed", 0, "not known"],
        ["killed", -1, "at one message for longer than it may be"],
    ] as const) {
        assert.ok(describeEnd({ why, code }).includes(words), describeEnd({ why, code }));
        assert.equal(failureError({ why, code }).message, describeEnd({ why, code }));
    }
});

test("a frame that is cut off or too long is an error, and so is each wrong byte, or nothing", () => {
    const attempt = (bytes: Uint8Array, what: string): boolean => {
        try {
            read(bytes);
            return true;
        } catch (error) {
            assert.ok(error instanceof LinkError && error.code === "protocol", `${what}: ${String(error)}`);
            return false;
        }
    };
    for (const [name, bytes] of golden) {
        const isOpen = name.startsWith("tell") || name.startsWith("answer");
        for (let end = LENGTH; end < bytes.length; end++) assert.ok(!attempt(bytes.subarray(LENGTH, end), name) || isOpen, `${name}, ${end} bytes`);
        assert.ok(!attempt(new Uint8Array([...bytes.subarray(LENGTH), 0]), name) || isOpen, `${name}, a byte too many`);
        for (let at = LENGTH; at < bytes.length; at++) {
            for (let value = 0; value < 256; value++) {
                const changed = bytes.slice();
                changed[at] = value;
                attempt(changed.subarray(LENGTH), `${name}, byte ${at} is ${value}`);
            }
        }
    }
});

const hello: Frame = { kind: "hello", most: 1 << 20, encoding: 1, program: "", root: { type: "", window: 0 } };

test("what no link sends ends it with words, which the other side is told", () => {
    for (const [bytes, words] of [
        [new TextEncoder().encode("HTTP/1.1 404 Not Found"), "a frame of 1347703880 bytes, and this side takes 16777216 at most"],
        [bytesOf({ kind: "watch", number: 0 }), "it has not said hello before all else"],
        [bytesOf(hello, hello), "it has said hello twice"],
        [bytesOf({ ...hello, encoding: 0 }), "it writes messages by postcard, and this page as JSON"],
        [bytesOf({ ...hello, encoding: 9 }), "it writes messages in a way of number 9, and this page as JSON"],
        [Buffer.from("0c000000015454" + "4c4b02808004000000", "hex"), "it speaks version 2, and this page version 3"],
        [bytesOf(hello, { kind: "tell", number: 1, body: { replies: [], exports: [], payload } }), "it names actor 1, of which it has no address"],
        [bytesOf(hello, { kind: "stop", number: 1 }), "it names actor 1, of which it has no address"],
        [bytesOf(hello, { kind: "failed", number: 7, failure: { why: "full" } }), "it answers question 7, which it does not have"],
        [bytesOf(hello, { kind: "confirm", number: 0, count: 1 }), "it confirms 1 messages to actor 0, to which 0 are on their way"],
        [bytesOf(hello, { kind: "release", number: 1, count: 1 }), "it gives up 1 addresses of actor 1, of which it has 0"],
    ] as const) {
        const { core, sent, ended } = end();
        core.receive(bytes);
        assert.equal(ended.length, 1, words);
        assert.equal(ended[0]?.how, "protocol");
        assert.ok(ended[0]?.text.includes(words), ended[0]?.text);
        const last = sent.at(-1);
        assert.ok(last?.kind === "goodbye" && last.text.includes(words), JSON.stringify(last));
        // The rest is nothing to an end that has ended.
        core.receive(bytesOf(hello));
        assert.equal(ended.length, 1);
    }
});

test("a stream that is cut anywhere is the same stream", () => {
    const frames: Frame[] = [hello, { kind: "watch", number: 5 }, { kind: "probe", number: 0, process: 1n, wait: 2n, path: ["x".repeat(300)] }, { kind: "watch", number: 6 }];
    const all = bytesOf(...frames);
    for (const piece of [1, 2, 3, 5, 7, 64, all.length]) {
        const { core, sent, ended } = end();
        for (let at = 0; at < all.length; at += piece) core.receive(all.slice(at, at + piece));
        core.flush();
        assert.deepEqual(ended, []);
        assert.deepEqual(
            sent.map((frame) => (frame.kind === "ended" ? frame.number : frame.kind)),
            ["hello", 5, 6],
            `in pieces of ${piece} bytes`,
        );
    }
});

test("wrong bytes of a server end a link with words, and nothing else", () => {
    const all = Array.from(golden.values());
    const random = new Random(7);
    for (let round = 0; round < 3_000; round++) {
        const { core, ended } = end();
        core.receive(bytesOf(hello));
        for (let count = 0; count < 8; count++) {
            const bytes = all[random.below(all.length)]?.slice() ?? new Uint8Array(0);
            if (random.below(2) === 0) bytes[random.below(bytes.length)] = random.below(256);
            core.receive(bytes);
        }
        assert.ok(ended.length <= 1 && ended.every(({ how }) => how === "protocol" || how === "goodbye"));
    }
});

test("what a mailbox behind a page has dropped is no question that was not begun", () => {
    const dropped = failureError({ why: "dropped" });
    assert.deepEqual([dropped.code, dropped.fate], ["full", "unknown"]);
    assert.deepEqual(errorFailure(dropped), { why: "dropped" });
    assert.deepEqual(errorFailure(failureError({ why: "full" })), { why: "full" });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { runInNewContext } from "node:vm";
import { decode, decodeStream } from "../src/rows.js";
import { fromBase64 } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";
import { golden } from "./golden.js";

const bytes = fromBase64(sample);

/** As a page of plain JavaScript calls it, which no type is checked in. */
const give = decode as (given: unknown) => ReturnType<typeof decode>;

async function stream(given: unknown): Promise<void> {
    for await (const rows of decodeStream(given as ReadableStream<Uint8Array>)) assert.ok(rows.length > 0);
}

test("a promise that was not awaited is a TypeError that says so", async () => {
    const response = new Response(bytes);
    const promise = response.arrayBuffer();
    assert.throws(() => give(promise), { name: "TypeError", message: /was given a Promise: await it first, as in decode\(await response\.arrayBuffer\(\)\)$/ });
    assert.equal(give(await promise).length, 16);
    await assert.rejects(stream(Promise.resolve(new Response(bytes))), { name: "TypeError", message: /a Promise: await it first/ });
});

test("what is no bytes is named, with what helps", async () => {
    const cases: readonly (readonly [unknown, RegExp])[] = [
        [new Response(bytes), /given a Response: await its bytes, as in decode\(await response\.arrayBuffer\(\)\)$/],
        [new Blob([bytes]), /given a Blob: await its bytes/],
        [new Blob([bytes]).stream(), /given a ReadableStream: decodeStream reads streams$/],
        [sample, /given a string$/],
        [undefined, /given undefined$/],
        [null, /given null$/],
        [16, /given a number$/],
        [[0xa7, 0x54, 0x54], /given an Array$/],
    ];
    for (const [given, message] of cases) assert.throws(() => give(given), { name: "TypeError", message });
    await assert.rejects(stream(new Response(bytes)), { name: "TypeError", message: /given a Response: give its body, as in decodeStream\(response\.body\)$/ });
    await assert.rejects(stream(new Response(null).body), { name: "TypeError", message: /given null: this response has no body$/ });
    await assert.rejects(stream(bytes), { name: "TypeError", message: /given an? Uint8Array: decode reads bytes that are all there$/ });
    await stream(new Response(bytes).body);
});

test("bytes are read out of every kind of buffer and view", () => {
    const expected = decode(bytes).objects();
    const framed = new Uint8Array(bytes.length + 11);
    framed.set(bytes, 8);
    const foreign = runInNewContext(`new Uint8Array([${bytes.join()}])`) as Uint8Array<ArrayBuffer>;
    assert.equal(Object.getPrototypeOf(foreign) === Uint8Array.prototype, false);
    for (const given of [
        bytes.slice().buffer,
        Buffer.from(bytes),
        new DataView(framed.buffer, 8, bytes.length),
        new Int8Array(framed.buffer, 8, bytes.length),
        foreign,
        foreign.buffer,
    ]) {
        assert.deepEqual(give(given).objects(), expected);
    }
});

test("bytes that others share are read as they are when they are given", () => {
    for (const { name, bytes } of golden()) {
        const expected = JSON.stringify(decode(bytes).toJSON());
        const memory = new WebAssembly.Memory({ initial: 16, maximum: 16, shared: true });
        const buffer = new SharedArrayBuffer(bytes.length);
        for (const shared of [new Uint8Array(memory.buffer, 8, bytes.length), new Uint8Array(buffer), new DataView(buffer), buffer]) {
            const view = ArrayBuffer.isView(shared) ? new Uint8Array(shared.buffer, shared.byteOffset, shared.byteLength) : new Uint8Array(shared);
            view.set(bytes);
            const rows = give(shared);
            view.fill(255);
            assert.equal(JSON.stringify(rows.toJSON()), expected, name);
        }
    }
});

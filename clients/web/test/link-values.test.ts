// What of a page's values stands in the JSON of messages and calls.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Calls } from "../src/link/calls.js";
import { LinkError } from "../src/link/error.js";
import { writeValue } from "../src/link/values.js";

const none = {
    address: (): never => assert.fail("there is no address"),
    reply: (): never => assert.fail("there is no reply"),
};
const written = (value: unknown): unknown => JSON.parse(new TextDecoder().decode(writeValue(value, none)));

function called(params: unknown): unknown {
    let text = "";
    const calls = new Calls({ sendText: (sent) => (text = sent), refuseIfEnded: () => {} });
    void calls.call("method", params, {});
    return (JSON.parse(text) as { params: unknown }).params;
}

test("numbers side by side go as a list of them, and bytes as a list of these", () => {
    const bytes = Uint8Array.of(7, 1, 2, 255);
    for (const write of [written, called]) {
        assert.deepEqual(write({ points: new Float64Array([1, 2.5]), ints: new Int32Array([300, -1]) }), { points: [1, 2.5], ints: [300, -1] });
        assert.deepEqual(write([new Float32Array([0.5]), new Uint16Array([65535]), new Int16Array([-2]), new Uint32Array([2 ** 32 - 1]), new Int8Array([-1])]), [[0.5], [65535], [-2], [2 ** 32 - 1], [-1]]);
        assert.deepEqual(write([bytes.subarray(1), new Uint8ClampedArray(bytes.buffer, 1, 2), new DataView(bytes.buffer, 2), bytes.buffer]), [[1, 2, 255], [1, 2], [2, 255], [7, 1, 2, 255]]);
        assert.deepEqual(write([Buffer.from([1, 2]), new Date(0), { toJSON: () => "own" }]), [[1, 2], "1970-01-01T00:00:00.000Z", "own"]);
    }
    assert.deepEqual(written(new Float64Array([1])), [1]);
});

test("integers of 64 bits side by side are no JSON", async () => {
    const isRefused = (error: unknown): boolean => error instanceof LinkError && error.code === "not-encodable";
    assert.throws(() => written({ a: new BigInt64Array(2) }), isRefused);
    const calls = new Calls({ sendText: () => assert.fail("nothing is sent"), refuseIfEnded: () => {} });
    await assert.rejects(calls.call("method", [new BigUint64Array(1)], {}), isRefused);
});

test("a function in a message is refused, and not left out of it", () => {
    const isRefused = (error: unknown): boolean =>
        error instanceof LinkError && error.code === "not-encodable" && error.message.includes("Watch") && error.message.includes("link.export");
    assert.throws(() => written({ Watch: (): void => {} }), isRefused);
    assert.deepEqual(written({ Watch: undefined, Add: 1 }), { Add: 1 });
});

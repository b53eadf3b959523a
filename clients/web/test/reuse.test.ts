import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, RowsError, type Rows } from "../src/rows.js";
import { fromBase64 } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";
import { golden } from "./golden.js";
import { apart, together } from "./sealed.js";

const bytes = fromBase64(sample);

/** The memory of the numbers of the sample, and the same memory for all of them. */
function memoryOf(rows: Rows): ArrayBuffer {
    const { buffer } = rows.numbers("n");
    assert.equal(rows.numbers("at").buffer, buffer);
    return buffer;
}

test("the memory of a table that is not needed any more is used again, once", () => {
    const first = decode(bytes);
    const memory = memoryOf(first);
    new Uint8Array(memory).fill(7);
    const second = decode(bytes, { reuse: first });
    assert.equal(memoryOf(second), memory);
    assert.deepEqual(second.objects(), decode(bytes).objects());
    // It belongs to the second table now.
    assert.notEqual(memoryOf(decode(bytes, { reuse: first })), memory);
    assert.equal(memoryOf(decode(bytes, { reuse: second })), memory);
    assert.notEqual(memoryOf(decode(bytes)), memory);
});

test("the texts of a table stay when its memory is used again", () => {
    const first = decode(bytes);
    const expected = decode(bytes).texts("color").toArray();
    decode(bytes, { reuse: first });
    assert.deepEqual(first.texts("color").toArray(), expected);
});

test("memory that was transferred away, or is too small or far too large, is not used", () => {
    const first = decode(bytes);
    const taken = structuredClone(memoryOf(first), { transfer: [memoryOf(first)] });
    const second = decode(bytes, { reuse: first });
    assert.notEqual(memoryOf(second), taken);
    assert.deepEqual(second.objects(), decode(bytes).objects());
    for (const { name, bytes: others } of golden()) {
        // Whatever the table was, this one is right, and its memory is of about its own size.
        const again = decode(bytes, { reuse: decode(others) });
        assert.deepEqual(again.objects(), second.objects(), name);
        assert.ok(memoryOf(again).byteLength <= 4 * memoryOf(second).byteLength + 4096, name);
        assert.deepEqual(decode(others, { reuse: again }).objects(), decode(others).objects(), name);
    }
});

test("of several chunks, none gets memory that another has", () => {
    const { schema, chunks } = apart(bytes);
    const twice = together({ schema, chunks: [...chunks, ...chunks], total: 32 });
    const first = decode(bytes);
    const rows = decode(twice, { reuse: first });
    const expected = decode(bytes).objects();
    assert.deepEqual(rows.objects(), [...expected, ...expected]);
    // Their columns were put together in memory that is not given away.
    const next = decode(bytes, { reuse: rows });
    assert.deepEqual(rows.objects(), [...expected, ...expected]);
    assert.deepEqual(next.objects(), expected);
});

test("bytes that cannot be decoded leave the reader without the memory, and nothing else", () => {
    const first = decode(bytes);
    assert.throws(() => decode(bytes.subarray(0, 100), { reuse: first }), RowsError);
    assert.notEqual(memoryOf(decode(bytes, { reuse: first })), memoryOf(first));
});

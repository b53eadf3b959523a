import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, decodeStream } from "../src/rows.js";
import { fromBase64 } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";
import { golden } from "./golden.js";
import { apart, together } from "./sealed.js";

/** The sample several times over, each time as a chunk of its own. */
function chunks(count: number): Uint8Array<ArrayBuffer> {
    const parts = apart(fromBase64(sample));
    return together({ ...parts, chunks: Array.from({ length: count }, () => parts.chunks[0]), total: 16 * count });
}

function inPieces(bytes: Uint8Array, length: number, done?: () => void): ReadableStream<Uint8Array> {
    let at = 0;
    return new ReadableStream({
        pull(controller) {
            if (at >= bytes.length) controller.close();
            else controller.enqueue(bytes.slice(at, (at += length)));
        },
        cancel() {
            done?.();
        },
    });
}

test("a stream gives the rows of the bytes, in pieces of whatever size", async () => {
    for (const bytes of [chunks(3), ...golden().map(({ bytes }) => bytes)]) {
        const expected = decode(bytes).objects();
        for (const length of [1, 7, 100, 65_536]) {
            if (bytes.length > 20_000 * length) continue;
            const found: unknown[] = [];
            for await (const rows of decodeStream(inPieces(bytes, length))) found.push(...rows.objects());
            // Where one chunk has bigints, the whole table has; a stream does not know that beforehand.
            assert.deepEqual(found.map(plain), expected.map(plain), `pieces of ${length}`);
        }
    }
});

function plain(row: unknown): unknown {
    return Object.fromEntries(Object.entries(row as object).map(([name, value]) => [name, typeof value === "bigint" ? Number(value) : value]));
}

test("several chunks are one table", () => {
    const rows = decode(chunks(5));
    const once = decode(fromBase64(sample)).objects();
    assert.equal(rows.length, 80);
    assert.deepEqual(rows.objects(), [...once, ...once, ...once, ...once, ...once]);
    assert.equal(rows.column("id").nulls?.count, 15);
});

test("a stream that is left early is cancelled", async () => {
    let cancelled = false;
    for await (const rows of decodeStream(inPieces(chunks(50), 100, () => (cancelled = true)))) {
        assert.equal(rows.length, 16);
        break;
    }
    assert.ok(cancelled);
});

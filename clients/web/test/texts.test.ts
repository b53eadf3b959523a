// Texts that stand for integers of a dictionary, written here byte by byte.

import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, RowsError } from "../src/rows.js";
import { use } from "../src/rows/kernels.js";
import { together, uint32, varint } from "./sealed.js";

type Bytes = Uint8Array<ArrayBuffer>;

const hexLower = 1;
const digits = 3;

/** A table of one column "a" of text: `kinds` values from 0 on, of six digits, and codes of 32 bits for each row. */
function table(codec: number, kinds: number, codes: readonly number[]): Bytes {
    const entries = [1, 0, 2]; // A sequence from 0 in steps of 1.
    const packed = [2, 0, 32, ...codes.flatMap(uint32)];
    const column = [codec, 6, 7, 0, ...varint(kinds), ...entries, ...packed];
    const body = Uint8Array.from([...varint(column.length), ...column]);
    return together({ schema: Uint8Array.from([1, 1, 97, 16]), chunks: [{ rows: codes.length, body }], total: codes.length });
}

function spelled(codec: number, value: number): string {
    return value.toString(codec === digits ? 10 : 16).padStart(6, "0");
}

for (const form of ["WebAssembly", "JavaScript"] as const) {
    test(`texts of a dictionary of integers stand where its codes say, by ${form}`, () => {
        assert.ok(use(form));
        for (const codec of [hexLower, digits]) {
            for (const rows of [1, 256, 257, 65_536]) {
                const codes = Array.from({ length: rows }, (_, row) => (row * 7) % rows);
                const texts = decode(table(codec, rows, codes)).texts("a");
                const expected = codes.map((code) => spelled(codec, code));
                assert.deepEqual(texts.toArray(), expected, `${rows} rows`);
                assert.deepEqual(Array.from(texts), expected, `${rows} rows, one by one`);
            }
        }
    });

    test(`a code beyond such a dictionary is damage, by ${form}`, () => {
        assert.ok(use(form));
        for (const codec of [hexLower, digits]) {
            for (const wrong of [3, 256 + 1, 65_536 + 1, 2 ** 32 - 1]) {
                assert.throws(
                    () => decode(table(codec, 3, [0, 2, wrong, 1])),
                    (error) => error instanceof RowsError && error.code === "malformed" && error.message.includes("dictionary"),
                    `${wrong}`,
                );
            }
        }
    });
}

test("all texts are an array of their own each time", () => {
    const texts = decode(table(hexLower, 2, [0, 1])).texts("a");
    const all = texts.toArray();
    all[0] = "changed";
    assert.deepEqual(texts.toArray(), ["000000", "000001"]);
});

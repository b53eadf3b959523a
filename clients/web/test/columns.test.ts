// The service browser reads Arrow and Parquet by libraries, with all digits that they have: tables that PyArrow and DuckDB have written.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import * as arrow from "../page/arrow.js";
import { Columns, inText, wideInteger, type Read } from "../page/columns.js";
import * as parquet from "../page/parquet.js";

/** From build/test, where this is run. */
const folder = new URL("../../../../crates/tamtam-rows/tests/golden/", import.meta.url);

function bytesOf(name: string): ArrayBuffer {
    return new Uint8Array(readFileSync(new URL(name, folder))).buffer;
}

/** A row as crates/tamtam-rows/tests/it/written_elsewhere.rs has it. */
function row(number: number): Record<string, unknown> {
    const some = (value: unknown): unknown => (number % 7 === 3 ? null : value);
    const two = (number: number): string => number.toString().padStart(2, "0");
    const clock = `12:00:${two(number)}`;
    const day = new Date((number - 10) * 86_400_000).toISOString().slice(0, 10);
    return {
        bool: number % 3 === 0,
        i8: number - 20,
        i32: some(number * 1_000),
        u64: BigInt(number) << 56n,
        f64: some(number / 8),
        decimal: some(`0.${two(number)}`),
        date: day,
        time: `00:00:${two(number)}.000500`,
        utc: some(`2009-03-01T${clock}.000Z`),
        local: `2009-03-01T${clock}.000000`,
        text: some(`été ${number % 4}`),
        colour: some(["red", "green", "blue"][number % 3]),
        bytes: Uint8Array.of(number, 255 - number),
    };
}

const readers: readonly (readonly [string, (bytes: ArrayBuffer) => Read | Promise<Read>])[] = [
    ["pyarrow.arrows", arrow.read],
    ["pyarrow-snappy.parquet", parquet.read],
    ["pyarrow-v2-delta-zstd.parquet", parquet.read],
];

for (const [name, read] of readers) {
    test(`${name} is read with every kind of value`, async () => {
        const table = new Columns(await read(bytesOf(name)));
        assert.equal(table.length, 40);
        assert.deepEqual(table.names, Object.keys(row(0)));
        assert.deepEqual(table.objects(), Array.from({ length: 40 }, (_, number) => row(number)));
        assert.equal(table.cell(1, "no such column"), undefined);
    });
}

test("identifiers of DuckDB are text", async () => {
    const table = new Columns(await parquet.read(bytesOf("duckdb-uuid.parquet")));
    assert.equal(table.cell(5, "id"), "12345678-9abc-4def-8123-000000000005");
});

test("of columns with one name the last is shown, and no name is another one's", async () => {
    const table = new Columns(await parquet.read(bytesOf("pyarrow-same-names.parquet")));
    assert.deepEqual(table.names, ["a", "__proto__"]);
    assert.deepEqual([0, 1].map((row) => table.cell(row, "a")), ["2009-03-01T12:00:00.000000", "2009-03-01T12:00:01.000000"]);
    assert.deepEqual([0, 1].map((row) => table.cell(row, "__proto__")), ["x", "y"]);
});

test("what is damaged or cut is an error", async () => {
    for (const [name, read] of readers) {
        const bytes = bytesOf(name);
        for (const length of [0, 7, 100, bytes.byteLength / 2]) {
            // Arrow's reader takes the end of the bytes for the end of the stream.
            const cut = async (): Promise<number> => (await read(bytes.slice(0, length))).length;
            if (read === parquet.read) await assert.rejects(cut(), `${name} of ${length}`);
            else assert.ok((await cut().catch(() => 0)) <= 40, `${name} of ${length}`);
        }
    }
});

test("wide integers keep their sign, and numbers their point", () => {
    assert.equal(wideInteger(Uint8Array.of(0xff, 0xff, 0xff)), -1n);
    assert.equal(wideInteger(Uint8Array.of(0x80, 0, 1)), -(2n ** 23n) + 1n);
    assert.equal(inText(-5n, { counts: "decimal", scale: 2 }), "-0.05");
    assert.equal(inText(Math.fround(0.1), { counts: "f32" }), 0.1);
});

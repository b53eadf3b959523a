import assert from "node:assert/strict";
import { test } from "node:test";
import { Column, decode, Rows, RowsError, Texts } from "../src/rows.js";
import { fromBase64 } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";

interface Tile {
    n: number;
    x: number;
    color: string;
    name: string;
    id: number | null;
    at: number;
    price: number;
    on: boolean;
}

const rows = decode<Tile>(fromBase64(sample));

function code(expected: string): (error: unknown) => boolean {
    return (error) => error instanceof RowsError && error.code === expected;
}

test("a row looks its values up when they are asked for", () => {
    const row = rows.row(2);
    assert.equal(row.n, 3);
    assert.equal(row.color.length, 6);
    assert.equal(row.id, null);
    assert.equal(rows.row(3).id, (3 * 31) % 17);
    assert.deepEqual(Array.from(rows, ({ n }) => n), Array.from({ length: 16 }, (_, i) => i + 1));
    assert.throws(() => rows.row(16), RangeError);
    assert.throws(() => rows.row(-1), RangeError);
    assert.throws(() => rows.row(Number.NaN), RangeError);
});

test("a column of numbers is a typed array of the column's type", () => {
    assert.ok(rows.numbers("n") instanceof Int16Array);
    assert.ok(rows.numbers("at") instanceof Float64Array);
    assert.ok(rows.numbers("price") instanceof Float64Array);
    assert.ok(rows.numbers("on") instanceof Uint8Array);
    assert.equal(rows.column("at").bigints()[0], 1_700_000_000_000n);
    assert.throws(() => rows.column("price").bigints(), code("schema"));
});

test("decimals are numbers at their scale", () => {
    const decimal = (scale: number, values: Column["values"]): Column =>
        new Column({ name: "d", kind: { type: "decimal", precision: 38, scale }, nullable: false }, values, undefined);
    const numbers = (column: Column): number[] => Array.from(new Rows([column], column.length).numbers("d"), Number);
    assert.deepEqual(numbers(decimal(2, Float64Array.of(1250, -7, 0, 70, 9007199254740991))), [12.5, -0.07, 0, 0.7, 90071992547409.91]);
    assert.deepEqual(numbers(decimal(0, Float64Array.of(5))), [5]);
    assert.deepEqual(numbers(decimal(30, Float64Array.of(123))), [1.23e-28]);
    assert.throws(() => numbers(decimal(2, BigInt64Array.of(1n << 60n))), code("inexact"));
    const table = new Rows([decimal(2, Float64Array.of(1250))], 1);
    assert.equal(table.numbers("d"), table.numbers("d"));
    assert.equal(table.column("d").get(0), "12.50");
    assert.deepEqual(table.column("d").bigints(), BigInt64Array.of(1250n));
});

test("what would be wrong to read as asked is refused", () => {
    assert.throws(() => rows.numbers("id"), code("schema"));
    assert.throws(() => rows.numbers("name"), code("schema"));
    assert.throws(() => rows.texts("n"), code("schema"));
    assert.throws(() => rows.column("nothing" as "n"), code("schema"));
    assert.throws(() => decode(fromBase64(sample), { columns: ["nothing"] }), code("schema"));
});

test("a text that repeats is one string", () => {
    const names = rows.texts("name");
    assert.ok(names instanceof Texts);
    assert.equal(names.get(0), "red");
    assert.deepEqual(Array.from(names).slice(0, 3), ["red", "green", "green"]);
    assert.throws(() => names.get(16), RangeError);
});

test("a null is told from a zero", () => {
    const id = rows.column("id");
    assert.equal(id.nulls?.count, 3);
    assert.equal(id.isNull(2), true);
    assert.equal(id.get(2), null);
    assert.equal(id.get(0), 0);
    assert.equal(id.isNull(0), false);
    assert.throws(() => id.get(16), RangeError);
});

test("columns that nobody wants are stepped over", () => {
    const few = decode(fromBase64(sample), { columns: ["price", "n"] });
    assert.deepEqual(few.fields.map(({ name }) => name), ["n", "price"]);
    assert.deepEqual(few.objects()[1], { n: 2, price: 9.19 });
});

test("integers of 64 bits are bigints where that is wanted", () => {
    const wide = decode(fromBase64(sample), { wide: "bigint" });
    assert.equal(wide.column("at").get(0), 1_700_000_000_000n);
    assert.throws(() => wide.numbers("at"), code("inexact"));
});

test("limits stop what is larger", () => {
    for (const limits of [{ rows: 15 }, { columns: 7 }, { bytes: 100 }]) {
        assert.throws(() => decode(fromBase64(sample), { limits }), code("limit"), JSON.stringify(limits));
    }
    decode(fromBase64(sample), { limits: { rows: 16, columns: 8, bytes: 10_000 } });
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, Rows, type Field, type Values } from "../src/rows.js";
import { Column } from "../src/rows/column.js";
import { fromBase64 } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";
import { golden } from "./golden.js";

const bytes = fromBase64(sample);

function parsed(value: unknown): unknown {
    return JSON.parse(JSON.stringify(value));
}

function jsonOf(kind: Field["kind"], values: Values): unknown {
    return parsed(new Column({ name: "n", kind, nullable: false }, values, undefined));
}

test("JSON.stringify of rows, of a row and of a column gives their values", () => {
    const rows = decode(bytes);
    const third = { n: 3, x: rows.numbers("x")[2], color: rows.texts("color").get(2), name: "green", id: null, at: "2023-11-14T22:13:20.002Z", price: 9.28, on: true };
    const all = parsed(rows) as (typeof third)[];
    assert.equal(all.length, 16);
    assert.equal(typeof all[2].at, "string");
    assert.deepEqual({ ...all[2], at: third.at, price: third.price, on: third.on }, third);
    assert.deepEqual(Array.from(rows, parsed), all);
    assert.deepEqual(parsed([...rows]), all);
    assert.deepEqual(parsed(rows.column("n")), all.map(({ n }) => n));
    assert.deepEqual(parsed(rows.texts("name")), all.map(({ name }) => name));
    // In the order of the columns.
    assert.equal(Object.keys(all[0]).join(), "n,x,color,name,id,at,price,on");
    assert.equal(JSON.stringify(decode(bytes, { columns: ["n", "id"] }).row(2)), '{"n":3,"id":null}');
});

test("every golden table has JSON, in every row, and of bigints too", () => {
    for (const table of golden()) {
        for (const wide of ["number", "bigint"] as const) {
            const rows = decode(table.bytes, { wide });
            const all = parsed(rows) as { [name: string]: unknown }[];
            assert.equal(all.length, rows.length);
            for (let row = 0; row < Math.min(rows.length, 100); row++) assert.deepEqual(parsed(rows.row(row)), all[row], table.name);
        }
    }
});

test("each type has the JSON that the table of the guide says", () => {
    const rows = decode(golden().find(({ name }) => name === "kinds-packed")?.bytes ?? assert.fail("no such table"));
    const json = (name: string): unknown => parsed(rows.column(name));
    assert.deepEqual(json("bool"), [true, false, null, true, true, false]);
    assert.deepEqual(json("exact"), [-9007199254740991, -1, 0, 1, 7, 9007199254740991]);
    assert.deepEqual(json("i64"), ["-9223372036854775808", "-1", "0", "1", "7", "9223372036854775807"]);
    assert.deepEqual(json("f64"), [0, 0, null, null, 5e-324, -0.1]);
    // The third is NaN, the fourth an infinity; the last is the float of 32 bits nearest to -0.1.
    assert.deepEqual((json("f32") as unknown[]).slice(2, 4), [null, null]);
    assert.equal((json("f32") as unknown[])[5], -0.1);
    assert.deepEqual(json("price"), [0, -0.01, null, 12.5, -0.99, 9999999.99]);
    assert.equal((json("digits") as unknown[])[0], `0.${"9".repeat(38)}`);
});

test("a column of decimals is text as soon as one has too many digits for a number", () => {
    const kind = { type: "decimal", precision: 18, scale: 3 } as const;
    assert.deepEqual(jsonOf(kind, Float64Array.of(12_500, 999_999_999_999_999)), [12.5, 999_999_999_999.999]);
    assert.deepEqual(jsonOf(kind, Float64Array.of(12_500, 1e15)), ["12.500", "1000000000000.000"]);
    assert.deepEqual(jsonOf(kind, BigInt64Array.of(12_500n)), ["12.500"]);
});

test("dates and times are as ISO 8601 has them, before 1970 and far away, too", () => {
    assert.deepEqual(jsonOf({ type: "date" }, Int32Array.of(0, -1, 19_675, -719_528, -719_529, 2_932_897, 2 ** 31 - 1, -(2 ** 31))), [
        "1970-01-01",
        "1969-12-31",
        "2023-11-14",
        "0000-01-01",
        "-0001-12-31",
        "+10000-01-01",
        "+5881580-07-11",
        "-5877641-06-23",
    ]);
    for (let day = -800_000; day < 800_000; day += 997) {
        const [json] = jsonOf({ type: "date" }, Int32Array.of(day)) as [string];
        const expected = new Date(day * 86_400_000).toISOString().split("T")[0];
        if (/^\d/.test(expected)) assert.equal(json, expected);
    }
    const local = { type: "timestamp", unit: "us", zone: undefined } as const;
    assert.deepEqual(jsonOf(local, Float64Array.of(1_700_000_000_000_001, -1)), ["2023-11-14T22:13:20.000001", "1969-12-31T23:59:59.999999"]);
    const utc = { type: "timestamp", unit: "ns", zone: "UTC" } as const;
    assert.deepEqual(jsonOf(utc, BigInt64Array.of(-(2n ** 63n))), ["1677-09-21T00:12:43.145224192Z"]);
    assert.deepEqual(jsonOf({ type: "timestamp", unit: "s", zone: "Europe/Berlin" }, Float64Array.of(0)), ["1970-01-01T00:00:00Z"]);
    assert.deepEqual(jsonOf({ type: "time", unit: "ms" }, Float64Array.of(45_296_789, -1_000, 360_000_000)), ["12:34:56.789", "-00:00:01.000", "100:00:00.000"]);
});

test("a column named toJSON keeps its values in the JSON of its table", () => {
    const rows = new Rows([new Column({ name: "toJSON", kind: { type: "i32" }, nullable: false }, Int32Array.of(7), undefined)], 1);
    assert.equal(JSON.stringify(rows), '[{"toJSON":7}]');
    assert.equal(rows.row(0)["toJSON"], 7);
    const kinds = decode(golden().find(({ name }) => name === "kinds-packed")?.bytes ?? assert.fail("no such table"));
    assert.ok(JSON.stringify(kinds.row(0)).includes('"__proto__":'));
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, decodeStream, Texts, type Column, type DecodeOptions, type Kind, type Rows } from "../src/rows.js";
import { use } from "../src/rows/kernels.js";
import { Nulls } from "../src/rows/nulls.js";
import { columnsOf, golden } from "./golden.js";

/** A type as the Rust library writes it. */
function named(kind: Kind): string {
    switch (kind.type) {
        case "decimal":
            return `decimal(${kind.precision},${kind.scale})`;
        case "time":
            return `time(${kind.unit})`;
        case "timestamp":
            return kind.zone === undefined ? `timestamp(${kind.unit})` : `timestamp(${kind.unit}, ${kind.zone})`;
        default:
            return kind.type;
    }
}

function hex(bytes: Uint8Array): string {
    return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString("hex");
}

/** A value as the golden tables' JSON has it: numbers as text, floats as their bits, bytes as hexadecimal digits. */
function golden_value(column: Column, row: number): string | boolean | null {
    const value = column.get(row);
    if (value === null || typeof value === "boolean") return value;
    const { kind } = column.field;
    switch (kind.type) {
        case "f32":
        case "f64": {
            // The bits, which a NaN would not show.
            const values = column.values as Float32Array<ArrayBuffer> | Float64Array<ArrayBuffer>;
            const bytes = new Uint8Array(values.buffer, values.byteOffset + row * values.BYTES_PER_ELEMENT, values.BYTES_PER_ELEMENT);
            return hex(bytes.slice().reverse());
        }
        case "decimal": {
            const whole = column.bigints()[row].toString();
            // The text has the same digits, and the point where it belongs.
            assert.equal((value as string).replace(".", "").replace(/^(-?)0+(?=\d)/, "$1"), whole);
            assert.equal((value as string).split(".")[1]?.length ?? 0, kind.scale);
            return whole;
        }
        case "uuid":
            assert.match(value as string, /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/);
            return (value as string).replaceAll("-", "");
        case "bytes":
            return hex(value as Uint8Array);
        default:
            return String(value);
    }
}

function check(what: string, name: string, parts: readonly Rows[]): void {
    const [first] = parts;
    const expected = columnsOf(name);
    assert.deepEqual(
        first.fields.map((field) => ({ name: field.name, kind: named(field.kind), nullable: field.nullable })),
        expected.map(({ name, kind, nullable }) => ({ name, kind, nullable })),
        what,
    );
    expected.forEach((column, index) => {
        const found = parts.flatMap((part) => Array.from({ length: part.length }, (_, row) => golden_value(part.columns[index], row)));
        assert.deepEqual(found, column.values, `${what}: ${column.name}`);
        for (const { columns } of parts) {
            const { values } = columns[index];
            if (values instanceof Texts) assert.deepEqual(values.toArray(), Array.from(values), `${what}: ${column.name}, all at once`);
        }
    });
}

for (const form of ["WebAssembly", "JavaScript"] as const) {
    test(`every golden table holds what it should, by ${form}`, async () => {
        assert.ok(use(form));
        const tables = golden();
        assert.equal(tables.length, 15);
        for (const { name, bytes } of tables) {
            for (const options of [{}, { wide: "bigint" }] satisfies DecodeOptions[]) {
                check(name, name, [decode(bytes, options)]);
                // At another place in memory, where nothing can be read in place.
                const odd = new Uint8Array(bytes.length + 3).subarray(3);
                odd.set(bytes);
                check(`${name}, at an odd place`, name, [decode(odd, options)]);
            }
            const parts: Rows[] = [];
            for await (const part of decodeStream(new Blob([bytes]).stream())) parts.push(part);
            if (parts.length > 0) check(`${name}, as a stream`, name, parts);
            else assert.equal(decode(bytes).length, 0);
        }
    });
}

test("what is plain is read where it is", () => {
    const { bytes } = golden().find(({ name }) => name === "codecs-plain") ?? assert.fail("no such table");
    const rows = decode(bytes);
    for (const name of ["packed", "split_f64", "symbols"]) assert.equal(rows.numbers(name).buffer, bytes.buffer, name);
});

test("integers beyond 2^53 are bigints, and others numbers", () => {
    const rows = decode(golden().find(({ name }) => name === "kinds-packed")?.bytes ?? assert.fail("no such table"));
    assert.ok(rows.column("i64").values instanceof BigInt64Array);
    assert.ok(rows.column("u64").values instanceof BigUint64Array);
    assert.ok(rows.column("exact").values instanceof Float64Array);
    assert.ok(rows.column("at").values instanceof Float64Array);
    assert.equal(rows.column("in_berlin").get(0), 1_700_000_000_000_000_001n);
    assert.equal(rows.column("price").get(3), "12.50");
    assert.equal(rows.column("price").get(1), "-0.01");
    // Of two columns with one name, the first.
    assert.equal(rows.column("text").field.kind.type, "text");
    const row = rows.row(2) as { text: string; __proto__: number };
    assert.equal(row.text, "Grüße, 🥁!");
    assert.equal(row.__proto__, 9);
});

function bytesOf(table: string): Uint8Array<ArrayBuffer> {
    const found = golden().find(({ name }) => name === table);
    return found?.bytes ?? assert.fail(`there is no ${table}`);
}

test("an empty table has the arrays that one with rows has", () => {
    const bytes = bytesOf("empty-packed");
    for (const wide of ["number", "bigint"] as const) {
        const empty = decode(bytes, { wide });
        assert.equal(empty.length, 0);
        for (const { field, values } of empty.columns) {
            const isWide = ["i64", "u64", "time", "timestamp", "decimal"].includes(field.kind.type);
            if (isWide) assert.equal(values.constructor, wide === "number" ? Float64Array : field.kind.type === "u64" ? BigUint64Array : BigInt64Array, `${field.name}, ${wide}`);
        }
    }
    const rows = decode(bytesOf("kinds-packed"), { wide: "bigint" });
    for (const { field, values } of decode(bytes, { wide: "bigint" }).columns) {
        const same = rows.columns.find((column) => column.field.kind.type === field.kind.type && column.values.constructor === values.constructor);
        assert.ok(same !== undefined || field.kind.type === "decimal", `${field.name} as ${values.constructor.name}`);
    }
});

test("no row behind the last is null", () => {
    // Bits of which ones are the usual: those of the last byte's end, too.
    const nulls = new Nulls(Uint8Array.of(0xff, 0xff), 11);
    assert.equal(nulls.count, 11);
    for (let row = 0; row < 32; row++) assert.equal(nulls.has(row), row < 11, `row ${row}`);
    for (const name of ["kinds-packed", "kinds-small", "codecs-packed"]) {
        for (const column of decode(bytesOf(name)).columns) {
            for (let row = column.length; row < column.length + 16; row++) assert.ok(!column.isNull(row), `${name}, ${column.field.name}, row ${row}`);
        }
    }
});

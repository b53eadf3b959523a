import assert from "node:assert/strict";
import { test } from "node:test";
import { decode } from "../src/rows.js";
import { fromBase64 } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";
import { viewsOf } from "../src/rows/view.js";
import { Column } from "../src/rows/column.js";
import { golden } from "./golden.js";

const bytes = fromBase64(sample);

/** A column of numbers. */
function numbers(name: string, values: ConstructorParameters<typeof Column>[1]): Column {
    return new Column({ name, kind: { type: "i32" }, nullable: false }, values, undefined);
}

test("rows as objects hold what their columns hold, in every type", () => {
    for (const table of golden()) {
        const rows = decode(table.bytes);
        const objects = rows.objects();
        const names = rows.fields.map(({ name }) => name);
        let place = 0;
        for (const row of rows) {
            names.forEach((name, at) => {
                // Of two columns with one name, the first.
                const expected = rows.columns[names.indexOf(name)].get(place);
                assert.deepEqual(row[name], expected, `${table.name}, row ${place}, column ${at}`);
                assert.deepEqual(rows.row(place)[name], expected);
                assert.deepEqual(Object.getOwnPropertyDescriptor(objects[place], name)?.value, expected);
            });
            place++;
        }
        assert.equal(place, rows.length);
        assert.equal(objects.length, rows.length);
    }
});

test("a plain object keeps to the names of its columns, whatever they mean elsewhere", () => {
    const { bytes } = golden().find(({ name }) => name === "kinds-packed") ?? assert.fail("no such table");
    for (const object of decode(bytes).objects()) {
        assert.equal(Object.getPrototypeOf(object), Object.prototype);
        assert.ok(Object.hasOwn(object, "__proto__"));
    }
});

test("tables that look alike share the class of their rows, and others do not", () => {
    const [one, other] = [decode(bytes), decode(bytes)];
    assert.equal(Object.getPrototypeOf(one.row(0)), Object.getPrototypeOf(other.row(0)));
    const few = decode(bytes, { columns: ["n", "x"] });
    assert.notEqual(Object.getPrototypeOf(one.row(0)), Object.getPrototypeOf(few.row(0)));
    // Where the same column is kept in another kind of array, it is read as that.
    const [double, big] = [decode(bytes), decode(bytes, { wide: "bigint" })];
    assert.equal(double.row(0)["at"], 1_700_000_000_000);
    assert.equal(big.row(0)["at"], 1_700_000_000_000n);
    assert.equal(double.row(1)["at"], Number(big.row(1)["at"]));
    // Rows know their own table.
    const [first, second] = [viewsOf([numbers("n", Int32Array.of(1))]), viewsOf([numbers("n", Int32Array.of(2))])];
    assert.equal(first.View, second.View);
    assert.deepEqual([first, second].map(({ View, sources }) => (new View(sources, 0) as unknown as { n: number }).n), [1, 2]);
});

test("no names of columns are taken for those of others", () => {
    const three = (...names: string[]): Column[] => names.map((name) => numbers(name, Int32Array.of(7)));
    const classes = [["a", "b"], ["ab"], ["a Int32Array 1 b"], ["b", "a"], ["a", "b", ""], ["1 a", "b"]].map((names) => viewsOf(three(...names)).View);
    assert.equal(new Set(classes).size, classes.length);
});

test("classes are forgotten, and what was made of them stays right", () => {
    const before = decode(bytes).row(3);
    for (let index = 0; index < 200; index++) {
        const { View, sources } = viewsOf([numbers(`column ${index}`, Int32Array.of(index))]);
        assert.equal((new View(sources, 0) as unknown as { [name: string]: number })[`column ${index}`], index);
    }
    assert.equal(before["n"], 4);
    assert.equal(decode(bytes).row(3)["n"], 4);
});

test("what a sender could fill memory with is not remembered", () => {
    const long = "a".repeat(2 ** 14);
    const [one, other] = [viewsOf([numbers(long, Int32Array.of(1))]), viewsOf([numbers(long, Int32Array.of(2))])];
    assert.notEqual(one.View, other.View);
    assert.deepEqual([one, other].map(({ View, sources }) => (new View(sources, 0) as unknown as { [name: string]: number })[long]), [1, 2]);
});

test("a row's names are those of its columns, and it has no values of its own", () => {
    const row = decode(bytes).row(2);
    const names: string[] = [];
    for (const name in row) names.push(name);
    assert.deepEqual(names.sort(), ["at", "color", "id", "n", "name", "on", "price", "x"]);
    assert.deepEqual(Object.keys(row), []);
});

test("rows are iterated as JavaScript's own lists are", () => {
    const rows = decode(bytes);
    const iterator = rows[Symbol.iterator]() as IterableIterator<{ n: number }>;
    assert.equal(iterator[Symbol.iterator](), iterator);
    assert.equal(iterator.next().value.n, 1);
    assert.deepEqual(Array.from(iterator, ({ n }) => n), Array.from({ length: 15 }, (_, row) => row + 2));
    assert.deepEqual(iterator.next(), { done: true, value: undefined });
    // Two at once, and one that is left early, do not disturb each other.
    for (const one of rows) {
        for (const other of rows) assert.ok(other["n"] !== undefined);
        if (one["n"] === 3) break;
    }
    assert.equal([...rows].length, 16);
});

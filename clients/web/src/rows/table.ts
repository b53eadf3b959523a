import { Column, noRow, Texts, type Numbers, type Value } from "./column.js";
import { RowsError } from "./error.js";
import type { JsonValue } from "./json.js";
import type { Kept } from "./kept.js";
import type { Field } from "./schema.js";
import { sourceOf, ViewIterator, viewsOf, type Views } from "./view.js";

/** What a row is if nobody says more: values by the names of their columns. */
export type AnyRow = { readonly [column: string]: Value };

/** What a row is in JSON: values by the names of their columns. */
export type JsonRow = { [column: string]: JsonValue };

/**
 * A table: columns with names and types. `Row` is what its rows look like to TypeScript; nothing checks it.
 *
 * The fastest way through it is column by column; a row is an object that looks its values up when they are asked
 * for, and costs next to nothing until then.
 */
export class Rows<Row = AnyRow> implements Iterable<Row> {
    /** How many rows there are. */
    readonly length: number;
    /** The columns, from left to right. */
    readonly columns: readonly Column[];
    #byName: Map<string, Column> | undefined;
    #views: Views | undefined;
    /** Decimals as floats, once they were asked for. */
    #scaled: Map<Column, Float64Array<ArrayBuffer>> | undefined;
    #kept: Kept | undefined;

    /** @internal `kept` is what these columns, and no others, are kept in. */
    constructor(columns: readonly Column[], length: number, kept?: Kept) {
        this.#kept = kept;
        this.columns = columns;
        this.length = length;
    }

    /** @internal The memory of the columns, for others. It is given once. */
    giveMemory(): Kept | undefined {
        const kept = this.#kept;
        this.#kept = undefined;
        return kept;
    }

    /** The names and types of the columns. */
    get fields(): readonly Field[] {
        return this.columns.map((column) => column.field);
    }

    /** The first column of this name. Throws a `RowsError` if there is none. */
    column(name: string & keyof Row): Column {
        let byName = this.#byName;
        if (byName === undefined) {
            byName = new Map();
            for (const column of this.columns) if (!byName.has(column.field.name)) byName.set(column.field.name, column);
            this.#byName = byName;
        }
        const column = byName.get(name);
        if (column !== undefined) return column;
        const names = this.columns.map((column) => `"${column.field.name}"`).join(", ");
        throw new RowsError("schema", `there is no column "${name}"; there are ${names || "none"}`);
    }

    /**
     * The numbers of a column, to be read by their place: a typed array. Dates, times and timestamps count in their
     * unit, and a bool is 0 or 1. Decimals are floats at their scale, the nearest to each: 12.5 for `12.50`; they are made
     * once a table, and `column(name)` has them exactly. Throws a `RowsError` if the column is of another type, holds an
     * integer or a decimal of more digits than a number has, or a null (then `column(name)` tells nulls from zeros).
     */
    numbers(name: string & keyof Row): Numbers {
        const column = this.#withoutNulls(name);
        const { values, field } = column;
        if (ArrayBuffer.isView(values)) {
            if (values instanceof BigInt64Array || values instanceof BigUint64Array) throw inexact(name);
            if (field.kind.type === "decimal" && field.kind.scale > 0) return this.#atScale(column, values, field.kind.scale);
            return values;
        }
        if (Array.isArray(values)) throw inexact(name);
        throw new RowsError("schema", `the column "${name}" is of type ${field.kind.type}, which is no number`);
    }

    #atScale(column: Column, values: Numbers, scale: number): Float64Array<ArrayBuffer> {
        const scaled = (this.#scaled ??= new Map());
        let numbers = scaled.get(column);
        if (numbers === undefined) {
            // Both are exact up to here, so that the quotient is the float nearest to the decimal.
            const exact = scale <= 22;
            const divisor = 10 ** scale;
            numbers = Float64Array.from(values as Float64Array, (value, row) => (exact ? value / divisor : Number(column.get(row))));
            scaled.set(column, numbers);
        }
        return numbers;
    }

    /** The texts of a column. Throws a `RowsError` if it is of another type, or holds a null. */
    texts(name: string & keyof Row): Texts {
        const { values, field } = this.#withoutNulls(name);
        if (values instanceof Texts) return values;
        throw new RowsError("schema", `the column "${name}" is of type ${field.kind.type}, not text`);
    }

    #withoutNulls(name: string & keyof Row): Column {
        const column = this.column(name);
        if (column.nulls === undefined) return column;
        throw new RowsError("schema", `the column "${name}" holds nulls; read it by column("${name}"), which tells where`);
    }

    /**
     * The row at a place: an object with a getter for each column. Of columns with the same name the first is seen.
     * Throws a `RangeError` if there is no such row.
     */
    row(index: number): Row {
        if (!(index >= 0 && index < this.length)) throw noRow(index, this.length);
        const { View, sources } = (this.#views ??= viewsOf(this.columns));
        return new View(sources, index) as Row;
    }

    /** Each row, as `row` gives it. */
    [Symbol.iterator](): Iterator<Row> {
        return new ViewIterator((this.#views ??= viewsOf(this.columns)), this.length) as Iterator<Row>;
    }

    /** Each row as a plain object with values of its own, for what wants such. For JSON, `toJSON` is the right one. */
    objects(): Row[] {
        return this.#plain((column) => {
            const source = sourceOf(column);
            if (source instanceof Column) return Array.from({ length: column.length }, (_, row) => source.get(row));
            return source instanceof Texts ? source.toArray() : source;
        }) as Row[];
    }

    /**
     * What `JSON.stringify` writes: each row as an object of values that JSON has, so it never throws. `JSON.stringify`
     * of one row gives the same object.
     *
     * - Integers are numbers. A column that holds one beyond 2^53 (or was decoded with `wide: "bigint"`) is text.
     * - Decimals are numbers at their scale. A column of which one has more than 15 digits is text.
     * - Dates, times and timestamps are text as ISO 8601 has it: `"2023-11-14T22:13:20.000Z"`.
     * - Bytes are text in Base64, UUIDs text with hyphens. NaN, infinities and nulls are `null`.
     */
    toJSON(): JsonRow[] {
        return this.#plain((column) => column.toJSON());
    }

    /** Each row as a plain object, with the values that `read` gives for its column. */
    #plain<V>(read: (column: Column) => ArrayLike<V>): { [name: string]: V }[] {
        if (this.length === 0) return [];
        const byName = new Map<string, ArrayLike<V>>();
        for (const column of this.columns) if (!byName.has(column.field.name)) byName.set(column.field.name, read(column));
        // Copies of one object, whose values are then set column by column: a name that is there already is set as it
        // is, also one that means something to objects.
        const first = Object.fromEntries(Array.from(byName, ([name, values]) => [name, values[0]]));
        const objects: { [name: string]: V }[] = [];
        for (let row = 0; row < this.length; row++) objects.push({ ...first });
        for (const [name, values] of byName) setEach(objects, name, values);
        return objects;
    }
}

function setEach<V>(objects: { [name: string]: V }[], name: string, values: ArrayLike<V>): void {
    for (let row = 0; row < objects.length; row++) objects[row][name] = values[row];
}

function inexact(name: string): RowsError {
    return new RowsError("inexact", `the column "${name}" holds integers beyond 2^53, which no number is; read it by column("${name}")`);
}

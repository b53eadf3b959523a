import { Column, noRow, Texts, type Numbers, type Value } from "./column.js";
import { RowsError } from "./error.js";
import type { Kept } from "./kept.js";
import type { Field } from "./schema.js";
import { sourceOf, ViewIterator, viewsOf, type Views } from "./view.js";

/** What a row is if nobody says more: values by the names of their columns. */
export type AnyRow = { readonly [column: string]: Value };

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
     * unit, a bool is 0 or 1, and a decimal is an integer without its point. Throws a `RowsError` if the column is of
     * another type, holds an integer that no number can, or a null (then `column(name)` tells nulls from zeros).
     */
    numbers(name: string & keyof Row): Numbers {
        const column = this.#withoutNulls(name);
        const { values, field } = column;
        if (ArrayBuffer.isView(values)) {
            if (values instanceof BigInt64Array || values instanceof BigUint64Array) throw inexact(name);
            return values;
        }
        if (Array.isArray(values)) throw inexact(name);
        throw new RowsError("schema", `the column "${name}" is of type ${field.kind.type}, which is no number`);
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

    /** Each row as a plain object with values of its own, for what wants such. */
    objects(): Row[] {
        if (this.length === 0) return [];
        const byName = new Map<string, Column>();
        for (const column of this.columns) if (!byName.has(column.field.name)) byName.set(column.field.name, column);
        // Copies of one object, whose values are then set column by column: a name that is there already is set as it
        // is, also one that means something to objects.
        const first = Object.fromEntries(Array.from(byName, ([name, column]) => [name, column.get(0)]));
        const objects: PlainRow[] = [];
        for (let row = 0; row < this.length; row++) objects.push({ ...first });
        for (const [name, column] of byName) {
            const source = sourceOf(column);
            if (source instanceof Column) setEach(objects, name, Array.from(objects, (_, row) => source.get(row)));
            else setEach(objects, name, source instanceof Texts ? source.toArray() : source);
        }
        return objects as Row[];
    }
}

type PlainRow = { [name: string]: Value };

function setEach(objects: PlainRow[], name: string, values: ArrayLike<Value>): void {
    for (let row = 0; row < objects.length; row++) objects[row][name] = values[row];
}

function inexact(name: string): RowsError {
    return new RowsError("inexact", `the column "${name}" holds integers beyond 2^53, which no number is; read it by column("${name}")`);
}

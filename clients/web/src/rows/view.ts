// Rows as objects that look their values up when they are asked for.
//
// An engine makes a getter as fast as the reading of an array if it has met one kind of array in it, and the same
// objects time after time. So there is one function for each kind of column, and tables that look alike share a class.

import { Column, Texts, type Numbers, type Value } from "./column.js";
import type { JsonValue } from "./json.js";

/** What a getter reads out of: a plain array of numbers, texts, or a column of which more has to be asked. */
export type Source = Numbers | Texts | Column;

// What a row knows. By symbols, which no column's name is: private names would be others in each class, and one class
// from which all inherit makes an engine leave the making of rows out of the loop, which takes most of the time then.
const table = Symbol("table");
const place = Symbol("row");

/** An object that knows its row. Its getters come from the class that is made for its table. */
export interface View {
    readonly [table]: readonly Source[];
    readonly [place]: number;
}

export type ViewClass = new (sources: readonly Source[], row: number) => View;

type Get = (this: View) => Value;

/** How the column at a place is read, by what it is kept in. */
const getters: { readonly [kind: string]: (at: number) => Get } = {
    Int8Array: (at) =>
        function () {
            return (this[table][at] as Int8Array)[this[place]];
        },
    Uint8Array: (at) =>
        function () {
            return (this[table][at] as Uint8Array)[this[place]];
        },
    Int16Array: (at) =>
        function () {
            return (this[table][at] as Int16Array)[this[place]];
        },
    Uint16Array: (at) =>
        function () {
            return (this[table][at] as Uint16Array)[this[place]];
        },
    Int32Array: (at) =>
        function () {
            return (this[table][at] as Int32Array)[this[place]];
        },
    Uint32Array: (at) =>
        function () {
            return (this[table][at] as Uint32Array)[this[place]];
        },
    Float32Array: (at) =>
        function () {
            return (this[table][at] as Float32Array)[this[place]];
        },
    Float64Array: (at) =>
        function () {
            return (this[table][at] as Float64Array)[this[place]];
        },
    Texts: (at) =>
        function () {
            return (this[table][at] as Texts).get(this[place]);
        },
    Column: (at) =>
        function () {
            return (this[table][at] as Column).get(this[place]);
        },
};

/** A class with these getters by these names. Of the same names, the first remains. */
function classOf(names: readonly string[], kinds: readonly string[]): ViewClass {
    class Row implements View {
        declare readonly [table]: readonly Source[];
        declare readonly [place]: number;

        constructor(sources: readonly Source[], row: number) {
            this[table] = sources;
            this[place] = row;
        }

        /** What `JSON.stringify` writes. In a table with a column of this name, that is seen instead. */
        toJSON(): { [name: string]: JsonValue } {
            const values = new Map<string, JsonValue>();
            for (const column of behind.get(this[table]) ?? []) {
                if (!values.has(column.field.name)) values.set(column.field.name, column.json(this[place]));
            }
            return Object.fromEntries(values);
        }
    }
    for (let at = names.length - 1; at >= 0; at--) {
        Object.defineProperty(Row.prototype, names[at], { get: getters[kinds[at]](at), enumerable: true, configurable: true });
    }
    return Row;
}

/** What the rows of a table are made with. */
export interface Views {
    readonly View: ViewClass;
    readonly sources: readonly Source[];
}

/** The name of a source's kind, among those of `getters`. */
function kindOf(source: Source): string {
    // Not the constructor's own name, which a tool that makes code shorter may change.
    if (source instanceof Texts) return "Texts";
    if (source instanceof Column) return "Column";
    return source[Symbol.toStringTag];
}

/** What the values of a column are read out of. */
export function sourceOf(column: Column): Source {
    const { values, nulls, field } = column;
    if (nulls !== undefined || field.kind.type === "bool" || field.kind.type === "decimal") return column;
    if (values instanceof Texts) return values;
    if (ArrayBuffer.isView(values) && !(values instanceof BigInt64Array) && !(values instanceof BigUint64Array)) return values;
    return column;
}

/** The columns that sources were made of: looked up for JSON alone, so rows do not carry them. */
const behind = new WeakMap<readonly Source[], readonly Column[]>();

/** The classes that were made, by the names and kinds of their columns. */
const classes = new Map<string, ViewClass>();
/** More are not remembered: who meets so many tables meets none often. */
const mostClasses = 64;
/** Nor are tables with more letters in their names: a sender could fill the page's memory with them. */
const mostLetters = 2 ** 14;

/** What the rows of a table with these columns are made with. Of columns with the same name the first is seen. */
export function viewsOf(columns: readonly Column[]): Views {
    const sources = columns.map(sourceOf);
    const kinds = sources.map(kindOf);
    // Lengths, so that no name can look like the end of another.
    const key = columns.map(({ field }, at) => `${kinds[at]} ${field.name.length} ${field.name}`).join("");
    let known = classes.get(key);
    if (known === undefined) {
        known = classOf(columns.map(({ field }) => field.name), kinds);
        if (key.length <= mostLetters) {
            if (classes.size >= mostClasses) classes.clear();
            classes.set(key, known);
        }
    }
    behind.set(sources, columns);
    return { View: known, sources };
}

/** What iterators of JavaScript's own inherit. */
const iterators = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;

/** A row after the other. An engine makes it part of a loop, which it does not with a generator. */
export class ViewIterator implements Iterator<View> {
    readonly #View: ViewClass;
    readonly #sources: readonly Source[];
    readonly #length: number;
    #row = 0;

    static {
        Object.setPrototypeOf(ViewIterator.prototype, iterators);
    }

    constructor({ View, sources }: Views, length: number) {
        this.#View = View;
        this.#sources = sources;
        this.#length = length;
    }

    next(): IteratorResult<View, undefined> {
        const row = this.#row;
        if (row >= this.#length) return { done: true, value: undefined };
        this.#row = row + 1;
        return { done: false, value: new this.#View(this.#sources, row) };
    }
}

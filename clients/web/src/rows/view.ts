// Rows as objects that look their values up when they are asked for.
//
// An engine makes a getter as fast as the reading of an array if it has met one kind of array in it, and the same
// objects time after time. So there is one function for each kind of column, and tables that look alike share a class.

import { Column, Texts, type Numbers, type Value } from "./column.js";

/** What a getter reads out of: a plain array of numbers, texts, or a column of which more has to be asked. */
export type Source = Numbers | Texts | Column;

type Get = (this: View) => Value;

/** An object that knows its row. Getters come from the class of its table. */
export class View {
    readonly #sources: readonly Source[];
    readonly #row: number;

    constructor(sources: readonly Source[], row: number) {
        this.#sources = sources;
        this.#row = row;
    }

    /** How the column at this place is read, by what it is kept in. */
    static readonly getters: { readonly [kind: string]: (at: number) => Get } = {
        Int8Array: (at) =>
            function () {
                return (this.#sources[at] as Int8Array)[this.#row];
            },
        Uint8Array: (at) =>
            function () {
                return (this.#sources[at] as Uint8Array)[this.#row];
            },
        Int16Array: (at) =>
            function () {
                return (this.#sources[at] as Int16Array)[this.#row];
            },
        Uint16Array: (at) =>
            function () {
                return (this.#sources[at] as Uint16Array)[this.#row];
            },
        Int32Array: (at) =>
            function () {
                return (this.#sources[at] as Int32Array)[this.#row];
            },
        Uint32Array: (at) =>
            function () {
                return (this.#sources[at] as Uint32Array)[this.#row];
            },
        Float32Array: (at) =>
            function () {
                return (this.#sources[at] as Float32Array)[this.#row];
            },
        Float64Array: (at) =>
            function () {
                return (this.#sources[at] as Float64Array)[this.#row];
            },
        Texts: (at) =>
            function () {
                return (this.#sources[at] as Texts).get(this.#row);
            },
        Column: (at) =>
            function () {
                return (this.#sources[at] as Column).get(this.#row);
            },
    };
}

export type ViewClass = new (sources: readonly Source[], row: number) => View;

/** What the rows of a table are made with. */
export interface Views {
    readonly View: ViewClass;
    readonly sources: readonly Source[];
}

/** The name of a source's kind, among those of `View.getters`. */
function kindOf(source: Source): string {
    // Not the constructor's own name, which a tool that makes code shorter may change.
    if (source instanceof Texts) return "Texts";
    if (source instanceof Column) return "Column";
    return source[Symbol.toStringTag];
}

function sourceOf(column: Column): Source {
    const { values, nulls, field } = column;
    if (nulls !== undefined || field.kind.type === "bool" || field.kind.type === "decimal") return column;
    if (values instanceof Texts) return values;
    if (ArrayBuffer.isView(values) && !(values instanceof BigInt64Array) && !(values instanceof BigUint64Array)) return values;
    return column;
}

/** The classes that were made, by the names and kinds of their columns. */
const classes = new Map<string, ViewClass>();
/** More are not remembered: who meets so many tables meets none often. */
const mostClasses = 64;

/** What the rows of a table with these columns are made with. Of columns with the same name the first is seen. */
export function viewsOf(columns: readonly Column[]): Views {
    const sources = columns.map(sourceOf);
    const kinds = sources.map(kindOf);
    // Lengths, so that no name can look like the end of another.
    const key = columns.map(({ field }, at) => `${kinds[at]} ${field.name.length} ${field.name}`).join("");
    let known = classes.get(key);
    if (known === undefined) {
        known = class extends View {};
        // From right to left: of the same names, the first remains.
        for (let at = columns.length - 1; at >= 0; at--) {
            const get = View.getters[kinds[at]](at);
            Object.defineProperty(known.prototype, columns[at].field.name, { get, enumerable: true, configurable: true });
        }
        if (classes.size >= mostClasses) classes.clear();
        classes.set(key, known);
    }
    return { View: known, sources };
}

/** What iterators of JavaScript's own inherit. */
const iterators = Object.getPrototypeOf(Object.getPrototypeOf([][Symbol.iterator]())) as object;

/** A row after the other. An engine makes it part of a loop, which it does not with a generator. */
export class ViewIterator implements Iterator<View> {
    readonly #views: Views;
    readonly #length: number;
    #row = 0;

    static {
        Object.setPrototypeOf(ViewIterator.prototype, iterators);
    }

    constructor(views: Views, length: number) {
        this.#views = views;
        this.#length = length;
    }

    next(): IteratorResult<View, undefined> {
        if (this.#row >= this.#length) return { done: true, value: undefined };
        const { View, sources } = this.#views;
        return { done: false, value: new View(sources, this.#row++) };
    }
}

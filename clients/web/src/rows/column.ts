// One column: what the bytes say of it, and how it is read.

import { RowsError } from "./error.js";
import { jsonReader, type JsonValue } from "./json.js";
import type { Field } from "./schema.js";
import type { Nulls } from "./nulls.js";
import { beginOf, joinedCodes, joinedEnds, type Codes, type Ends } from "./ends.js";

/** Numbers side by side, as columns of them are kept. */
export type Numbers =
    | Int8Array<ArrayBuffer>
    | Int16Array<ArrayBuffer>
    | Int32Array<ArrayBuffer>
    | Uint8Array<ArrayBuffer>
    | Uint16Array<ArrayBuffer>
    | Uint32Array<ArrayBuffer>
    | Float32Array<ArrayBuffer>
    | Float64Array<ArrayBuffer>;

/** Integers of 64 bits side by side. */
export type Bigints = BigInt64Array<ArrayBuffer> | BigUint64Array<ArrayBuffer>;

/** What a value of a column is in JavaScript. */
export type Value = number | bigint | boolean | string | Uint8Array<ArrayBuffer> | null;

/** The texts of a column. A string is made when it is asked for, and of texts that repeat only once. */
export class Texts implements Iterable<string> {
    readonly length: number;
    readonly #text: string;
    readonly #ends: Ends;
    /** -1 where each value has its own. */
    readonly #width: number;
    readonly #offsets: Uint32Array;
    readonly #codes: Codes | undefined;
    readonly #made: string[];

    /** @internal `codes` say which of the values stands in which row; without them, each stands in its own. */
    constructor(values: { text: string } & Ends, codes: Codes | undefined) {
        this.#text = values.text;
        this.#ends = values;
        this.#width = values.width ?? -1;
        this.#offsets = values.offsets;
        this.#codes = codes;
        this.#made = [];
        this.length = codes === undefined ? values.count : codes.length;
    }

    /** @internal The texts of several chunks, one behind the other. */
    static joined(parts: readonly Texts[]): Texts {
        const ends = joinedEnds(
            parts.map((part) => part.#ends),
            parts.map((part) => part.#text.length),
        );
        return new Texts({ ...ends, text: parts.map((part) => part.#text).join("") }, joinedCodes(parts.map((part) => [part.#ends, part.#codes])));
    }

    /** The text in a row; empty where the row is null. Throws a `RangeError` if there is no such row. */
    get(row: number): string {
        if (!(row >= 0 && row < this.length)) throw noRow(row, this.length);
        const codes = this.#codes;
        return codes === undefined ? this.#make(row) : this.#shared(codes[row]);
    }

    /** A text that may stand in several rows. */
    #shared(code: number): string {
        const made = this.#made;
        // In order, so that the array has no holes.
        while (made.length <= code) made.push(this.#make(made.length));
        return made[code];
    }

    #make(index: number): string {
        const width = this.#width;
        if (width >= 0) return this.#text.slice(index * width, index * width + width);
        return this.#text.slice(this.#offsets[index], this.#offsets[index + 1]);
    }

    /** The texts of all rows, in an array of its own: what a loop over every row is fastest with. */
    toArray(): string[] {
        const codes = this.#codes;
        const { count } = this.#ends;
        const values = this.#width >= 0 ? evenParts(this.#text, this.#width, count) : parts(this.#text, this.#offsets, count);
        return codes === undefined ? values : chosen(values, codes);
    }

    /** What `JSON.stringify` writes: the texts of all rows. */
    toJSON(): string[] {
        return this.toArray();
    }

    *[Symbol.iterator](): Iterator<string> {
        for (let row = 0; row < this.length; row++) yield this.get(row);
    }
}

// Loops by themselves, and not more than that: an engine compiles what is short and hot first.

function evenParts(text: string, width: number, count: number): string[] {
    const made = new Array<string>(count);
    for (let index = 0, at = 0; index < count; index++, at += width) made[index] = text.slice(at, at + width);
    return made;
}

function parts(text: string, offsets: Uint32Array, count: number): string[] {
    const made = new Array<string>(count);
    for (let index = 0; index < count; index++) made[index] = text.substring(offsets[index], offsets[index + 1]);
    return made;
}

function chosen(values: readonly string[], codes: Codes): string[] {
    const rows = codes.length;
    const all = new Array<string>(rows);
    for (let row = 0; row < rows; row++) all[row] = values[codes[row]];
    return all;
}

export function noRow(row: number, length: number): RangeError {
    return new RangeError(`there is no row ${row}: the table has ${length}`);
}

/** Values of any number of bytes each. */
export class ByteSlices {
    readonly length: number;
    readonly #all: Uint8Array<ArrayBuffer>;
    readonly #ends: Ends;
    readonly #codes: Codes | undefined;

    /** @internal */
    constructor(values: { all: Uint8Array<ArrayBuffer> } & Ends, codes: Codes | undefined) {
        this.#all = values.all;
        this.#ends = values;
        this.#codes = codes;
        this.length = codes === undefined ? values.count : codes.length;
    }

    /** @internal The values of several chunks, one behind the other. */
    static joined(parts: readonly ByteSlices[]): ByteSlices {
        const sizes = parts.map((part) => part.#all.length);
        const all = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
        let at = 0;
        for (const part of parts) {
            all.set(part.#all, at);
            at += part.#all.length;
        }
        const ends = joinedEnds(
            parts.map((part) => part.#ends),
            sizes,
        );
        return new ByteSlices({ ...ends, all }, joinedCodes(parts.map((part) => [part.#ends, part.#codes])));
    }

    /** The bytes in a row, not copied; none where the row is null. Throws a `RangeError` if there is no such row. */
    get(row: number): Uint8Array<ArrayBuffer> {
        if (!(row >= 0 && row < this.length)) throw noRow(row, this.length);
        const index = this.#codes === undefined ? row : this.#codes[row];
        return this.#all.subarray(beginOf(this.#ends, index), beginOf(this.#ends, index + 1));
    }
}

/**
 * What the values of a column are kept in: `Uint8Array` of 0 and 1 for `bool`, `Int32Array` of days for `date`.
 *
 * Integers of 64 bits, times and timestamps are a `Float64Array` where every value of the table is exact in a number
 * (at most 2^53 on either side), and otherwise a `BigInt64Array` or `BigUint64Array`; so are decimals, as integers
 * without their point, but that those which exceed 64 bits are an array of bigints.
 */
export type Values = Numbers | Bigints | readonly bigint[] | Texts | ByteSlices;

/** One column of a table. */
export class Column {
    readonly field: Field;
    readonly values: Values;
    /** Which rows are null; none if no row is. In `values` there is 0, or nothing, in their places. */
    readonly nulls: Nulls | undefined;
    readonly length: number;
    readonly #read: (row: number) => Value;
    #json: ((row: number) => JsonValue) | undefined;

    /** @internal */
    constructor(field: Field, values: Values, nulls: Nulls | undefined) {
        this.field = field;
        this.values = values;
        this.nulls = nulls;
        this.length = values.length;
        this.#read = reader(field, values);
    }

    /**
     * The value in a row: a number for numbers, dates, times and timestamps (a bigint where the column holds some that
     * no number can), a boolean, a string for text, uuids and decimals, bytes, or null. Throws a `RangeError` if there
     * is no such row.
     */
    get(row: number): Value {
        if (!(row >= 0 && row < this.length)) throw noRow(row, this.length);
        if (this.nulls !== undefined && this.nulls.has(row)) return null;
        return this.#read(row);
    }

    /** @internal The value in a row that is there, as JSON has it. */
    json(row: number): JsonValue {
        return (this.#json ??= jsonReader(this))(row);
    }

    /** What `JSON.stringify` writes: the values of all rows, as `Rows.toJSON` has them. */
    toJSON(): JsonValue[] {
        return Array.from({ length: this.length }, (_, row) => this.json(row));
    }

    /** Whether a row is null. */
    isNull(row: number): boolean {
        return this.nulls !== undefined && this.nulls.has(row);
    }

    /**
     * The values as bigints: of columns of integers, times, timestamps and, without their point, decimals.
     * Throws a `RowsError` for others.
     */
    bigints(): Bigints | readonly bigint[] {
        const values = this.values;
        if (values instanceof BigInt64Array || values instanceof BigUint64Array || Array.isArray(values)) return values;
        const type = this.field.kind.type;
        if (values instanceof Texts || values instanceof ByteSlices || type === "f32" || type === "f64") {
            throw new RowsError("schema", `the column "${this.field.name}" is of type ${type}, which is no integer`);
        }
        return BigInt64Array.from(values as Numbers, BigInt);
    }
}

/** How a value that is not null is read. */
export function reader(field: Field, values: Values): (row: number) => Value {
    if (values instanceof Texts) return (row) => values.get(row);
    if (values instanceof ByteSlices) {
        if (field.kind.type === "uuid") return (row) => hyphenated(values.get(row));
        return (row) => values.get(row);
    }
    switch (field.kind.type) {
        case "bool":
            return (row) => values[row] !== 0;
        case "decimal": {
            const scale = field.kind.scale;
            return (row) => pointed(values[row].toString(), scale);
        }
        default:
            return (row) => values[row];
    }
}

/** An integer's digits with the point where it belongs. */
export function pointed(digits: string, scale: number): string {
    if (scale === 0) return digits;
    const sign = digits.startsWith("-") ? "-" : "";
    const padded = digits.substring(sign.length).padStart(scale + 1, "0");
    return `${sign}${padded.substring(0, padded.length - scale)}.${padded.substring(padded.length - scale)}`;
}

const pairs: string[] = [];

export function hyphenated(bytes: Uint8Array): string {
    if (pairs.length === 0) for (let byte = 0; byte < 256; byte++) pairs.push(byte.toString(16).padStart(2, "0"));
    let text = "";
    for (let at = 0; at < 16; at++) {
        if (at === 4 || at === 6 || at === 8 || at === 10) text += "-";
        text += pairs[bytes[at]];
    }
    return text;
}

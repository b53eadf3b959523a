// A table as a library reads it by its columns: what comes as Arrow or Parquet.

import { dateText, shortest, timestampText, timeText } from "../src/rows/json.js";
import { pointed } from "../src/rows/column.js";
import type { Unit } from "../src/rows/schema.js";

/** What a library makes of a table. */
export interface Read {
    readonly names: readonly string[];
    readonly length: number;
    /** The value in a row of a column, by the column's place. */
    readonly cell: (row: number, column: number) => unknown;
}

/** What reads a form, and is loaded when it is first wanted. */
export interface Library {
    readonly read: (bytes: ArrayBuffer) => Read | Promise<Read>;
}

/** A table that was read so, as the page shows it. */
export class Columns {
    readonly names: readonly string[];
    readonly length: number;
    readonly #read: Read;
    readonly #places: ReadonlyMap<string, number>;

    constructor(read: Read) {
        this.#read = read;
        this.#places = new Map(read.names.map((name, place) => [name, place]));
        // Of columns of one name the last one is shown, as in objects.
        this.names = [...this.#places.keys()];
        this.length = read.length;
    }

    cell(row: number, name: string): unknown {
        const place = this.#places.get(name);
        return place === undefined ? undefined : this.#read.cell(row, place);
    }

    objects(): Record<string, unknown>[] {
        return Array.from({ length: this.length }, (_, row) => Object.fromEntries(this.names.map((name) => [name, this.cell(row, name)])));
    }
}

/** What a number counts, where it does not stand for itself. */
export type Counted =
    | { readonly counts: "days" }
    | { readonly counts: "time"; readonly unit: Unit }
    | { readonly counts: "timestamp"; readonly unit: Unit; readonly isInUtc: boolean }
    | { readonly counts: "decimal"; readonly scale: number }
    | { readonly counts: "f32" };

/** What such a number stands for, as the server's JSON has it; with all digits, where libraries for pages make numbers and dates of it. */
export function inText(value: number | bigint, counted: Counted): string | number {
    switch (counted.counts) {
        case "days":
            return dateText(Number(value));
        case "time":
            return timeText(BigInt(value), counted.unit);
        case "timestamp":
            return timestampText(BigInt(value), counted.unit) + (counted.isInUtc ? "Z" : "");
        case "decimal":
            return pointed(value.toString(), counted.scale);
        case "f32":
            return shortest(Number(value));
    }
}

/** An integer of some bytes, the highest first, in two's complement. */
export function wideInteger(bytes: Uint8Array): bigint {
    let value = 0n;
    for (const byte of bytes) value = (value << 8n) | BigInt(byte);
    return BigInt.asIntN(8 * bytes.length, value);
}

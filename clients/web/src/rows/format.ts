// What lies around the columns: the beginning with the schema, the parts and their checksums, the end. The guide's page "The
// packed encoding" describes it byte by byte.

import { RowsError } from "./error.js";
import { Input } from "./input.js";
import { Kept } from "./kept.js";
import { machine } from "./kernels.js";
import type { Limits } from "./limits.js";
import { readSchema, type Field } from "./schema.js";
import type { Column } from "./column.js";
import { readColumn, type WideIntegers } from "./values.js";

const magic = [0xa7, 0x54, 0x54];
const version = 1;
/** The bytes of the beginning before the length of the schema. */
export const magicBytes = 4;
/** The bytes of a checksum, which stands between the length of a part and the part. */
export const checksumBytes = 4;
/** How many rows a chunk has at most. */
export const rowsPerChunk = 65536;
/** A body of so many bytes at most lies in the machine's memory while it is decoded; of a larger one, a list a time. */
const mostHeld = 2 ** 16;

const widths: { readonly [type: string]: number } = {
    i8: 1, u8: 1, i16: 2, u16: 2, i32: 4, u32: 4, date: 4, i64: 8, u64: 8, f64: 8, time: 8, timestamp: 8, decimal: 8,
};

/** Whether these bytes, of which there are enough, begin as packed rows do. */
export function checkMagic(bytes: Uint8Array): void {
    if (magic.some((byte, at) => bytes[at] !== byte)) {
        const found = Array.from(bytes.subarray(0, 3), (byte) => byte.toString(16).padStart(2, "0")).join(" ");
        throw new RowsError("malformed", `these are no packed rows: they begin with the bytes ${found}, not with a7 54 54`, 0);
    }
    if (bytes[3] !== version) {
        throw new RowsError("version", `packed rows of version ${bytes[3]} cannot be read: this package knows version ${version}; take a newer one`, 3);
    }
}

/** The four bytes at a place, the lowest first. */
export function uint32(bytes: Uint8Array, at: number): number {
    return (bytes[at] | (bytes[at + 1] << 8) | (bytes[at + 2] << 16) | (bytes[at + 3] << 24)) >>> 0;
}

/** Whether the bytes are those that were sent. Where they are held in the machine is returned; below 0 if they are too many. */
function verify(body: Uint8Array, expected: number, origin: number, chunk: number | undefined): number {
    const one = machine();
    one.release();
    const address = body.length > mostHeld ? -1 : one.hold(body);
    const found = address < 0 ? one.checksum(body) : one.checksumAt(address, body.length);
    if (found !== expected) {
        const what = chunk === undefined ? "the schema" : `chunk ${chunk}`;
        const hex = (sum: number): string => sum.toString(16).padStart(8, "0");
        throw new RowsError("checksum", `${what} at byte ${origin} was damaged on its way (its checksum is ${hex(found)}, not ${hex(expected)})`, origin);
    }
    return address;
}

/** A body is no larger than what it becomes, but for heads and padding. */
export function checkLength(length: number, limits: Limits): void {
    if (length > limits.bytes + 2 ** 20) {
        throw new RowsError("limit", `the packed rows declare a part of ${length} bytes, more than the limit of ${limits.bytes}; raise the limit if their sender is trusted`);
    }
}

export function schemaOf(sum: number, body: Uint8Array<ArrayBuffer>, origin: number, limits: Limits): Field[] {
    verify(body, sum, origin, undefined);
    return readSchema(body, origin, limits);
}

/** What was read of a table so far. */
export class Progress {
    readonly limits: Limits;
    readonly wide: WideIntegers;
    readonly #chosen: ReadonlySet<string> | undefined;
    #reused: Kept | undefined;
    #kept: Kept | undefined;
    rows = 0;
    chunks = 0;
    fields: readonly Field[] = [];

    /** `reused` is memory that may be used again. */
    constructor(limits: Limits, wide: WideIntegers, chosen: readonly string[] | undefined, reused: Kept | undefined) {
        this.limits = limits;
        this.#reused = reused;
        this.wide = wide;
        this.#chosen = chosen === undefined ? undefined : new Set(chosen);
    }

    /** Takes the schema, which must have the columns that were asked for. */
    begin(fields: readonly Field[]): void {
        this.fields = fields;
        for (const name of this.#chosen ?? []) {
            if (!fields.some((field) => field.name === name)) {
                throw new RowsError("schema", `there is no column "${name}"; there are ${fields.map((field) => `"${field.name}"`).join(", ") || "none"}`);
            }
        }
    }

    isChosen(field: Field): boolean {
        return this.#chosen === undefined || this.#chosen.has(field.name);
    }

    /** Whether these many rows may follow. */
    #expect(count: number, at: number): void {
        if (count > rowsPerChunk || this.fields.length === 0) {
            throw new RowsError("malformed", `the packed rows are damaged at byte ${at}: a chunk of ${count} rows`, at);
        }
        if (this.rows + count > this.limits.rows) {
            throw new RowsError("limit", `the packed rows have ${this.rows + count} rows or more, above the limit of ${this.limits.rows}; raise the limit if their sender is trusted`, at);
        }
    }

    /** What the columns of the last chunk are kept in. */
    get kept(): Kept | undefined {
        return this.#kept;
    }

    /**
     * The columns of a chunk with this checksum, and how many rows they have; none at the end. `used` says how many
     * bytes of columns there are already, and is what there are then.
     */
    chunk(sum: number, body: Uint8Array<ArrayBuffer>, origin: number, memory: { used: number }): { columns: Column[]; count: number } | undefined {
        const address = verify(body, sum, origin, this.chunks);
        const input = new Input(body, origin, this.limits.bytes, memory.used, address);
        const count = input.count(Number.MAX_SAFE_INTEGER, "the number of rows of a chunk");
        if (count === 0) {
            this.#end(input);
            return undefined;
        }
        this.#expect(count, input.position);
        const one = machine();
        // No more than the body makes likely: a column may take no bytes at all.
        const bytes = Math.min(this.#widths() * count + 8 * this.fields.length, 16 * body.length + 1024);
        const kept = Kept.instead(this.#reused, bytes);
        this.#reused = undefined;
        this.#kept = kept;
        const means = { machine: one, kept, wide: this.wide };
        const columns: Column[] = [];
        for (const field of this.fields) {
            const length = input.count(input.left, "the length of a column");
            const own = input.part(length, memory.used, "a column");
            if (!this.isChosen(field)) continue;
            columns.push(readColumn(own, means, field, count));
            one.reset();
            if (own.left !== 0) throw own.malformed(`${own.left} more bytes behind the column "${field.name}"`);
            memory.used = own.used;
        }
        if (input.left !== 0) throw input.malformed("more bytes behind the last column");
        this.rows += count;
        this.chunks++;
        return { columns, count };
    }

    /** The bytes of one row in the columns that take a fixed number of them. */
    #widths(): number {
        let sum = 0;
        for (const field of this.fields) if (this.isChosen(field)) sum += widths[field.kind.type] ?? 0;
        return sum;
    }

    /** Whether all rows came that the end tells of. */
    #end(input: Input): void {
        const all = input.count(Number.MAX_SAFE_INTEGER, "the number of all rows");
        if (all !== this.rows) throw input.malformed(`${this.rows} rows were read where ${all} were written`);
        if (input.left !== 0) throw input.malformed("more bytes behind the number of all rows");
    }
}

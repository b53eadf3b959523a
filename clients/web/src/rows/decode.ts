import { Column } from "./column.js";
import { RowsError } from "./error.js";
import { checkLength, checkMagic, checksumBytes, magicBytes, Progress, schemaOf, uint32 } from "./format.js";
import { bytesOf } from "./given.js";
import { Input } from "./input.js";
import { joined } from "./join.js";
import { machine } from "./kernels.js";
import { defaultLimits, type Limits } from "./limits.js";
import type { Field } from "./schema.js";
import { Rows, type AnyRow } from "./table.js";
import { emptyValues, type WideIntegers } from "./values.js";

/** How packed rows are decoded. */
export interface DecodeOptions {
    /** How large the table may be; what is left out is as in `defaultLimits`. */
    readonly limits?: Partial<Limits>;
    /** The columns to decode, by name; the others are stepped over. All, if it is left out. */
    readonly columns?: readonly string[];
    /**
     * What becomes of integers of 64 bits, times and timestamps: numbers, where each in the column (of a chunk, in a
     * stream) is exact as such, and bigints otherwise; or always bigints. Numbers, if it is left out.
     */
    readonly wide?: WideIntegers;
    /**
     * A table that is not needed any more: its memory is used again, so what is still held of its numbers changes,
     * whether this succeeds or not. Its texts stay. For who decodes tables one after the other: with small ones, new
     * memory is a good part of the time.
     */
    readonly reuse?: Rows<unknown> | undefined;
}

export function progressOf(options: DecodeOptions): Progress {
    return new Progress({ ...defaultLimits, ...options.limits }, options.wide ?? "number", options.columns, options.reuse?.giveMemory());
}

export function emptyColumns(progress: Progress): Column[] {
    return progress.fields.filter((field: Field) => progress.isChosen(field)).map((field: Field) => new Column(field, emptyValues(field, progress.wide), undefined));
}

/**
 * The table in these bytes, which the packed encoding gave. They may not be changed as long as the table is used:
 * values that need no decoding are read where they are.
 *
 * Throws a `RowsError` if the bytes are damaged, are no packed rows, or exceed the limits, and a `TypeError` if they are
 * no bytes: a promise of them, which was not awaited, or a `Response`.
 */
export function decode<Row = AnyRow>(encoded: ArrayBuffer | Uint8Array<ArrayBuffer>, options: DecodeOptions = {}): Rows<Row> {
    const bytes = bytesOf(encoded);
    const progress = progressOf(options);
    const { limits } = progress;
    const input = new Input(bytes, 0, limits.bytes);
    try {
        input.skip(magicBytes, "the beginning");
        checkMagic(bytes);
        const schema = part(input, limits);
        progress.begin(schemaOf(schema.sum, schema.body, schema.origin, limits));
        const chunks: Column[][] = [];
        const memory = { used: 0 };
        for (;;) {
            const { sum, body, origin } = part(input, limits);
            const chunk = progress.chunk(sum, body, origin, memory);
            if (chunk === undefined) break;
            chunks.push(chunk.columns);
        }
        if (input.left > 0) throw input.malformed(`${input.left} more bytes behind the end of the table`);
        if (chunks.length === 1) return new Rows(chunks[0], progress.rows, progress.kept);
        if (chunks.length === 0) return new Rows(emptyColumns(progress), 0);
        return new Rows(joined(chunks, progress.rows), progress.rows);
    } catch (error) {
        throw asRowsError(error);
    } finally {
        machine().release();
    }
}

/** The next part: what its checksum should be, its bytes, and where they begin. */
function part(input: Input, limits: Limits): { sum: number; body: Uint8Array<ArrayBuffer>; origin: number } {
    const length = input.count(Number.MAX_SAFE_INTEGER, "the length of a part");
    checkLength(length, limits);
    const sum = uint32(input.bytes, input.skip(checksumBytes, "the checksum of a part"));
    const origin = input.position;
    return { sum, body: input.take(length, "a part"), origin };
}

/** Memory that is not to be had is a matter of limits, too. */
export function asRowsError(error: unknown): unknown {
    if (!(error instanceof RangeError)) return error;
    return new RowsError("limit", `the packed rows take more memory than there is here (${error.message}); set lower limits, or read them as a stream`);
}

// The values of one column of one chunk, out of its bytes.

import { ByteSlices, Column, Texts, type Values } from "./column.js";
import type { Input } from "./input.js";
import { integers, packedBytes, plain, plainBytes, type Size } from "./integers.js";
import type { Kept } from "./kept.js";
import type { Machine } from "./kernels.js";
import { Nulls, readBits } from "./nulls.js";
import type { Field } from "./schema.js";
import { beginOf } from "./ends.js";
import { aligned, asText, slices, type Coded, type Slices } from "./slices.js";

/** What integers that need not fit a number become. */
export type WideIntegers = "number" | "bigint";

const noneIsNull = 0;
const dense = 1;
const inPlace = 2;

/** What a column is made with. */
export interface Means {
    readonly machine: Machine;
    readonly kept: Kept;
    readonly wide: WideIntegers;
}

export function readColumn(input: Input, means: Means, field: Field, count: number): Column {
    const how = field.nullable ? input.byte("whether rows are null") : noneIsNull;
    if (how === noneIsNull) return new Column(field, readValues(input, means, field, count, undefined), undefined);
    if (how !== dense && how !== inPlace) throw input.malformed(`no way to be null is numbered ${how}`);
    const nulls = new Nulls(readBits(input, means.machine, count), count);
    if (how === inPlace) {
        const values = readValues(input, means, field, count, undefined);
        return new Column(field, values, nulls.count === 0 ? undefined : nulls);
    }
    input.reserve(8 * nulls.count);
    const values = readValues(input, means, field, count - nulls.count, nulls);
    return new Column(field, values, nulls.count === 0 ? undefined : nulls);
}

/** Where `nulls` are given, there are values of the other rows only, and they are put into their places. */
function readValues(input: Input, means: Means, field: Field, count: number, nulls: Nulls | undefined): Values {
    const { kind } = field;
    const { machine } = means;
    switch (kind.type) {
        case "bool": {
            const bits = readBits(input, machine, count);
            input.reserve(count);
            const values = new Uint8Array(count);
            for (let row = 0; row < count; row++) values[row] = (bits[row >> 3] >> (row & 7)) & 1;
            return spread(values, nulls);
        }
        case "i8":
            return spread(readNarrow(input, means, count, Int8Array), nulls);
        case "u8":
            return spread(readNarrow(input, means, count, Uint8Array), nulls);
        case "i16":
            return spread(readNarrow(input, means, count, Int16Array), nulls);
        case "u16":
            return spread(readNarrow(input, means, count, Uint16Array), nulls);
        case "i32":
        case "date":
            return spread(readNarrow(input, means, count, Int32Array), nulls);
        case "u32":
            return spread(readNarrow(input, means, count, Uint32Array), nulls);
        case "i64":
        case "time":
        case "timestamp":
            return spread(readWide(input, means, count, true), nulls);
        case "u64":
            return spread(readWide(input, means, count, false), nulls);
        case "decimal":
            return readDecimals(input, means, count, nulls);
        case "f32":
            return spread(readF32(input, machine, count), nulls);
        case "f64":
            return spread(readF64(input, means, count), nulls);
        case "uuid": {
            const values = spreadSlices(sixteen(input, machine, count), nulls);
            return new ByteSlices(owned(values.entries), values.codes);
        }
        case "bytes": {
            const values = spreadSlices(slices(input, machine, count), nulls);
            return new ByteSlices(owned(values.entries), values.codes);
        }
        case "text": {
            const values = spreadSlices(slices(input, machine, count), nulls);
            return new Texts(asText(input, values.entries), values.codes);
        }
    }
}

type Array = Exclude<Values, Texts | ByteSlices | readonly bigint[]>;

/** Puts values where rows are not null. */
function spread<Made extends Array>(values: Made, nulls: Nulls | undefined): Made {
    if (nulls === undefined) return values;
    const all = new (values.constructor as new (length: number) => Made)(nulls.length);
    for (let row = 0, from = 0; row < nulls.length; row++) if (!nulls.has(row)) all[row] = values[from++];
    return all;
}

/** The same for values of any length: those of null rows are empty. */
function spreadSlices({ entries, codes }: Coded, nulls: Nulls | undefined): Coded {
    if (nulls === undefined) return { entries, codes };
    const count = nulls.length;
    if (codes === undefined) {
        const offsets = new Uint32Array(count + 1);
        for (let row = 0, from = 0; row < count; row++) offsets[row + 1] = beginOf(entries, nulls.has(row) ? from : ++from);
        return { entries: { ...entries, count, width: undefined, offsets }, codes };
    }
    // One more entry, which is empty, for them.
    const empty = entries.count;
    const offsets = new Uint32Array(empty + 2);
    for (let entry = 0; entry <= empty; entry++) offsets[entry] = beginOf(entries, entry);
    offsets[empty + 1] = offsets[empty];
    const all = new Uint32Array(count).fill(empty);
    for (let row = 0, from = 0; row < count; row++) if (!nulls.has(row)) all[row] = codes[from++];
    return { entries: { ...entries, count: empty + 1, width: undefined, offsets }, codes: all };
}

/** The same, with bytes that stay when the machine's memory is used again. */
function owned(entries: Slices): Slices {
    return entries.isBorrowed ? { ...entries, all: entries.all.slice(), isBorrowed: false } : entries;
}

interface ArrayOf<Made> {
    readonly BYTES_PER_ELEMENT: number;
    new (buffer: ArrayBuffer, from?: number, count?: number): Made;
}

/** The values of a plain list where they are, or a copy where they cannot be looked at there. */
function inBytes<Made>(bytes: Uint8Array<ArrayBuffer>, count: number, type: ArrayOf<Made>): Made {
    if (aligned(bytes, type.BYTES_PER_ELEMENT)) return new type(bytes.buffer, bytes.byteOffset, count);
    return new type(bytes.slice().buffer);
}

/** Whether a plain list begins here; steps over its codec, then. */
function isPlain(input: Input): boolean {
    if (input.left === 0 || input.bytes[input.at] !== plain) return false;
    input.at++;
    return true;
}

function readNarrow<Made>(input: Input, { machine, kept }: Means, count: number, type: ArrayOf<Made>): Made {
    const size = type.BYTES_PER_ELEMENT as Size;
    if (isPlain(input)) return inBytes(plainBytes(input, count, size), count, type);
    const address = integers(input, machine, count, size, 0);
    if (size < 4) machine.kernels.narrow(address, size, count);
    // A copy: the machine's memory is used again.
    const from = kept.copy(machine, address, size * count);
    return new type(kept.buffer, from, count);
}

function readWide(input: Input, { machine, kept, wide }: Means, count: number, isSigned: boolean): Array {
    const address = integers(input, machine, count, 8, 0);
    if (wide === "number") {
        // Not in place: one that is not exact is met after others.
        const doubles = machine.allocate(8 * count);
        if (machine.kernels.exact(address, doubles, count, isSigned ? 1 : 0)) {
            const from = kept.copy(machine, doubles, 8 * count);
            return new Float64Array(kept.buffer, from, count);
        }
    }
    const from = kept.copy(machine, address, 8 * count);
    return isSigned ? new BigInt64Array(kept.buffer, from, count) : new BigUint64Array(kept.buffer, from, count);
}

function readDecimals(input: Input, means: Means, count: number, nulls: Nulls | undefined): Values {
    const how = input.byte("how decimals are coded");
    if (how === 0) return spread(readWide(input, means, count, true), nulls);
    if (how !== 1) throw input.malformed(`no coding of decimals is numbered ${how}`);
    const { entries, codes } = sixteen(input, means.machine, count);
    // A bigint takes some 32 bytes.
    input.reserve(32 * (nulls?.length ?? count));
    const view = new DataView(entries.all.buffer, entries.all.byteOffset, entries.all.length);
    const made: bigint[] = [];
    for (let index = 0; index < entries.count; index++) {
        made.push((view.getBigInt64(16 * index + 8, true) << 64n) | view.getBigUint64(16 * index, true));
    }
    const values = codes === undefined ? made : Array.from(codes, (code) => made[code]);
    if (nulls === undefined) return values;
    let from = 0;
    return Array.from({ length: nulls.length }, (_, row) => (nulls.has(row) ? 0n : values[from++]));
}

function sixteen(input: Input, machine: Machine, count: number): Coded {
    const coded = slices(input, machine, count);
    if (!areSixteen(coded.entries)) throw input.malformed("a value that is not 16 bytes long");
    return coded;
}

function areSixteen(entries: Slices): boolean {
    if (entries.width !== undefined) return entries.width === 16 || entries.count === 0;
    return entries.offsets.every((offset, index) => offset === 16 * index);
}

const plainFloats = 0;
const decimalFloats = 1;
const splitFloats = 2;
const bitsOfFloats = 3;
const nearFloats = 4;

function readF64(input: Input, { machine, kept }: Means, count: number): Float64Array<ArrayBuffer> {
    const how = howFloatsAre(input);
    if (how === plainFloats) {
        input.align();
        return inBytes(input.take(8 * count, "plain floats"), count, Float64Array);
    }
    const address = wideFloats(input, machine, count, how, 64);
    const from = kept.copy(machine, address, 8 * count);
    return new Float64Array(kept.buffer, from, count);
}

function readF32(input: Input, machine: Machine, count: number): Float32Array<ArrayBuffer> {
    const how = howFloatsAre(input);
    if (how === plainFloats) {
        input.align();
        return inBytes(input.take(4 * count, "plain floats"), count, Float32Array);
    }
    if (how === decimalFloats || how === nearFloats) {
        const values = Float32Array.from(machine.float64(quotients(input, machine, count), count));
        const bits = new Uint32Array(values.buffer);
        if (how === nearFloats) {
            const steps = differences(input, machine, count);
            for (let row = 0; row < count; row++) bits[row] += steps[row];
        }
        exceptions(input, machine, count, (row, low) => (bits[row] = low));
        return values;
    }
    const address = wideFloats(input, machine, count, how, 32);
    const wide = new Uint32Array(machine.buffer, address, 2 * count);
    const bits = new Uint32Array(count);
    for (let row = 0; row < count; row++) bits[row] = wide[2 * row];
    return new Float32Array(bits.buffer);
}

function howFloatsAre(input: Input): number {
    const how = input.byte("how floats are coded");
    if (how > nearFloats) throw input.malformed(`no coding of floats is numbered ${how}`);
    return how;
}

/** The address of eight bytes a value: the bits of doubles, or of floats of 32 bits. */
function wideFloats(input: Input, machine: Machine, count: number, how: number, width: number): number {
    if (how === bitsOfFloats) return integers(input, machine, count, 8, 0);
    if (how === splitFloats) {
        const lower = input.byte("the number of lower bits");
        if (lower >= width) throw input.malformed(`${lower} lower bits of ${width}`);
        const address = integers(input, machine, count, 8, 1);
        const bits = input.bring(machine, packedBytes(count, lower), "lower bits");
        if (lower > 0) machine.kernels.join64(address, bits, lower, count);
        return address;
    }
    const address = quotients(input, machine, count);
    if (how === nearFloats) {
        const steps = differences(input, machine, count);
        const bits = machine.int32(address, 2 * count);
        for (let row = 0; row < count; row++) {
            if (steps[row] === 0) continue;
            const low = (bits[2 * row] >>> 0) + steps[row];
            bits[2 * row] = low;
            bits[2 * row + 1] += Math.floor(low / 2 ** 32);
        }
    }
    exceptions(input, machine, count, (row, low, high) => {
        const bits = machine.int32(address + 8 * row, 2);
        bits[0] = low;
        bits[1] = high;
    });
    return address;
}

/** Integers divided by a power of ten, as doubles. */
function quotients(input: Input, machine: Machine, count: number): number {
    const exponent = input.byte("the power of ten");
    if (exponent > 18) throw input.malformed(`a power of ten of ${exponent}`);
    const address = integers(input, machine, count, 8, 1);
    machine.kernels.quotients(address, Number(`1e${exponent}`), address, count);
    return address;
}

/** How many floats lie between each quotient and the value, with a sign. */
function differences(input: Input, machine: Machine, count: number): Int32Array {
    const address = integers(input, machine, count, 4, 1);
    return machine.int32(address, count);
}

/** The bits of the floats that are no such quotients. */
function exceptions(input: Input, machine: Machine, count: number, put: (row: number, low: number, high: number) => void): void {
    const number = input.count(count, "the number of exceptions");
    const gapsAt = integers(input, machine, number, 4, 1);
    const bitsAt = integers(input, machine, number, 8, 1);
    const gaps = new Uint32Array(machine.buffer, gapsAt, number);
    const bits = new Uint32Array(machine.buffer, bitsAt, 2 * number);
    let row = 0;
    for (let index = 0; index < number; index++) {
        row += gaps[index];
        if (row >= count) throw input.malformed("an exception beyond the column's end");
        put(row, bits[2 * index], bits[2 * index + 1]);
        row++;
    }
}


/** The values of a column of no rows. */
export function emptyValues(field: Field, wide: WideIntegers): Values {
    switch (field.kind.type) {
        case "i8":
            return new Int8Array(0);
        case "i16":
            return new Int16Array(0);
        case "i32":
        case "date":
            return new Int32Array(0);
        case "u16":
            return new Uint16Array(0);
        case "u32":
            return new Uint32Array(0);
        case "f32":
            return new Float32Array(0);
        case "bool":
        case "u8":
            return new Uint8Array(0);
        case "text":
            return new Texts({ text: "", ...nothing }, undefined);
        case "bytes":
        case "uuid":
            return new ByteSlices({ all: new Uint8Array(0), ...nothing }, undefined);
        case "u64":
            return wide === "bigint" ? new BigUint64Array(0) : new Float64Array(0);
        case "i64":
        case "time":
        case "timestamp":
        case "decimal":
            return wide === "bigint" ? new BigInt64Array(0) : new Float64Array(0);
        case "f64":
            return new Float64Array(0);
    }
}

const nothing = { count: 0, width: 0, offsets: new Uint32Array(1) };

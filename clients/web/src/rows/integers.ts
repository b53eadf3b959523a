// Lists of integers, which most columns come down to: one byte for the codec, a base, and what the codec needs, which
// may be lists again. A list is decoded into the memory of a `Machine`: four bytes a value for types of up to 32 bits,
// whose upper bits mean nothing for narrower types, and eight bytes a value for the others.

import type { Input } from "./input.js";
import type { Machine } from "./kernels.js";

/** The bytes of a value of the list's type. */
export type Size = 1 | 2 | 4 | 8;

const constant = 0;
const arithmetic = 1;
const packed = 2;
const scaled = 3;
const delta = 4;
const patched = 5;
const runs = 6;
const dictionary = 7;
const symbols = 8;
const classes = 9;
const radix = 10;
export const plain = 11;

/** How deep lists may lie in lists. */
const deepest = 8;
/** The bits of a probability of the entropy coder, and the least state. */
const shares = 4096;
const least = 0x8000;

/** How many bytes `count` values of `width` bits take. */
export function packedBytes(count: number, width: number): number {
    return Math.ceil((count * width) / 8);
}

/** Decodes a list of `count` integers, and returns its address. */
export function integers(input: Input, machine: Machine, count: number, size: Size, depth: number): number {
    if (depth >= deepest) throw input.malformed(`lists nested deeper than ${deepest}`);
    const codec = input.byte("a codec");
    input.reserve(count * width(size));
    if (codec === plain) return widened(plainBytes(input, count, size), machine, count, size);
    input.zigzag("the base of a list");
    const { low, high } = input;
    switch (codec) {
        case constant:
            return unpacked(machine, 0, 0, low, high, count, size);
        case arithmetic: {
            input.zigzag("the step of a sequence");
            const to = machine.allocate(count * width(size));
            if (size === 8) machine.kernels.sequence64(low, high, input.low, input.high, to, count);
            else machine.kernels.sequence32(low, input.low, to, count);
            return to;
        }
        case packed: {
            const bits = widthOf(input);
            const from = input.bring(machine, packedBytes(count, bits), "packed offsets");
            return unpacked(machine, from, bits, low, high, count, size);
        }
        case scaled: {
            input.wide("a divisor");
            const { low: factorLow, high: factorHigh } = input;
            const at = integers(input, machine, count, size, depth + 1);
            if (size === 8) machine.kernels.scale64(low, high, factorLow, factorHigh, at, count);
            else machine.kernels.scale32(low, factorLow, at, count);
            return at;
        }
        case delta:
            return sums(input, machine, low, high, count, size, depth);
        case patched:
            return corrected(input, machine, low, high, count, size, depth);
        case runs:
            return repeated(input, machine, low, high, count, size, depth);
        case dictionary: {
            const { kinds, entries, codes } = entriesAndCodes(input, machine, low, high, count, size, depth);
            const to = machine.allocate(count * width(size));
            const { gather64, gather32 } = machine.kernels;
            const gather = size === 8 ? gather64 : gather32;
            if (!gather(entries, kinds, codes, to, count)) throw input.malformed("a code beyond the dictionary's end");
            return to;
        }
        case symbols: {
            const at = entropy(input, machine, count, depth);
            if (size !== 8) {
                shifted(machine, low, high, at, count, size);
                return at;
            }
            // As classes that no bits follow would be.
            const to = machine.allocate(count * 8);
            const wide = new Uint32Array(machine.buffer, to, 2 * count);
            const narrow = machine.int32(at, count);
            for (let index = 0; index < count; index++) {
                wide[2 * index] = narrow[index];
                wide[2 * index + 1] = 0;
            }
            shifted(machine, low, high, to, count, size);
            return to;
        }
        case classes: {
            const at = entropy(input, machine, count, depth);
            const bits = machine.kernels.classBits(at, count);
            const from = input.bring(machine, Math.ceil(bits / 8), "the bits of offsets");
            const to = machine.allocate(count * width(size));
            if (size === 8) machine.kernels.classes64(at, from, low, high, to, count);
            else machine.kernels.classes32(at, from, low, to, count);
            return to;
        }
        case radix:
            return groups(input, machine, low, high, count, size);
        default:
            throw input.malformed(`no codec of integers is numbered ${codec}`);
    }
}

/** A list that says of each value which entry of another list it is. */
export interface Dictionary {
    readonly kinds: number;
    /** The addresses of both lists. Nothing has been checked of the codes, which have four bytes each. */
    readonly entries: number;
    readonly codes: number;
}

/** The dictionary that a list is coded by; nothing, and nothing is read, if it is coded otherwise. */
export function dictionaryOf(input: Input, machine: Machine, count: number, size: Size, depth: number): Dictionary | undefined {
    if (input.left === 0 || input.bytes[input.at] !== dictionary) return undefined;
    input.at++;
    input.reserve(count * width(size));
    input.zigzag("the base of a list");
    return entriesAndCodes(input, machine, input.low, input.high, count, size, depth);
}

function entriesAndCodes(input: Input, machine: Machine, low: number, high: number, count: number, size: Size, depth: number): Dictionary {
    const kinds = input.count(count, "the number of entries of a dictionary");
    const entries = integers(input, machine, kinds, size, depth + 1);
    shifted(machine, low, high, entries, kinds, size);
    return { kinds, entries, codes: integers(input, machine, count, 2, depth + 1) };
}

/** The bytes that a value of a list takes in the machine. */
function width(size: Size): number {
    return size === 8 ? 8 : 4;
}

function widthOf(input: Input): number {
    const bits = input.byte("a width");
    if (bits > 64) throw input.malformed(`a width of ${bits} bits`);
    return bits;
}

/** What stands behind the codec of a plain list: the values as they are. */
export function plainBytes(input: Input, count: number, size: Size): Uint8Array<ArrayBuffer> {
    const found = input.byte("the size of plain values");
    if (found !== size) throw input.malformed(`plain values of ${found} bytes where ${size} belong`);
    input.align();
    return input.take(count * size, "plain values");
}

function widened(bytes: Uint8Array, machine: Machine, count: number, size: Size): number {
    if (size >= 4) return machine.bring(bytes);
    const to = machine.allocate(count * 4);
    const values = machine.int32(to, count);
    if (size === 1) values.set(bytes);
    else for (let index = 0; index < count; index++) values[index] = bytes[2 * index] | (bytes[2 * index + 1] << 8);
    return to;
}

function unpacked(machine: Machine, from: number, bits: number, low: number, high: number, count: number, size: Size): number {
    const to = machine.allocate(count * width(size));
    if (size === 8) machine.kernels.unpack64(from, bits, low, high, to, count);
    else machine.kernels.unpack32(from, bits, low, to, count);
    return to;
}

/** Adds the base to each value. */
function shifted(machine: Machine, low: number, high: number, at: number, count: number, size: Size): void {
    if (low === 0 && high === 0) return;
    if (size === 8) machine.kernels.scale64(low, high, 1, 0, at, count);
    else machine.kernels.scale32(low, 1, at, count);
}

function sums(input: Input, machine: Machine, low: number, high: number, count: number, size: Size, depth: number): number {
    if (count === 0) throw input.malformed("differences of no values");
    const differences = integers(input, machine, count - 1, size, depth + 1);
    const each = width(size);
    const to = machine.allocate(count * each);
    machine.bytes.copyWithin(to + each, differences, differences + (count - 1) * each);
    const head = machine.int32(to, each / 4);
    head[0] = low;
    if (size === 8) {
        head[1] = high;
        machine.kernels.sum64(to, count);
    } else {
        machine.kernels.sum32(to, count);
    }
    return to;
}

function corrected(input: Input, machine: Machine, low: number, high: number, count: number, size: Size, depth: number): number {
    const bits = widthOf(input);
    const from = input.bring(machine, packedBytes(count, bits), "packed offsets");
    const to = unpacked(machine, from, bits, low, high, count, size);
    const exceptions = input.count(count, "the number of exceptions");
    const gaps = integers(input, machine, exceptions, 4, depth + 1);
    const highs = integers(input, machine, exceptions, 8, depth + 1);
    if (bits >= 64) return to;
    const steps = new Uint32Array(machine.buffer, gaps, exceptions);
    const narrow = machine.int32(to, size === 8 ? 0 : count);
    const wide = new BigUint64Array(machine.buffer, to, size === 8 ? count : 0);
    const words = new BigUint64Array(machine.buffer, highs, exceptions);
    const halves = machine.int32(highs, 2 * exceptions);
    const shift = BigInt(bits);
    let row = 0;
    for (let index = 0; index < exceptions; index++) {
        row += steps[index];
        if (row >= count) throw input.malformed("an exception beyond the list's end");
        if (size === 8) wide[row] += words[index] << shift;
        else if (bits < 32) narrow[row] += halves[2 * index] << bits;
        row++;
    }
    return to;
}

function repeated(input: Input, machine: Machine, low: number, high: number, count: number, size: Size, depth: number): number {
    const number = input.count(count, "the number of runs");
    const values = integers(input, machine, number, size, depth + 1);
    shifted(machine, low, high, values, number, size);
    const lengths = integers(input, machine, number, 4, depth + 1);
    const to = machine.allocate(count * width(size));
    const long = new Uint32Array(machine.buffer, lengths, number);
    let row = 0;
    const fill = (at: { fill(value: never, from: number, to: number): void }, value: unknown, length: number): void => {
        if (length > count - row) throw input.malformed("runs longer than the list");
        at.fill(value as never, row, row + length);
        row += length;
    };
    if (size === 8) {
        const each = new BigUint64Array(machine.buffer, values, number);
        const all = new BigUint64Array(machine.buffer, to, count);
        for (let run = 0; run < number; run++) fill(all, each[run], long[run] + 1);
    } else {
        const each = machine.int32(values, number);
        const all = machine.int32(to, count);
        for (let run = 0; run < number; run++) fill(all, each[run], long[run] + 1);
    }
    if (row !== count) throw input.malformed("runs shorter than the list");
    return to;
}

/** Symbols below 256 by the entropy coder, as values of four bytes. */
function entropy(input: Input, machine: Machine, count: number, depth: number): number {
    const kinds = input.byte("the last symbol") + 1;
    const probabilities = integers(input, machine, kinds, 2, depth + 1);
    const places = machine.allocate(4 * shares);
    const each = machine.int32(probabilities, kinds);
    const table = machine.int32(places, shares);
    let start = 0;
    for (let symbol = 0; symbol < kinds; symbol++) {
        const share = each[symbol] & 0xffff;
        if (share > shares - start) throw input.malformed("probabilities of more than 4096 in all");
        const all = ((share - 1) << 20) | symbol;
        for (let offset = 0; offset < share; offset++) table[start + offset] = all | (offset << 8);
        start += share;
    }
    if (start !== shares) throw input.malformed("probabilities of less than 4096 in all");
    const states = machine.bring(input.take(16, "the states of the entropy coder"));
    for (const state of new Uint32Array(machine.buffer, states, 4)) {
        if (state < least || state >= 2 ** 31) throw input.malformed("a state of the entropy coder that cannot be");
    }
    const number = input.count(count, "the number of words");
    const words = input.bring(machine, 2 * number, "words of the entropy coder");
    const to = machine.allocate(4 * count);
    const sound = machine.kernels.symbols(places, states, words, number, to, count);
    // Having given all its words and its symbols, each state is where the encoder began.
    if (!sound || machine.int32(states, 4).some((state) => state !== least)) {
        throw input.malformed("words of the entropy coder that do not end where they began");
    }
    return to;
}

/** Several values as one number in mixed radix. */
function groups(input: Input, machine: Machine, low: number, high: number, count: number, size: Size): number {
    input.wide("a radix");
    const { low: radixLow, high: radixHigh } = input;
    const each = input.byte("the size of a group");
    const base = (BigInt(radixHigh >>> 0) << 32n) | BigInt(radixLow >>> 0);
    if (base < 2n || each === 0 || each > 16) throw input.malformed("no radix has such groups");
    const product = base ** BigInt(each);
    if (product > 2n ** 64n) throw input.malformed("a group in mixed radix of more than 64 bits");
    const bits = (product - 1n).toString(2).length;
    const from = input.bring(machine, packedBytes(Math.ceil(count / each), bits), "groups in mixed radix");
    const to = machine.allocate(count * width(size));
    if (size === 8) machine.kernels.radix64(from, bits, radixLow, radixHigh, each, low, high, to, count);
    else machine.kernels.radix32(from, bits, radixLow, radixHigh, each, low, to, count);
    return to;
}

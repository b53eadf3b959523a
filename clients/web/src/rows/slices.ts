// Columns of text and of bytes: values of any length, one behind the other.

import { beginOf, type Codes, type Ends } from "./ends.js";
import { RowsError } from "./error.js";
import type { Input } from "./input.js";
import { dictionaryOf, integers } from "./integers.js";
import type { Machine } from "./kernels.js";

const lengths = 0;
const hexLower = 1;
const hexUpper = 2;
const digits = 3;
const dictionary = 4;
const prefixes = 5;
const alphabet = 6;
const fixed = 7;
const offsets = 8;
const symbolTable = 9;

/** The most symbols that a table has, and how long one is. */
const mostSymbols = 255;
const longestSymbol = 8;

/** How deep lists of values may lie in lists of values. */
const deepest = 3;
/** Below this, a text is made faster by a call with each of its bytes. */
const short = 256;

/** Values one behind the other. */
export interface Slices extends Ends {
    readonly all: Uint8Array<ArrayBuffer>;
    /** Whether all bytes are known to be letters and digits, and so need no look as text. */
    readonly isAscii: boolean;
    /** Whether they lie in the machine's memory, and have to be used at once. */
    readonly isBorrowed: boolean;
}

/** Values, or a list of different ones and which of them each is. */
export interface Coded {
    readonly entries: Slices;
    readonly codes: Codes | undefined;
}

const none = new Uint32Array(0);

function evenly(all: Uint8Array<ArrayBuffer>, width: number, count: number, isAscii: boolean): Slices {
    return { all, width, offsets: none, count, isAscii, isBorrowed: false };
}

/** What was made in the machine's memory: lent, where nothing else is made in it before that is used. */
function made(machine: Machine, address: number, ends: Ends, isAscii: boolean, depth: number): Slices {
    const isBorrowed = depth === 0;
    const bytes = machine.bytes.subarray(address, address + totalOf(ends));
    return { ...ends, all: isBorrowed ? bytes : bytes.slice(), isAscii, isBorrowed };
}

/** A copy of numbers in the machine's memory. */
function copied(machine: Machine, address: number, count: number): Uint32Array<ArrayBuffer> {
    return new Uint32Array(machine.buffer, address, count).slice();
}

/** A copy of codes in the machine's memory, each of which has to be below `kinds`. */
function codesOf(input: Input, machine: Machine, address: number, count: number, kinds: number): Codes {
    const { kernels, buffer } = machine;
    if (!kernels.below(address, kinds, count)) throw input.malformed("a code beyond the dictionary's end");
    // Two bytes are always enough: a chunk has at most 65,536 rows.
    const size = kinds > 0x100 ? 2 : 1;
    kernels.narrow(address, size, count);
    return size === 2 ? new Uint16Array(buffer, address, count).slice() : new Uint8Array(buffer, address, count).slice();
}

export function slices(input: Input, machine: Machine, count: number): Coded {
    return coded(input, machine, count, 0);
}

function coded(input: Input, machine: Machine, count: number, depth: number): Coded {
    if (depth >= deepest) throw input.malformed(`texts nested deeper than ${deepest}`);
    const codec = input.byte("how text is coded");
    if (codec === hexLower || codec === hexUpper || codec === digits) return spelled(input, machine, codec, count, depth);
    if (codec !== dictionary) return { entries: plainly(input, machine, codec, count, depth), codes: undefined };
    const kinds = input.count(count, "the number of entries of a dictionary");
    const entries = expanded(input, coded(input, machine, kinds, depth + 1));
    input.reserve(4 * count);
    return { entries, codes: codesOf(input, machine, integers(input, machine, count, 4, 1), count, kinds) };
}

/** Texts that stand for integers. Where those are in a dictionary, the texts are as well, and each is made once. */
function spelled(input: Input, machine: Machine, codec: number, count: number, depth: number): Coded {
    const width = digitsOf(input, count);
    const size = codec !== digits && width <= 8 ? 4 : 8;
    const shared = dictionaryOf(input, machine, count, size, 1);
    const kinds = shared === undefined ? count : shared.kinds;
    const from = shared === undefined ? integers(input, machine, count, size, 1) : shared.entries;
    const codes = shared === undefined ? undefined : codesOf(input, machine, shared.codes, count, kinds);
    const to = machine.allocate(width * kinds);
    if (codec === digits) machine.kernels.decimal(from, width, to, kinds);
    else machine.kernels.hex(from, size, width, codec === hexLower ? 97 : 65, to, kinds);
    return { entries: made(machine, to, { count: kinds, width, offsets: none }, true, depth), codes };
}

/** Every value at its place. */
export function expanded(input: Input, { entries, codes }: Coded): Slices {
    if (codes === undefined) return entries;
    const count = codes.length;
    const { all, width, isAscii } = entries;
    if (width !== undefined) {
        input.reserve(width * count);
        const each = new Uint8Array(width * count);
        for (let index = 0; index < count; index++) {
            each.set(all.subarray(codes[index] * width, (codes[index] + 1) * width), index * width);
        }
        return evenly(each, width, count, isAscii);
    }
    let total = 0;
    const begins = new Uint32Array(count + 1);
    for (let index = 0; index < count; index++) {
        total += entries.offsets[codes[index] + 1] - entries.offsets[codes[index]];
        within(input, total);
        begins[index + 1] = total;
    }
    input.reserve(total + 4 * count);
    const each = new Uint8Array(total);
    for (let index = 0; index < count; index++) {
        each.set(all.subarray(entries.offsets[codes[index]], entries.offsets[codes[index] + 1]), begins[index]);
    }
    return { all: each, width: undefined, offsets: begins, count, isAscii, isBorrowed: false };
}

function plainly(input: Input, machine: Machine, codec: number, count: number, depth: number): Slices {
    switch (codec) {
        case lengths: {
            const ends = readLengths(input, machine, count);
            return { ...ends, all: input.take(totalOf(ends), "text"), isAscii: false, isBorrowed: false };
        }
        case prefixes:
            return fromPrefixes(input, machine, count, depth);
        case alphabet: {
            const kinds = input.byte("the size of an alphabet") + 1;
            const letters = input.bring(machine, kinds, "an alphabet");
            const ends = readLengths(input, machine, count);
            const total = totalOf(ends);
            // A constant list of integers takes no bytes, however long it is: the limit is what stops it.
            input.reserve(total);
            const symbols = integers(input, machine, total, 1, 1);
            const to = machine.allocate(total);
            if (!machine.kernels.spell(symbols, letters, kinds, to, total)) {
                throw input.malformed("a byte beyond the alphabet's end");
            }
            return made(machine, to, ends, false, depth);
        }
        case symbolTable: {
            const { address, kinds } = readSymbols(input, machine);
            const ends = readLengths(input, machine, count);
            const total = totalOf(ends);
            // Both lists may take no bytes, however long they are: the limit is what stops them.
            input.reserve(total);
            const number = input.count(total, "the number of codes");
            const codes = integers(input, machine, number, 1, 1);
            // A symbol is written in eight bytes, however long it is.
            const to = machine.allocate(total + longestSymbol);
            if (!machine.kernels.expand(codes, number, address, kinds, to, total)) {
                throw input.malformed("codes that stand for other bytes than there are");
            }
            return made(machine, to, ends, false, depth);
        }
        case fixed: {
            const width = input.count(2 ** 32 - 1, "the length of values");
            return evenly(input.take(within(input, width * count), "text"), width, count, false);
        }
        case offsets: {
            input.align();
            const bytes = input.take(4 * (count + 1), "the places where values begin");
            input.reserve(4 * count);
            const begins = aligned(bytes, 4) ? new Uint32Array(bytes.buffer, bytes.byteOffset, count + 1) : new Uint32Array(bytes.slice().buffer);
            const all = input.take(begins[count], "text");
            for (let index = 0, before = 0; index <= count; index++) {
                const begin = begins[index];
                if (begin < before || (index === 0 && begin !== 0)) throw input.malformed("values that end before they begin");
                before = begin;
            }
            return { all, width: undefined, offsets: begins, count, isAscii: false, isBorrowed: false };
        }
        default:
            throw input.malformed(`no coding of text is numbered ${codec}`);
    }
}

/** Symbols at a distance of eight bytes, and behind the place of the last one their lengths. */
function readSymbols(input: Input, machine: Machine): { address: number; kinds: number } {
    const address = machine.allocate((longestSymbol + 1) * mostSymbols);
    let kinds = 0;
    const counts = input.take(longestSymbol, "how many symbols there are");
    for (let length = 1; length <= longestSymbol; length++) {
        for (let left = counts[length - 1]; left > 0; left--, kinds++) {
            if (kinds === mostSymbols) throw input.malformed(`a table of more than ${mostSymbols} symbols`);
            machine.bytes.set(input.take(length, "a symbol"), address + longestSymbol * kinds);
            machine.bytes[address + longestSymbol * mostSymbols + kinds] = length;
        }
    }
    return { address, kinds };
}

/** Whether bytes can be looked at as numbers of this size where they are. */
export function aligned(bytes: Uint8Array, size: number): boolean {
    return bytes.byteOffset % size === 0;
}

function digitsOf(input: Input, count: number): number {
    const width = input.byte("the number of digits");
    if (width < 1 || width > 16) throw input.malformed(`values of ${width} digits`);
    input.reserve(within(input, width * count));
    return width;
}

function within(input: Input, total: number): number {
    if (total > 2 ** 32 - 1) throw input.malformed("a column's text of more than 4 GiB");
    return total;
}

function totalOf(ends: Ends): number {
    return beginOf(ends, ends.count);
}

/** Lengths that are all equal are kept as one. */
function readLengths(input: Input, machine: Machine, count: number): Ends {
    const address = integers(input, machine, count, 4, 1);
    const each = new Uint32Array(machine.buffer, address, count);
    const first = count === 0 ? 0 : each[0];
    if (each.every((length) => length === first)) {
        within(input, first * count);
        return { count, width: first, offsets: none };
    }
    const begins = new Uint32Array(count + 1);
    let total = 0;
    for (let index = 0; index < count; index++) {
        total += each[index];
        within(input, total);
        begins[index + 1] = total;
    }
    return { count, width: undefined, offsets: begins };
}

function fromPrefixes(input: Input, machine: Machine, count: number, depth: number): Slices {
    const shared = copied(machine, integers(input, machine, count, 4, 1), count);
    const rest = expanded(input, coded(input, machine, count, depth + 1));
    let total = rest.all.length;
    for (const same of shared) total = within(input, total + same);
    input.reserve(total);
    const all = new Uint8Array(total);
    const begins = new Uint32Array(count + 1);
    let begin = 0;
    let end = 0;
    for (let index = 0; index < count; index++) {
        const same = shared[index];
        if (same > end - begin) throw input.malformed("a value that shares more than the one before has");
        all.copyWithin(end, begin, begin + same);
        const own = rest.all.subarray(beginOf(rest, index), beginOf(rest, index + 1));
        all.set(own, end + same);
        begin = end;
        end += same + own.length;
        begins[index + 1] = end;
    }
    return { all, width: undefined, offsets: begins, count, isAscii: rest.isAscii, isBorrowed: false };
}

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The values as one string, and where each begins in that. */
export function asText(input: Input, slices: Slices): { text: string } & Ends {
    const { all, count, width, offsets } = slices;
    if (slices.isAscii && all.length < short) {
        return { text: String.fromCharCode.apply(null, all as unknown as number[]), count, width, offsets };
    }
    let text: string;
    try {
        text = utf8.decode(all);
    } catch (error) {
        if (error instanceof RangeError) throw new RowsError("limit", "a column's text is longer than a string may be");
        throw input.malformed("text that is not UTF-8");
    }
    // Each byte is a letter: places in one are places in the other.
    if (text.length === all.length) return { text, count, width, offsets };
    const begins = new Uint32Array(count + 1);
    let at = 0;
    let place = 0;
    for (let index = 0; index <= count; index++) {
        const begin = width === undefined ? offsets[index] : width * index;
        for (; at < begin; at++) {
            // A letter's first byte stands for one unit of a string, that of four bytes for two.
            const byte = all[at];
            if ((byte & 0xc0) !== 0x80) place += byte >= 0xf0 ? 2 : 1;
        }
        if (begin < all.length && (all[begin] & 0xc0) === 0x80) throw input.malformed("a value that ends inside a character");
        begins[index] = place;
    }
    return { text, count, width: undefined, offsets: begins };
}

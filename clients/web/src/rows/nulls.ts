import type { Input } from "./input.js";
import { integers } from "./integers.js";
import type { Machine } from "./kernels.js";

/** Which rows of a column are null: one bit a row, the first row in the lowest bit of the first byte. */
export class Nulls {
    readonly #bits: Uint8Array;
    readonly length: number;
    /** How many rows are null. */
    readonly count: number;

    constructor(bits: Uint8Array, length: number) {
        // What lies behind the last row in its byte is none.
        if (length % 8 > 0) bits[length >> 3] &= (1 << (length % 8)) - 1;
        this.#bits = bits;
        this.length = length;
        let count = 0;
        for (let row = 0; row < length; row++) count += (bits[row >> 3] >> (row & 7)) & 1;
        this.count = count;
    }

    /** Whether a row is null; a row that is not there is not. */
    has(row: number): boolean {
        return ((this.#bits[row >> 3] >> (row & 7)) & 1) === 1;
    }
}

const asBytes = 0;
const ones = 1;
const zeros = 2;

/** A list of bits, eight a byte, the first in the lowest. */
export function readBits(input: Input, machine: Machine, count: number): Uint8Array<ArrayBuffer> {
    const length = Math.ceil(count / 8);
    input.reserve(length);
    const how = input.byte("how bits are coded");
    if (how === asBytes) {
        const address = integers(input, machine, length, 1, 0);
        return Uint8Array.from(machine.int32(address, length));
    }
    if (how !== ones && how !== zeros) throw input.malformed(`no coding of bits is numbered ${how}`);
    const rare = input.count(count, "the number of places");
    const address = integers(input, machine, rare, 4, 1);
    const gaps = new Uint32Array(machine.buffer, address, rare);
    const bits = new Uint8Array(length);
    let at = 0;
    for (const gap of gaps) {
        at += gap;
        if (at >= count) throw input.malformed("a place beyond the last bit");
        bits[at >> 3] |= 1 << (at & 7);
        at++;
    }
    if (how === zeros) for (let index = 0; index < length; index++) bits[index] = ~bits[index];
    return bits;
}

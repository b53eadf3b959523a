import { RowsError } from "./error.js";
import type { Machine } from "./kernels.js";

/** A part of the encoded bytes that is read from its beginning to its end. */
export class Input {
    readonly bytes: Uint8Array<ArrayBuffer>;
    at = 0;
    /** Where in `bytes` this part ends. */
    readonly #end: number;
    /** Where in the whole stream `bytes` begins. */
    readonly origin: number;
    /** The halves of the number that `wide` or `zigzag` has read last. */
    low = 0;
    high = 0;
    #budget: number;
    readonly #limit: number;
    /** Where `bytes` lie in a machine's memory; below 0 if they do not. */
    readonly #address: number;

    /**
     * `limit` is how many bytes of columns may be made, of which `used` are there. `address` says where in a machine's
     * memory the bytes lie as well.
     */
    constructor(bytes: Uint8Array<ArrayBuffer>, origin: number, limit: number, used = 0, address = -1, from = 0, end = bytes.length) {
        this.bytes = bytes;
        this.origin = origin;
        this.at = from;
        this.#end = end;
        this.#limit = limit;
        this.#budget = limit - used;
        this.#address = address;
    }

    /** The next bytes as a part of their own, in which columns may take what is left when `used` bytes are there. */
    part(count: number, used: number, what: string): Input {
        const from = this.skip(count, what);
        return new Input(this.bytes, this.origin, this.#limit, used, this.#address, from, from + count);
    }

    get left(): number {
        return this.#end - this.at;
    }

    /** Where the next byte lies in the stream. */
    get position(): number {
        return this.origin + this.at;
    }

    /** How many bytes of columns were made so far. */
    get used(): number {
        return this.#limit - this.#budget;
    }

    malformed(reason: string): RowsError {
        return new RowsError("malformed", `the packed rows are damaged at byte ${this.position}: ${reason}`, this.position);
    }

    /** Asks for room for that many bytes of columns. */
    reserve(bytes: number): void {
        this.#budget -= bytes;
        if (this.#budget < 0) {
            throw new RowsError(
                "limit",
                `the packed rows would take more than the limit of ${this.#limit} bytes; raise the limit if their sender is trusted`,
                this.position,
            );
        }
    }

    /** Steps over as many bytes, and says where the first of them lies in `bytes`. */
    skip(count: number, what: string): number {
        const from = this.at;
        if (!(count <= this.#end - from)) {
            const end = this.origin + this.#end;
            throw new RowsError("truncated", `the packed rows end too early, at byte ${end}: ${what} is missing`, end);
        }
        this.at = from + count;
        return from;
    }

    take(count: number, what: string): Uint8Array<ArrayBuffer> {
        const from = this.skip(count, what);
        return this.bytes.subarray(from, from + count);
    }

    /** Where in the machine's memory the next bytes lie: nothing may be written there. */
    bring(machine: Machine, count: number, what: string): number {
        const from = this.skip(count, what);
        return this.#address < 0 ? machine.bring(this.bytes.subarray(from, from + count)) : this.#address + from;
    }

    byte(what: string): number {
        return this.bytes[this.skip(1, what)];
    }

    /** An unsigned number of 64 bits (LEB128), into `low` and `high`. */
    wide(what: string): void {
        let low = 0;
        let high = 0;
        for (let shift = 0; shift < 64; shift += 7) {
            const byte = this.byte(what);
            const bits = byte & 127;
            if (shift < 28) {
                low |= bits << shift;
            } else if (shift === 28) {
                low |= bits << 28;
                high = bits >>> 4;
            } else if (shift === 63 && bits > 1) {
                break;
            } else {
                high |= bits << (shift - 32);
            }
            if (byte < 128) {
                this.low = low;
                this.high = high;
                return;
            }
        }
        throw this.malformed(`${what} is a number of more than 64 bits`);
    }

    /** A number with a sign, whose lowest bit says which, into `low` and `high`. */
    zigzag(what: string): void {
        this.wide(what);
        const sign = -(this.low & 1);
        this.low = ((this.low >>> 1) | (this.high << 31)) ^ sign;
        this.high = (this.high >>> 1) ^ sign;
    }

    /** A number that may not exceed `most`, which is below 2^53. */
    count(most: number, what: string): number {
        this.wide(what);
        // Not one formula for both: what comes out of it would be a floating point number for engines, also if small.
        const count = this.high === 0 ? this.low >>> 0 : (this.high >>> 0) * 2 ** 32 + (this.low >>> 0);
        if (count > most) throw this.malformed(`${what} is ${count}, which cannot exceed ${most}`);
        return count;
    }

    /** Skips what brings the next byte to a multiple of 8 in the stream. */
    align(): void {
        const padding = this.byte("padding");
        if (padding > 7) throw this.malformed("a padding of more than 7 bytes");
        this.skip(padding, "padding");
    }
}

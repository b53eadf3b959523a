// Numbers and texts of a frame, as docs/src/link.md has them.

import { LinkError } from "./error.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Bytes that grow. */
export class Output {
    #bytes = new Uint8Array(256);
    #length = 0;

    get length(): number {
        return this.#length;
    }

    #room(count: number): void {
        const needed = this.#length + count;
        if (needed <= this.#bytes.length) return;
        const bytes = new Uint8Array(Math.max(needed, this.#bytes.length * 2));
        bytes.set(this.#bytes.subarray(0, this.#length));
        this.#bytes = bytes;
    }

    byte(value: number): void {
        this.#room(1);
        this.#bytes[this.#length++] = value;
    }

    /** Seven bits a byte, the lowest first; the highest bit is set where more follow. */
    number(value: number | bigint): void {
        if (typeof value === "bigint") {
            for (; value > 0x7fn; value >>= 7n) this.byte(Number(value & 0x7fn) | 0x80);
            return this.byte(Number(value));
        }
        // Division, since shifts have 32 bits.
        for (; value > 0x7f; value = Math.floor(value / 128)) this.byte((value % 128) | 0x80);
        this.byte(value);
    }

    bytes(value: Uint8Array): void {
        this.#room(value.length);
        this.#bytes.set(value, this.#length);
        this.#length += value.length;
    }

    text(value: string): void {
        const bytes = encoder.encode(value);
        this.number(bytes.length);
        this.bytes(bytes);
    }

    /** A number of four bytes at this place, the lowest first. */
    setLength(at: number, value: number): void {
        new DataView(this.#bytes.buffer).setUint32(at, value, true);
    }

    /** A signed number of four bytes, the lowest first. */
    int32(value: number): void {
        this.#room(4);
        new DataView(this.#bytes.buffer).setInt32(this.#length, value, true);
        this.#length += 4;
    }

    /** What was written so far, which then begins anew. */
    take(): Uint8Array<ArrayBuffer> {
        const taken = this.#bytes.slice(0, this.#length);
        this.#length = 0;
        // What a burst has taken is given back.
        if (this.#bytes.length > 1 << 20) this.#bytes = new Uint8Array(256);
        return taken;
    }

    /** Takes back what was written behind this length. */
    truncate(length: number): void {
        this.#length = length;
    }
}

/** What is left of a frame. */
export class Input {
    readonly #bytes: Uint8Array;
    #at = 0;

    constructor(bytes: Uint8Array) {
        this.#bytes = bytes;
    }

    byte(what: string): number {
        const byte = this.#bytes[this.#at];
        if (byte === undefined) throw missing(what);
        this.#at++;
        return byte;
    }

    /** A number of 64 bits at most. */
    wide(what: string): bigint {
        let number = 0n;
        for (let place = 0n; place < 10n; place++) {
            const byte = this.byte(what);
            const bits = BigInt(byte & 0x7f);
            if (place === 9n && bits > 1n) break;
            number |= bits << (7n * place);
            if ((byte & 0x80) === 0) return number;
        }
        throw protocol(`${what} has more than 64 bits`);
    }

    /** A number that is exact here. */
    number(what: string): number {
        // Most have one byte.
        const first = this.#bytes[this.#at];
        if (first !== undefined && first < 0x80) {
            this.#at++;
            return first;
        }
        const number = this.wide(what);
        if (number > BigInt(Number.MAX_SAFE_INTEGER)) throw protocol(`${what} has more than the 53 bits that a number has here`);
        return Number(number);
    }

    /** As `number`, of which no more is needed than that it is large. */
    clamped(what: string): number {
        const number = this.wide(what);
        return number > BigInt(Number.MAX_SAFE_INTEGER) ? Number.MAX_SAFE_INTEGER : Number(number);
    }

    take(count: number, what: string): Uint8Array {
        if (count > this.#bytes.length - this.#at) throw missing(what);
        this.#at += count;
        return this.#bytes.subarray(this.#at - count, this.#at);
    }

    text(what: string): string {
        const bytes = this.take(this.number(what), what);
        try {
            return decoder.decode(bytes);
        } catch {
            throw protocol(`${what} is not UTF-8`);
        }
    }

    int32(what: string): number {
        const bytes = this.take(4, what);
        return new DataView(bytes.buffer, bytes.byteOffset).getInt32(0, true);
    }

    /** How many things follow, each of which has so many bytes at least: no more memory is taken than was sent. */
    count(least: number, what: string): number {
        const count = this.number(what);
        if (count > (this.#bytes.length - this.#at) / least) throw missing(what);
        return count;
    }

    /** All that is left. */
    rest(): Uint8Array {
        const rest = this.#bytes.subarray(this.#at);
        this.#at = this.#bytes.length;
        return rest;
    }

    end(what: string): void {
        const left = this.#bytes.length - this.#at;
        if (left > 0) throw protocol(`${left} bytes too many in ${what}`);
    }
}

export function protocol(text: string): LinkError {
    return new LinkError("protocol", text);
}

function missing(what: string): LinkError {
    return protocol(`the frame ends before ${what}`);
}

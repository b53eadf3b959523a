import { RowsError } from "./error.js";
import { portable } from "./portable.js";
import { encoded } from "./kernels.wasm.js";

/**
 * The loops that a decoder's time goes into. They work on one memory and take addresses in it; what they do is said
 * in kernels/kernels.ts, of which there are two forms: WebAssembly, and JavaScript where that is not to be had.
 */
export interface Kernels {
    prepare(): void;
    checksum(before: number, at: number, length: number): number;
    unpack32(from: number, width: number, base: number, to: number, count: number): void;
    unpack64(from: number, width: number, low: number, high: number, to: number, count: number): void;
    sequence32(base: number, step: number, to: number, count: number): void;
    sequence64(low: number, high: number, stepLow: number, stepHigh: number, to: number, count: number): void;
    scale32(base: number, factor: number, at: number, count: number): void;
    scale64(low: number, high: number, factorLow: number, factorHigh: number, at: number, count: number): void;
    sum32(at: number, count: number): void;
    sum64(at: number, count: number): void;
    /** Not 0 if all is well; so do the others that return a number but `checksum` and `classBits`. */
    gather32(entries: number, kinds: number, codes: number, to: number, count: number): number;
    gather64(entries: number, kinds: number, codes: number, to: number, count: number): number;
    below(values: number, limit: number, count: number): number;
    symbols(places: number, states: number, words: number, wordCount: number, to: number, count: number): number;
    classBits(symbols: number, count: number): number;
    classes32(symbols: number, from: number, base: number, to: number, count: number): void;
    classes64(symbols: number, from: number, low: number, high: number, to: number, count: number): void;
    radix32(from: number, width: number, low: number, high: number, group: number, base: number, to: number, count: number): void;
    radix64(from: number, width: number, low: number, high: number, group: number, baseLow: number, baseHigh: number, to: number, count: number): void;
    narrow(at: number, size: number, count: number): void;
    hex(from: number, size: number, digits: number, letter: number, to: number, count: number): void;
    decimal(from: number, digits: number, to: number, count: number): void;
    spell(symbols: number, alphabet: number, kinds: number, to: number, count: number): number;
    expand(codes: number, count: number, symbols: number, kinds: number, to: number, total: number): number;
    quotients(from: number, divisor: number, to: number, count: number): void;
    join64(at: number, lower: number, width: number, count: number): void;
    exact(from: number, to: number, count: number, isSigned: number): number;
}

/** Below this are the tables of the checksum. */
const first = 1024 + 16 * 1024;
/** So many bytes behind what they were given may be read or written, and are there. */
const slack = 32;

/** Below 2^31, so that no address has a sign. */
const mostBytes = 2 ** 31 - 2 ** 17;

function tooLarge(): RowsError {
    return new RowsError("limit", "a column of one chunk takes more memory to decode than this page may have");
}

/** Kernels with their memory, in which lists are laid one behind the other until all are let go at once. */
export class Machine {
    readonly kernels: Kernels;
    /** The whole memory; another one after `allocate`. */
    buffer: ArrayBuffer;
    bytes: Uint8Array<ArrayBuffer>;
    readonly #grow: (bytes: number) => ArrayBuffer;
    #floor = first;
    #top = first;

    constructor(kernels: Kernels, buffer: ArrayBuffer, grow: (bytes: number) => ArrayBuffer) {
        this.kernels = kernels;
        this.buffer = buffer;
        this.bytes = new Uint8Array(buffer);
        this.#grow = grow;
        kernels.prepare();
    }

    /** Forgets all lists but what is held. */
    reset(): void {
        this.#top = this.#floor;
    }

    /** Forgets all lists, and brings bytes into the memory, which stay until others are held or nothing is. */
    hold(bytes: Uint8Array): number {
        this.release();
        const address = this.bring(bytes);
        this.#floor = this.#top;
        return address;
    }

    /** Forgets everything. */
    release(): void {
        this.#floor = this.#top = first;
    }

    /** Room for as many bytes, at a multiple of 8. What stands there is left from before. */
    allocate(bytes: number): number {
        const address = this.#top;
        const top = (address + bytes + 7) & ~7;
        if (top + slack > this.buffer.byteLength || bytes >= mostBytes) {
            if (address + bytes >= mostBytes) throw tooLarge();
            try {
                this.buffer = this.#grow(top + slack);
            } catch {
                throw tooLarge();
            }
            this.bytes = new Uint8Array(this.buffer);
        }
        this.#top = top;
        return address;
    }

    /** The checksum of bytes that are held, or in a list. */
    checksumAt(address: number, count: number): number {
        return this.kernels.checksum(0, address, count) >>> 0;
    }

    /** The checksum of these bytes, however many they are. */
    checksum(bytes: Uint8Array): number {
        const part = 2 ** 15;
        const at = this.allocate(Math.min(bytes.length, part));
        let sum = 0;
        for (let from = 0; from < bytes.length; from += part) {
            const some = from === 0 && bytes.length <= part ? bytes : bytes.subarray(from, from + part);
            this.bytes.set(some, at);
            sum = this.kernels.checksum(sum, at, some.length);
        }
        this.reset();
        return sum >>> 0;
    }

    /** Brings bytes into the memory, and says where they are. */
    bring(bytes: Uint8Array): number {
        const address = this.allocate(bytes.length);
        this.bytes.set(bytes, address);
        return address;
    }

    int32(address: number, count: number): Int32Array<ArrayBuffer> {
        return new Int32Array(this.buffer, address, count);
    }

    float64(address: number, count: number): Float64Array<ArrayBuffer> {
        return new Float64Array(this.buffer, address, count);
    }
}

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
    const characters = atob(text);
    const bytes = new Uint8Array(characters.length);
    for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
    return bytes;
}

type Exports = { readonly [name: string]: Function } & Kernels;

function fromInstance(instance: WebAssembly.Instance): Machine {
    const { memory, ...kernels } = instance.exports as unknown as { memory: WebAssembly.Memory } & Exports;
    // Engines compile a function when it is called first. Let that be before anybody waits for it.
    for (const kernel of Object.values(kernels)) kernel(0, 0, 0, 0, 0, 0, 0, 0, 0);
    return new Machine(kernels as Kernels, memory.buffer, (bytes) => {
        memory.grow(Math.ceil((bytes - memory.buffer.byteLength) / 65536) + 16);
        return memory.buffer;
    });
}

function inJavaScript(): Machine {
    const form = portable(new ArrayBuffer(2 ** 16));
    return new Machine(form.kernels, form.buffer, form.grow);
}

function compile(): Machine | undefined {
    if (typeof WebAssembly !== "object") return undefined;
    try {
        // Not asynchronously: to compile these few kilobytes takes less time than to wait for another thread.
        return fromInstance(new WebAssembly.Instance(new WebAssembly.Module(fromBase64(encoded))));
    } catch {
        // A content security policy may forbid it, or the engine be older than vectors in it. There is another way.
        return undefined;
    }
}

let used: Machine | undefined;

/** The machine to decode with: made when it is asked for first. */
export function machine(): Machine {
    return (used ??= compile() ?? inJavaScript());
}

/** @internal Lets tests decode with one or the other; false if that is not to be had. */
export function use(form: "WebAssembly" | "JavaScript"): boolean {
    const made = form === "JavaScript" ? inJavaScript() : compile();
    used = made ?? used;
    return made !== undefined;
}

// The kernels in JavaScript, for where there is no WebAssembly. kernels/kernels.ts says what each of them does.

import type { Kernels } from "./kernels.js";

export interface Portable {
    kernels: Kernels;
    buffer: ArrayBuffer;
    grow(bytes: number): ArrayBuffer;
}

function joined(low: number, high: number): bigint {
    return (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
}

/** How many bits follow a class of offsets. */
function rest(symbol: number): number {
    return symbol < 16 ? 0 : ((symbol - 16) >> 2) + 2;
}

export function portable(memory: ArrayBuffer): Portable {
    let buffer = memory;
    let view = new DataView(buffer);
    let bytes = new Uint8Array(buffer);
    let narrow = new Int32Array(buffer);
    let wide = new BigUint64Array(buffer);
    let doubles = new Float64Array(buffer);

    /** The lowest 32 of at most 64 bits. */
    const bits32 = (from: number, bit: number, width: number): number => {
        const at = from + Math.floor(bit / 8);
        const shift = bit % 8;
        let value = view.getUint32(at, true) >>> shift;
        if (shift > 0) value |= bytes[at + 4] << (32 - shift);
        return width < 32 ? value & ((1 << width) - 1) : value;
    };
    /** At most 64 bits; a number of bits is taken apart where it exceeds 32. */
    const bits64 = (from: number, bit: number, width: number): bigint => {
        const low = bits32(from, bit, Math.min(width, 32));
        return joined(low, width > 32 ? bits32(from, bit + 32, width - 32) : 0);
    };

    const tables = new Int32Array(4 * 256);

    const kernels: Kernels = {
        prepare() {
            for (let byte = 0; byte < 256; byte++) {
                let word = byte;
                for (let bit = 0; bit < 8; bit++) word = (word >>> 1) ^ (0x82f63b78 & -(word & 1));
                tables[byte] = word;
            }
            for (let at = 256; at < 1024; at++) {
                const word = tables[at - 256];
                tables[at] = (word >>> 8) ^ tables[word & 255];
            }
        },
        checksum(before, at, length) {
            let sum = ~before;
            let end = at + (length & ~3);
            for (; at < end; at += 4) {
                sum ^= view.getInt32(at, true);
                sum = tables[768 + (sum & 255)] ^ tables[512 + ((sum >>> 8) & 255)] ^ tables[256 + ((sum >>> 16) & 255)] ^ tables[sum >>> 24];
            }
            for (end = at + (length & 3); at < end; at++) sum = (sum >>> 8) ^ tables[(sum ^ bytes[at]) & 255];
            return ~sum;
        },
        unpack32(from, width, base, to, count) {
            to >>= 2;
            if (width === 0) {
                narrow.fill(base, to, to + count);
                return;
            }
            for (let index = 0, bit = 0; index < count; index++, bit += width) {
                narrow[to + index] = base + bits32(from, bit, width);
            }
        },
        unpack64(from, width, low, high, to, count) {
            const base = joined(low, high);
            to >>= 3;
            if (width === 0) {
                wide.fill(base, to, to + count);
                return;
            }
            for (let index = 0, bit = 0; index < count; index++, bit += width) {
                wide[to + index] = base + bits64(from, bit, width);
            }
        },
        sequence32(base, step, to, count) {
            to >>= 2;
            for (let index = 0; index < count; index++) {
                narrow[to + index] = base;
                base = (base + step) | 0;
            }
        },
        sequence64(low, high, stepLow, stepHigh, to, count) {
            let value = joined(low, high);
            const step = joined(stepLow, stepHigh);
            to >>= 3;
            for (let index = 0; index < count; index++) {
                wide[to + index] = value;
                value = BigInt.asUintN(64, value + step);
            }
        },
        scale32(base, factor, at, count) {
            at >>= 2;
            for (let index = at; index < at + count; index++) narrow[index] = base + Math.imul(narrow[index], factor);
        },
        scale64(low, high, factorLow, factorHigh, at, count) {
            const base = joined(low, high);
            const factor = joined(factorLow, factorHigh);
            at >>= 3;
            for (let index = at; index < at + count; index++) wide[index] = base + wide[index] * factor;
        },
        sum32(at, count) {
            at >>= 2;
            let sum = 0;
            for (let index = at; index < at + count; index++) narrow[index] = sum = (sum + narrow[index]) | 0;
        },
        sum64(at, count) {
            at >>= 3;
            let sum = 0n;
            for (let index = at; index < at + count; index++) {
                wide[index] = sum = BigInt.asUintN(64, sum + wide[index]);
            }
        },
        gather32(entries, kinds, codes, to, count) {
            entries >>= 2;
            codes >>= 2;
            to >>= 2;
            for (let index = 0; index < count; index++) {
                const code = narrow[codes + index] >>> 0;
                if (code >= kinds) return 0;
                narrow[to + index] = narrow[entries + code];
            }
            return 1;
        },
        gather64(entries, kinds, codes, to, count) {
            entries >>= 3;
            codes >>= 2;
            to >>= 3;
            for (let index = 0; index < count; index++) {
                const code = narrow[codes + index] >>> 0;
                if (code >= kinds) return 0;
                wide[to + index] = wide[entries + code];
            }
            return 1;
        },
        below(values, limit, count) {
            values >>= 2;
            for (let index = values; index < values + count; index++) if (narrow[index] >>> 0 >= limit) return 0;
            return 1;
        },
        symbols(places, states, words, wordCount, to, count) {
            places >>= 2;
            states >>= 2;
            to >>= 2;
            const end = words + 2 * wordCount;
            for (let index = 0; index < count; index++) {
                const lane = states + (index & 3);
                let state = narrow[lane] >>> 0;
                const place = narrow[places + (state & 4095)] >>> 0;
                state = ((place >>> 20) + 1) * (state >>> 12) + ((place >>> 8) & 4095);
                if (state < 0x8000) {
                    if (words >= end) return 0;
                    state = (state << 16) | bytes[words] | (bytes[words + 1] << 8);
                    words += 2;
                }
                narrow[lane] = state;
                narrow[to + index] = place & 255;
            }
            return words === end ? 1 : 0;
        },
        classBits(symbols, count) {
            symbols >>= 2;
            let sum = 0;
            for (let index = 0; index < count; index++) sum += rest(narrow[symbols + index]);
            return sum;
        },
        classes32(symbols, from, base, to, count) {
            symbols >>= 2;
            to >>= 2;
            for (let index = 0, bit = 0; index < count; index++) {
                const symbol = narrow[symbols + index];
                let offset = symbol;
                if (symbol >= 16) {
                    const width = rest(symbol);
                    // Shifted in two steps: a width of 32 and more leaves nothing.
                    const lead = width < 32 ? (4 | ((symbol - 16) & 3)) << width : 0;
                    offset = lead + bits32(from, bit, width);
                    bit += width;
                }
                narrow[to + index] = base + offset;
            }
        },
        classes64(symbols, from, low, high, to, count) {
            const base = joined(low, high);
            symbols >>= 2;
            to >>= 3;
            for (let index = 0, bit = 0; index < count; index++) {
                const symbol = narrow[symbols + index];
                let offset = BigInt(symbol);
                if (symbol >= 16) {
                    const width = rest(symbol);
                    offset = (BigInt(4 | ((symbol - 16) & 3)) << BigInt(width)) + bits64(from, bit, width);
                    bit += width;
                }
                wide[to + index] = base + offset;
            }
        },
        radix32(from, width, low, high, group, base, to, count) {
            const radix = joined(low, high);
            to >>= 2;
            if (width <= 52) {
                const divisor = Number(radix);
                for (let index = 0, bit = 0; index < count; bit += width) {
                    let number = bits32(from, bit, Math.min(width, 32)) >>> 0;
                    if (width > 32) number += bits32(from, bit + 32, width - 32) * 2 ** 32;
                    for (let place = 0; place < group && index < count; place++, index++) {
                        narrow[to + index] = base + (number % divisor);
                        number = Math.floor(number / divisor);
                    }
                }
                return;
            }
            for (let index = 0, bit = 0; index < count; bit += width) {
                let number = bits64(from, bit, width);
                for (let place = 0; place < group && index < count; place++, index++) {
                    narrow[to + index] = base + Number(BigInt.asUintN(32, number % radix));
                    number /= radix;
                }
            }
        },
        radix64(from, width, low, high, group, baseLow, baseHigh, to, count) {
            const radix = joined(low, high);
            const base = joined(baseLow, baseHigh);
            to >>= 3;
            for (let index = 0, bit = 0; index < count; bit += width) {
                let number = bits64(from, bit, width);
                for (let place = 0; place < group && index < count; place++, index++) {
                    wide[to + index] = base + (number % radix);
                    number /= radix;
                }
            }
        },
        narrow(at, size, count) {
            const from = at >> 2;
            if (size === 2) for (let index = 0; index < count; index++) view.setInt16(at + 2 * index, narrow[from + index], true);
            else for (let index = 0; index < count; index++) bytes[at + index] = narrow[from + index];
        },
        hex(from, size, digits, letter, to, count) {
            for (let index = 0; index < count; index++, from += size, to += digits) {
                for (let place = 0; place < digits; place++) {
                    // Two digits a byte, the last one in the lowest half of the first.
                    const pair = bytes[from + (place >> 1)];
                    const digit = place & 1 ? pair >> 4 : pair & 15;
                    bytes[to + digits - 1 - place] = digit < 10 ? 48 + digit : letter - 10 + digit;
                }
            }
        },
        decimal(from, digits, to, count) {
            from >>= 3;
            for (let index = 0; index < count; index++, to += digits) {
                const text = wide[from + index].toString().padStart(digits, "0");
                for (let place = 0; place < digits; place++) bytes[to + place] = text.charCodeAt(text.length - digits + place);
            }
        },
        spell(symbols, alphabet, kinds, to, count) {
            for (let index = 0; index < count; index++) {
                const symbol = bytes[symbols + 4 * index];
                if (symbol >= kinds) return 0;
                bytes[to + index] = bytes[alphabet + symbol];
            }
            return 1;
        },
        expand(codes, count, symbols, kinds, to, total) {
            const lengths = symbols + 255 * 8;
            const end = to + total;
            for (const last = codes + 4 * count; codes < last; codes += 4) {
                const code = bytes[codes];
                if (to >= end) return 0;
                if (code === 255) {
                    codes += 4;
                    if (codes >= last) return 0;
                    bytes[to++] = bytes[codes];
                } else {
                    if (code >= kinds) return 0;
                    const length = bytes[lengths + code];
                    for (let at = 0, from = symbols + 8 * code; at < length; at++) bytes[to + at] = bytes[from + at];
                    to += length;
                }
            }
            return to === end ? 1 : 0;
        },
        quotients(from, divisor, to, count) {
            from >>= 3;
            to >>= 3;
            for (let index = 0; index < count; index++) {
                doubles[to + index] = Number(BigInt.asIntN(64, wide[from + index])) / divisor;
            }
        },
        join64(at, lower, width, count) {
            at >>= 3;
            for (let index = 0, bit = 0; index < count; index++, bit += width) {
                wide[at + index] = (wide[at + index] << BigInt(width)) | bits64(lower, bit, width);
            }
        },
        exact(from, to, count, isSigned) {
            from >>= 2;
            to >>= 3;
            for (let index = 0; index < count; index++, from += 2) {
                const high = isSigned ? narrow[from + 1] : narrow[from + 1] >>> 0;
                const value = high * 2 ** 32 + (narrow[from] >>> 0);
                if (!Number.isSafeInteger(value)) return 0;
                doubles[to + index] = value;
            }
            return 1;
        },
    };

    return {
        kernels,
        buffer,
        grow(size) {
            const larger = new ArrayBuffer(Math.max(Math.ceil(size / 65536) * 65536, 2 * buffer.byteLength));
            new Uint8Array(larger).set(bytes);
            buffer = larger;
            view = new DataView(buffer);
            bytes = new Uint8Array(buffer);
            narrow = new Int32Array(buffer);
            wide = new BigUint64Array(buffer);
            doubles = new Float64Array(buffer);
            return buffer;
        },
    };
}

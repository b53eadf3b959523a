// The loops that a decoder's time goes into, in AssemblyScript: `npm run kernels` makes WebAssembly of them, which
// src/rows/kernels.wasm.ts holds. They know addresses in their memory and nothing else: what they are given was checked
// before, and an address beyond the memory traps. src/rows/portable.ts does the same where there is no WebAssembly.
//
// All arithmetic is modulo the width of the values, 32 or 64 bits. Numbers of 64 bits come as two halves.

function joined(low: u32, high: u32): u64 {
    return (<u64>low) | ((<u64>high) << 32);
}

/** Sixteen tables of 256 words, one for each place in 16 bytes (Kounavis and Berry, "Slicing-by-8", 2005). */
// @ts-ignore: decorator
@inline
const tables: usize = 1024;
// @ts-ignore: decorator
@inline
const tableBytes: usize = 1024;
/** 32 bytes for a kernel's own use while it runs. */
// @ts-ignore: decorator
@inline
const scratch: usize = 512;

/** Makes the tables of `checksum`. */
export function prepare(): void {
    for (let byte: u32 = 0; byte < 256; byte++) {
        let word = byte;
        for (let bit = 0; bit < 8; bit++) word = (word >> 1) ^ (0x82f63b78 & (0 - (word & 1)));
        store<u32>(tables + (<usize>byte << 2), word);
    }
    for (let at = tables + tableBytes; at < tables + 16 * tableBytes; at += 4) {
        const word = load<u32>(at - tableBytes);
        store<u32>(at, (word >> 8) ^ load<u32>(tables + ((<usize>(word & 255)) << 2)));
    }
}

/** CRC-32C of bytes behind others, whose own it is given: 0 at the beginning. */
export function checksum(before: u32, at: usize, length: u32): u32 {
    let sum = ~before;
    let end = at + <usize>(length & ~15);
    for (; at < end; at += 16) {
        const head = sum ^ load<u32>(at);
        const second = load<u32>(at, 4);
        const third = load<u32>(at, 8);
        const last = load<u32>(at, 12);
        // What the sum before stands in comes last, and the others by twos, so that least of it waits for that.
        const later =
            ((load<u32>((last << 2) & 0x3fc, tables + 3 * tableBytes) ^ load<u32>((last >> 6) & 0x3fc, tables + 2 * tableBytes)) ^
                (load<u32>((last >> 14) & 0x3fc, tables + 1 * tableBytes) ^ load<u32>((last >> 22) & 0x3fc, tables + 0 * tableBytes))) ^
            ((load<u32>((third << 2) & 0x3fc, tables + 7 * tableBytes) ^ load<u32>((third >> 6) & 0x3fc, tables + 6 * tableBytes)) ^
                (load<u32>((third >> 14) & 0x3fc, tables + 5 * tableBytes) ^ load<u32>((third >> 22) & 0x3fc, tables + 4 * tableBytes))) ^
            ((load<u32>((second << 2) & 0x3fc, tables + 11 * tableBytes) ^ load<u32>((second >> 6) & 0x3fc, tables + 10 * tableBytes)) ^
                (load<u32>((second >> 14) & 0x3fc, tables + 9 * tableBytes) ^ load<u32>((second >> 22) & 0x3fc, tables + 8 * tableBytes)));
        sum =
            (load<u32>((head << 2) & 0x3fc, tables + 15 * tableBytes) ^ load<u32>((head >> 6) & 0x3fc, tables + 14 * tableBytes)) ^
            (load<u32>((head >> 14) & 0x3fc, tables + 13 * tableBytes) ^ load<u32>((head >> 22) & 0x3fc, tables + 12 * tableBytes)) ^
            later;
    }
    for (end = at + <usize>(length & 15); at < end; at++) {
        sum = (sum >> 8) ^ load<u32>(((sum ^ load<u8>(at)) << 2) & 0x3fc, tables);
    }
    return ~sum;
}

/** `width` bits from bit `bit` on, at most 64. Reads up to 16 bytes from the first. */
// @ts-ignore: decorator
@inline
function bits(from: usize, bit: u64, width: u32): u64 {
    const at = from + <usize>(bit >> 3);
    const shift = bit & 7;
    let value = load<u64>(at) >> shift;
    if (shift + width > 64) value |= <u64>load<u8>(at, 8) << (64 - shift);
    return value & (u64.MAX_VALUE >> (64 - width));
}

// @ts-ignore: decorator
@inline
function unpack<T>(from: usize, width: u32, base: T, to: usize, count: u32): void {
    const end = to + (<usize>count) * sizeof<T>();
    if (width == 0) {
        for (; to < end; to += sizeof<T>()) store<T>(to, base);
    } else if (width <= 57) {
        const mask = u64.MAX_VALUE >> (64 - width);
        let bit: u64 = 0;
        for (; to < end; to += sizeof<T>()) {
            store<T>(to, <T>(base + <T>((load<u64>(from + <usize>(bit >> 3)) >> (bit & 7)) & mask)));
            bit += width;
        }
    } else {
        let bit: u64 = 0;
        for (; to < end; to += sizeof<T>()) {
            store<T>(to, <T>(base + <T>bits(from, bit, width)));
            bit += width;
        }
    }
}

/** Where the four bytes begin that hold each of four values of `width` bits, the first of them at bit `bit`: for `swizzle`. */
// @ts-ignore: decorator
@inline
function windows(bit: u32, width: u32): v128 {
    let places = i32x4.splat((bit >> 3) * 0x01010101 + 0x03020100);
    places = i32x4.replace_lane(places, 1, ((bit + width) >> 3) * 0x01010101 + 0x03020100);
    places = i32x4.replace_lane(places, 2, ((bit + 2 * width) >> 3) * 0x01010101 + 0x03020100);
    return i32x4.replace_lane(places, 3, ((bit + 3 * width) >> 3) * 0x01010101 + 0x03020100);
}

/** By what those bytes are multiplied, so that each value begins at bit 7: no lane can be shifted by itself. */
// @ts-ignore: decorator
@inline
function lifts(bit: u32, width: u32): v128 {
    let factors = i32x4.splat(1 << (7 - (bit & 7)));
    factors = i32x4.replace_lane(factors, 1, 1 << (7 - ((bit + width) & 7)));
    factors = i32x4.replace_lane(factors, 2, 1 << (7 - ((bit + 2 * width) & 7)));
    return i32x4.replace_lane(factors, 3, 1 << (7 - ((bit + 3 * width) & 7)));
}

/** Eight values a time where each lies in four bytes (Willhalm and others, "SIMD-Scan", 2009). */
export function unpack32(from: usize, width: u32, base: u32, to: usize, count: u32): void {
    const many = count & ~7;
    if (width - 1 < 25 && many > 0) {
        const half = 4 * width;
        const distance = <usize>(half >> 3);
        const lowPlaces = windows(0, width);
        const lowFactors = lifts(0, width);
        const highPlaces = windows(half & 7, width);
        const highFactors = lifts(half & 7, width);
        const mask = i32x4.splat((1 << width) - 1);
        const bases = i32x4.splat(base);
        for (const end = to + (<usize>many) * 4; to < end; to += 32) {
            const low = i32x4.mul(i8x16.swizzle(v128.load(from), lowPlaces), lowFactors);
            const high = i32x4.mul(i8x16.swizzle(v128.load(from + distance), highPlaces), highFactors);
            v128.store(to, i32x4.add(v128.and(i32x4.shr_u(low, 7), mask), bases));
            v128.store(to, i32x4.add(v128.and(i32x4.shr_u(high, 7), mask), bases), 16);
            from += width;
        }
        count -= many;
    }
    unpack<u32>(from, width, base, to, count);
}

export function unpack64(from: usize, width: u32, low: u32, high: u32, to: usize, count: u32): void {
    unpack<u64>(from, width, joined(low, high), to, count);
}

// @ts-ignore: decorator
@inline
function sequence<T>(base: T, step: T, to: usize, count: u32): void {
    for (const end = to + (<usize>count) * sizeof<T>(); to < end; to += sizeof<T>()) {
        store<T>(to, base);
        base = <T>(base + step);
    }
}

export function sequence32(base: u32, step: u32, to: usize, count: u32): void {
    sequence<u32>(base, step, to, count);
}

export function sequence64(low: u32, high: u32, stepLow: u32, stepHigh: u32, to: usize, count: u32): void {
    sequence<u64>(joined(low, high), joined(stepLow, stepHigh), to, count);
}

/** Each value times the factor, plus the base. */
export function scale32(base: u32, factor: u32, at: usize, count: u32): void {
    for (const end = at + (<usize>count) * 4; at < end; at += 4) store<u32>(at, base + load<u32>(at) * factor);
}

export function scale64(low: u32, high: u32, factorLow: u32, factorHigh: u32, at: usize, count: u32): void {
    const base = joined(low, high);
    const factor = joined(factorLow, factorHigh);
    for (const end = at + (<usize>count) * 8; at < end; at += 8) store<u64>(at, base + load<u64>(at) * factor);
}

/** Each value plus all before it. */
export function sum32(at: usize, count: u32): void {
    let sum: u32 = 0;
    for (const end = at + (<usize>count) * 4; at < end; at += 4) store<u32>(at, (sum += load<u32>(at)));
}

export function sum64(at: usize, count: u32): void {
    let sum: u64 = 0;
    for (const end = at + (<usize>count) * 8; at < end; at += 8) store<u64>(at, (sum += load<u64>(at)));
}

/** The entries that the codes name; false if a code is beyond them. */
export function gather32(entries: usize, kinds: u32, codes: usize, to: usize, count: u32): bool {
    for (const end = to + (<usize>count) * 4; to < end; to += 4, codes += 4) {
        const code = load<u32>(codes);
        if (code >= kinds) return false;
        store<u32>(to, load<u32>(entries + ((<usize>code) << 2)));
    }
    return true;
}

export function gather64(entries: usize, kinds: u32, codes: usize, to: usize, count: u32): bool {
    for (const end = to + (<usize>count) * 8; to < end; to += 8, codes += 4) {
        const code = load<u32>(codes);
        if (code >= kinds) return false;
        store<u64>(to, load<u64>(entries + ((<usize>code) << 3)));
    }
    return true;
}

/** Whether each of these values without a sign is below the limit. */
export function below(values: usize, limit: u32, count: u32): bool {
    for (const end = values + (<usize>count) * 4; values < end; values += 4) if (load<u32>(values) >= limit) return false;
    return true;
}

/**
 * The entropy coder: four states at `states`, 4,096 places of a symbol's share, the place's distance from its start,
 * and the symbol (2 + 1 + 1 bytes: share - 1 in 12 bits, distance in 12, symbol in 8). False if the words do not end
 * where they should.
 */
export function symbols(places: usize, states: usize, words: usize, wordCount: u32, to: usize, count: u32): bool {
    const end = words + ((<usize>wordCount) << 1);
    for (let index: u32 = 0; index < count; index++) {
        const lane = states + ((<usize>(index & 3)) << 2);
        let state = load<u32>(lane);
        const place = load<u32>(places + ((<usize>(state & 4095)) << 2));
        state = ((place >> 20) + 1) * (state >> 12) + ((place >> 8) & 4095);
        if (state < 0x8000) {
            if (words >= end) return false;
            state = (state << 16) | (<u32>load<u16>(words));
            words += 2;
        }
        store<u32>(lane, state);
        store<u32>(to, place & 255);
        to += 4;
    }
    return words == end;
}

/** How many bits follow a class of offsets. */
// @ts-ignore: decorator
@inline
function rest(symbol: u32): u32 {
    return symbol < 16 ? 0 : ((symbol - 16) >> 2) + 2;
}

/** How many bits follow all these classes, at most 61 each: the halves do not overflow for any list that there is. */
export function classBits(symbols: usize, count: u32): f64 {
    let sum: u64 = 0;
    for (const end = symbols + (<usize>count) * 4; symbols < end; symbols += 4) sum += rest(load<u32>(symbols));
    return <f64>sum;
}

// @ts-ignore: decorator
@inline
function classes<T>(symbols: usize, from: usize, base: T, to: usize, count: u32): void {
    let bit: u64 = 0;
    for (const end = to + (<usize>count) * sizeof<T>(); to < end; to += sizeof<T>()) {
        const symbol = load<u32>(symbols);
        symbols += 4;
        let offset: u64 = symbol;
        if (symbol >= 16) {
            const width = rest(symbol);
            offset = ((<u64>(4 | ((symbol - 16) & 3))) << width) + bits(from, bit, width);
            bit += width;
        }
        store<T>(to, <T>(base + <T>offset));
    }
}

export function classes32(symbols: usize, from: usize, base: u32, to: usize, count: u32): void {
    classes<u32>(symbols, from, base, to, count);
}

export function classes64(symbols: usize, from: usize, low: u32, high: u32, to: usize, count: u32): void {
    classes<u64>(symbols, from, joined(low, high), to, count);
}

// @ts-ignore: decorator
@inline
function digitsOf<T>(from: usize, width: u32, radix: u64, group: u32, base: T, to: usize, count: u32): void {
    let bit: u64 = 0;
    const end = to + (<usize>count) * sizeof<T>();
    while (to < end) {
        let number = bits(from, bit, width);
        bit += width;
        for (let index: u32 = 0; index < group && to < end; index++) {
            const quotient = number / radix;
            store<T>(to, <T>(base + <T>(number - quotient * radix)));
            number = quotient;
            to += sizeof<T>();
        }
    }
}

/** Groups of `width` bits, each a number of `group` digits in this radix, the lowest first. */
export function radix32(from: usize, width: u32, low: u32, high: u32, group: u32, base: u32, to: usize, count: u32): void {
    digitsOf<u32>(from, width, joined(low, high), group, base, to, count);
}

export function radix64(from: usize, width: u32, low: u32, high: u32, group: u32, baseLow: u32, baseHigh: u32, to: usize, count: u32): void {
    digitsOf<u64>(from, width, joined(low, high), group, joined(baseLow, baseHigh), to, count);
}

/** The eight digits of a number of 32 bits, the first in the lowest byte; `letter` is what is added to those above 9. */
// @ts-ignore: decorator
@inline
function eightDigits(value: u64, letter: u64): u64 {
    const halves = (value | (value << 16)) & 0x0000_ffff_0000_ffff;
    const bytes = (halves | (halves << 8)) & 0x00ff_00ff_00ff_00ff;
    const nibbles = bswap<u64>((bytes | (bytes << 4)) & 0x0f0f_0f0f_0f0f_0f0f);
    const above = ((nibbles + 0x0606_0606_0606_0606) >> 4) & 0x0101_0101_0101_0101;
    return nibbles + 0x3030_3030_3030_3030 + above * letter;
}

/**
 * The low `digits` hexadecimal digits of each value of `size` bytes, 4 for at most 8 digits; `letter` is the code of
 * the digit ten. Writes up to 16 bytes behind the last.
 */
export function hex(from: usize, size: u32, digits: u32, letter: u32, to: usize, count: u32): void {
    const end = from + (<usize>count) * size;
    const added: u64 = letter - 58;
    if (digits <= 8) {
        // Two values a time: which byte each letter comes from, and which half of it.
        let place: u32 = 0;
        for (let value: u32 = 0; value < 8; value += 4) {
            for (let digit: u32 = 8 - digits; digit < 8; digit++, place++) {
                store<u8>(scratch + <usize>place, value + 3 - (digit >> 1));
                store<u8>(scratch + <usize>place, digit & 1 ? 255 : 0, 16);
            }
        }
        const places = v128.load(scratch);
        const isLower = v128.load(scratch, 16);
        const letters = i8x16.add(
            i8x16(48, 49, 50, 51, 52, 53, 54, 55, 56, 57, 0, 1, 2, 3, 4, 5),
            v128.and(i8x16.splat(<i8>letter), i8x16(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1)),
        );
        const half = i8x16.splat(15);
        for (; from + 8 <= end; from += 8, to += 2 * digits) {
            const bytes = i8x16.swizzle(v128.load64_zero(from), places);
            const nibbles = v128.and(v128.bitselect(bytes, i16x8.shr_u(bytes, 4), isLower), half);
            v128.store(to, i8x16.swizzle(letters, nibbles));
        }
        const cut: u64 = 8 * (8 - digits);
        if (from < end) store<u64>(to, eightDigits(load<u32>(from), added) >> cut);
    } else {
        const cut: u64 = 8 * (16 - digits);
        for (; from < end; from += size, to += digits) {
            store<u64>(to, eightDigits(load<u32>(from, 4), added) >> cut);
            store<u64>(to + digits - 8, eightDigits(load<u32>(from), added));
        }
    }
}

/** The lowest bytes of each value, one behind the other from the same address on. */
export function narrow(at: usize, size: u32, count: u32): void {
    let to = at;
    const end = at + (<usize>count) * 4;
    if (size == 2) {
        const kept = i32x4.splat(0xffff);
        for (const many = at + (<usize>(count & ~7)) * 4; at < many; at += 32, to += 16) {
            v128.store(to, i16x8.narrow_i32x4_u(v128.and(v128.load(at), kept), v128.and(v128.load(at, 16), kept)));
        }
        for (; at < end; at += 4, to += 2) store<u16>(to, load<u16>(at));
    } else {
        const kept = i32x4.splat(0xff);
        for (const many = at + (<usize>(count & ~15)) * 4; at < many; at += 64, to += 16) {
            const low = i16x8.narrow_i32x4_u(v128.and(v128.load(at), kept), v128.and(v128.load(at, 16), kept));
            const high = i16x8.narrow_i32x4_u(v128.and(v128.load(at, 32), kept), v128.and(v128.load(at, 48), kept));
            v128.store(to, i8x16.narrow_i16x8_u(low, high));
        }
        for (; at < end; at += 4, to++) store<u8>(to, load<u8>(at));
    }
}

/** Integers without a sign as the last `digits` decimal digits of each. */
export function decimal(from: usize, digits: u32, to: usize, count: u32): void {
    for (const end = from + (<usize>count) * 8; from < end; from += 8, to += digits) {
        let value = load<u64>(from);
        for (let place = to + digits; place > to; ) {
            const rest = value / 10;
            store<u8>(--place, 48 + <u32>(value - rest * 10));
            value = rest;
        }
    }
}

/** The bytes of an alphabet that the lowest 8 bits of the symbols name; false if one is beyond it. */
export function spell(symbols: usize, alphabet: usize, kinds: u32, to: usize, count: u32): bool {
    for (const end = to + count; to < end; to++, symbols += 4) {
        const symbol = <u32>load<u8>(symbols);
        if (symbol >= kinds) return false;
        store<u8>(to, load<u8>(alphabet + symbol));
    }
    return true;
}

/**
 * Puts what codes, which lie in four bytes each, stand for one behind the other: a symbol of at most eight bytes, of which
 * there are `kinds` at a distance of eight, and whose lengths are bytes behind 255 of them; or, behind the code 255, the
 * byte that the next code is. Whether they give `total` bytes.
 */
export function expand(codes: usize, count: u32, symbols: usize, kinds: u32, to: usize, total: u32): bool {
    const lengths = symbols + 255 * 8;
    const end = to + total;
    for (const last = codes + ((<usize>count) << 2); codes < last; codes += 4) {
        const code = <u32>load<u8>(codes);
        if (to >= end) return false;
        if (code == 255) {
            codes += 4;
            if (codes >= last) return false;
            store<u8>(to++, load<u8>(codes));
        } else {
            if (code >= kinds) return false;
            // Up to eight bytes behind the last one are there to be written.
            store<u64>(to, load<u64>(symbols + ((<usize>code) << 3)));
            to += load<u8>(lengths + code);
        }
    }
    return to == end;
}

/** Integers with a sign, each divided by the same number, as doubles. */
export function quotients(from: usize, divisor: f64, to: usize, count: u32): void {
    for (const end = from + (<usize>count) * 8; from < end; from += 8, to += 8) store<f64>(to, <f64>load<i64>(from) / divisor);
}

/** Each value moved up by `width` bits, 1 to 63, over that many packed ones. */
export function join64(at: usize, lower: usize, width: u32, count: u32): void {
    let bit: u64 = 0;
    for (const end = at + (<usize>count) * 8; at < end; at += 8, bit += width) {
        store<u64>(at, (load<u64>(at) << width) | bits(lower, bit, width));
    }
}

/** Integers of 64 bits as doubles; false if one is beyond 2^53 on either side. */
export function exact(from: usize, to: usize, count: u32, isSigned: bool): bool {
    for (const end = from + (<usize>count) * 8; from < end; from += 8, to += 8) {
        const value = load<i64>(from);
        if (isSigned) {
            if (<u64>(value + 0x1f_ffff_ffff_ffff) > 0x3f_ffff_ffff_fffe) return false;
        } else if (<u64>value > 0x1f_ffff_ffff_ffff) return false;
        store<f64>(to, <f64>value);
    }
    return true;
}

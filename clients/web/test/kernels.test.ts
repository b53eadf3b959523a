import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { machine, use, type Machine } from "../src/rows/kernels.js";
import { Random } from "./random.js";

// The test runner gives each file a process of its own: what is used here is used nowhere else.
function made(form: "WebAssembly" | "JavaScript"): Machine {
    assert.ok(use(form), `${form} is not to be had here`);
    return machine();
}
const compiled = made("WebAssembly");
const interpreted = made("JavaScript");

const numbers = new Random(1);

function random(below = 2 ** 32): number {
    return numbers.below(below);
}

function bytes(count: number): Uint8Array<ArrayBuffer> {
    return numbers.bytes(count);
}

/** Does the same on both machines, and compares what is then in the memory that `run` names, and what it returns. */
function same(what: string, run: (one: Machine) => { at: number; size: number; result?: unknown }): void {
    const seen = [compiled, interpreted].map((one) => {
        one.reset();
        const { at, size, result } = run(one);
        return { memory: Buffer.from(one.bytes.slice(at, at + size)).toString("hex"), result };
    });
    assert.deepEqual(seen[0], seen[1], what);
}

test("the WebAssembly in the package is what its source gives", () => {
    execFileSync(process.execPath, ["kernels/build.mjs", "--check"], { stdio: "pipe" });
});

test("the checksum is CRC-32C", () => {
    const letters = new TextEncoder().encode("123456789");
    for (const one of [compiled, interpreted]) {
        assert.equal(one.checksum(letters), 0xe3069283);
        assert.equal(one.checksum(new Uint8Array(0)), 0);
    }
    for (const length of [1, 7, 8, 9, 63, 1000, 32768, 32769, 100_003]) {
        const some = bytes(length);
        assert.equal(compiled.checksum(some), interpreted.checksum(some), `${length} bytes`);
    }
});

test("what is held stays while lists come and go", () => {
    const some = bytes(1000);
    for (const one of [compiled, interpreted]) {
        one.release();
        const bottom = one.allocate(0);
        const held = one.hold(some);
        assert.equal(held, bottom);
        assert.equal(one.checksumAt(held, some.length), one.checksum(some));
        for (let time = 0; time < 2; time++) {
            one.reset();
            // More than the memory has room for, so that it grows.
            const list = one.allocate(one.buffer.byteLength);
            assert.ok(list >= held + some.length);
            one.bytes.fill(7, list);
            assert.deepEqual(one.bytes.slice(held, held + some.length), some);
        }
        one.release();
        assert.equal(one.allocate(0), bottom);
    }
});

test("both machines unpack the same, whatever the width", () => {
    for (let width = 0; width <= 64; width++) {
        for (const count of [0, 1, 5, 64, 131]) {
            const packed = bytes(Math.ceil((count * width) / 8));
            const [low, high, more, most] = [random() | 0, random() | 0, random() | 0, random() | 0];
            same(`${count} of ${width} bits`, (one) => {
                const from = one.bring(packed);
                const to = one.allocate(8 * count);
                one.kernels.unpack64(from, width, low, high, to, count);
                one.kernels.scale64(more, most, high, low, to, count);
                one.kernels.sum64(to, count);
                return { at: to, size: 8 * count };
            });
            same(`${count} of ${width} bits, narrow`, (one) => {
                const from = one.bring(packed);
                const to = one.allocate(4 * count);
                one.kernels.unpack32(from, width, low, to, count);
                one.kernels.scale32(more, most, to, count);
                one.kernels.sum32(to, count);
                return { at: to, size: 4 * count };
            });
            if (width > 0 && width < 64) {
                same(`${count} of ${width} bits below others`, (one) => {
                    const lower = one.bring(packed);
                    const at = one.allocate(8 * count);
                    one.kernels.sequence64(low, high, more, most, at, count);
                    one.kernels.join64(at, lower, width, count);
                    return { at, size: 8 * count };
                });
            }
        }
    }
});

test("both machines make the same sequences, digits and entries", () => {
    for (const count of [0, 1, 3, 200]) {
        const [low, high, step, more] = [random() | 0, random() | 0, random() | 0, random() | 0];
        same("a sequence", (one) => {
            const to = one.allocate(12 * count);
            one.kernels.sequence64(low, high, step, more, to, count);
            one.kernels.sequence32(low, step, to + 8 * count, count);
            return { at: to, size: 12 * count };
        });
        for (let digits = 1; digits <= 16; digits++) {
            const values = bytes(8 * count);
            const size = digits <= 8 ? 4 : 8;
            same(`${digits} digits`, (one) => {
                const from = one.bring(values);
                const to = one.allocate(3 * digits * count);
                one.kernels.hex(from, size, digits, 97, to, count);
                one.kernels.hex(from, size, digits, 65, to + digits * count, count);
                one.kernels.decimal(from, digits, to + 2 * digits * count, count);
                return { at: to, size: 3 * digits * count };
            });
        }
        const codes = Uint32Array.from({ length: count }, () => random(50));
        for (const kinds of [50, 49]) {
            const entries = bytes(8 * 50);
            same("entries", (one) => {
                const from = one.bring(entries);
                const which = one.bring(new Uint8Array(codes.buffer));
                const to = one.allocate(13 * count);
                const result = [
                    one.kernels.gather64(from, kinds, which, to, count),
                    one.kernels.gather32(from, kinds, which, to + 8 * count, count),
                    one.kernels.spell(which, from, kinds, to + 12 * count, count),
                    one.kernels.below(which, kinds, count),
                ].map(Boolean);
                assert.equal(result[3], codes.every((code) => code < kinds));
                // What was written before a code was found to be wrong is of no use.
                return { at: to, size: result[0] ? 13 * count : 0, result };
            });
        }
        for (const size of [1, 2]) {
            const values = bytes(4 * count);
            same("narrow values", (one) => {
                const at = one.bring(values);
                one.kernels.narrow(at, size, count);
                return { at, size: size * count };
            });
        }
    }
});

test("both machines put symbols one behind the other", () => {
    const table = new Uint8Array(255 * 9);
    for (let code = 0; code < 255; code++) {
        const length = 1 + (code % 8);
        table.set(bytes(length), 8 * code);
        table[255 * 8 + code] = length;
    }
    for (const kinds of [0, 1, 100, 255]) {
        for (let count = 0; count < 40; count++) {
            const codes = Int32Array.from({ length: count }, () => (random(5) === 0 ? 255 : random(kinds + 1)));
            let total = 0;
            for (let at = 0; at < count; at++) total += codes[at] === 255 ? (at++, 1) : table[255 * 8 + codes[at]];
            for (const wanted of [total, total + 1, Math.max(0, total - 1)]) {
                same("expanded symbols", (one) => {
                    const symbols = one.bring(table);
                    const from = one.bring(new Uint8Array(codes.buffer));
                    const to = one.allocate(wanted + 8);
                    const isDone = one.kernels.expand(from, count, symbols, kinds, to, wanted);
                    return { at: to, size: isDone ? wanted : 0, result: Boolean(isDone) };
                });
            }
        }
    }
});

test("both machines take numbers in mixed radix apart", () => {
    const radixes = [2n, 3n, 10n, 256n, 360n, 1100n, 65537n, 2n ** 31n + 11n, 2n ** 32n - 5n, 2n ** 40n + 15n, 2n ** 63n + 1n];
    for (const radix of radixes) {
        for (let group = 1; group <= 16 && radix ** BigInt(group) <= 2n ** 64n; group++) {
            const width = (radix ** BigInt(group) - 1n).toString(2).length;
            const count = 41;
            const packed = bytes(Math.ceil((Math.ceil(count / group) * width) / 8));
            const [low, high] = [Number(BigInt.asIntN(32, radix)), Number(radix >> 32n)];
            const [base, more] = [random() | 0, random() | 0];
            same(`${group} of ${radix}`, (one) => {
                const from = one.bring(packed);
                const to = one.allocate(12 * count);
                one.kernels.radix64(from, width, low, high, group, base, more, to, count);
                one.kernels.radix32(from, width, low, high, group, base, to + 8 * count, count);
                return { at: to, size: 12 * count };
            });
        }
    }
});

test("both machines read classes of every size", () => {
    for (const count of [1, 2, 300]) {
        const symbols = Uint32Array.from({ length: count }, () => random(256));
        const rest = bytes(8 * count);
        const [low, high] = [random() | 0, random() | 0];
        same("classes", (one) => {
            const at = one.bring(new Uint8Array(symbols.buffer));
            const from = one.bring(rest);
            const to = one.allocate(12 * count);
            one.kernels.classes64(at, from, low, high, to, count);
            one.kernels.classes32(at, from, low, to + 8 * count, count);
            return { at: to, size: 12 * count, result: one.kernels.classBits(at, count) };
        });
    }
});

test("both machines decode symbols, and stop at the same damage", () => {
    for (let round = 0; round < 40; round++) {
        const places = Uint32Array.from({ length: 4096 }, (_, place) => ((2047 << 20) | ((place & 2047) << 8) | (place >> 11)) >>> 0);
        const states = Uint32Array.from({ length: 4 }, () => 0x8000 + random(2 ** 31 - 0x8000));
        const words = bytes(2 * 30);
        const count = 10 + random(300);
        same("symbols", (one) => {
            const table = one.bring(new Uint8Array(places.buffer));
            const at = one.bring(new Uint8Array(states.buffer.slice(0)));
            const from = one.bring(words);
            const to = one.allocate(4 * count);
            const result = Boolean(one.kernels.symbols(table, at, from, 30, to, count));
            return { at: at, size: 16, result };
        });
    }
});

test("both machines make the same doubles", () => {
    const values = BigInt64Array.of(0n, 1n, -1n, 2n ** 53n - 1n, 1n - 2n ** 53n, 123_456_789_012n, -5n, 2n ** 40n);
    const beyond = BigInt64Array.of(2n ** 53n, -(2n ** 53n), 2n ** 62n, -(2n ** 63n), 2n ** 63n - 1n, 7n);
    for (const divisor of [1, 10, 1e18]) {
        for (const list of [values, beyond]) {
            same(`divided by ${divisor}`, (one) => {
                const from = one.bring(new Uint8Array(list.buffer));
                const to = one.allocate(8 * list.length);
                one.kernels.quotients(from, divisor, to, list.length);
                return { at: to, size: 8 * list.length };
            });
        }
    }
    for (const isSigned of [0, 1]) {
        for (const value of [...values, ...beyond]) {
            same(`${value} exactly`, (one) => {
                const from = one.bring(new Uint8Array(BigInt64Array.of(value).buffer));
                const to = one.allocate(8);
                const result = Boolean(one.kernels.exact(from, to, 1, isSigned));
                assert.equal(result, Number.isSafeInteger(Number(isSigned ? value : BigInt.asUintN(64, value))));
                return { at: to, size: result ? 8 : 0, result };
            });
        }
    }
});

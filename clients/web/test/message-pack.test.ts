// Values out of MessagePack, by bytes that its specification gives for them.

import assert from "node:assert/strict";
import { test } from "node:test";
import { messagePack } from "../page/message-pack.js";

function read(...bytes: number[]): unknown {
    return messagePack(Uint8Array.from(bytes));
}

test("values of each kind are read", () => {
    assert.deepEqual(read(0x92, 0x7f, 0xff), [127, -1]);
    assert.deepEqual(read(0x93, 0xcc, 200, 0xcd, 1, 0, 0xce, 0, 1, 0, 0), [200, 256, 65_536]);
    assert.deepEqual(read(0x93, 0xd0, 0x80, 0xd1, 0x80, 0, 0xd2, 0x80, 0, 0, 0), [-128, -32_768, -(2 ** 31)]);
    assert.deepEqual(read(0x93, 0xc0, 0xc2, 0xc3), [null, false, true]);
    assert.equal(read(0xcb, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0), 1.5);
    assert.deepEqual(read(0xdc, 0, 2, 0xa1, 0x78, 0xa2, 0xc3, 0xa9), ["x", "é"]);
    assert.equal(read(0xd9, 20, ...new Array<number>(20).fill(0x61)), "a".repeat(20));
    assert.deepEqual(read(0x81, 0xa1, 0x78, 5), { x: 5 });
});

test("what is cut off, goes on, or is of no known kind is an error", () => {
    assert.throws(() => read(0xa5, 0x61), RangeError);
    assert.throws(() => read(0x92, 1), RangeError);
    assert.throws(() => read(0xdd, 255, 255, 255, 255), /array length .* > maxArrayLength/);
    assert.throws(() => read(0xdf, 255, 255, 255, 255), /map length .* > maxMapLength/);
    assert.throws(() => read(1, 2), /Extra 1 of 2 byte/);
    assert.throws(() => read(0xc1), /0xc1/);
    assert.throws(() => read(0x81, 0xa9, ...Buffer.from("__proto__"), 1), /__proto__ is not allowed/);
});

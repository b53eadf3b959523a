// Values out of AMF0 and AMF3 that other software has written, and calls in both.

import assert from "node:assert/strict";
import { test } from "node:test";
import { amfAnswer, amfCall } from "../page/amf.js";
import { writeAmf0 } from "../page/amf/amf0.js";
import { writeAmf3 } from "../page/amf/amf3.js";
import { Unread } from "../page/amf/input.js";
import { Output } from "../page/amf/output.js";
import { golden, inAmf0, inAmf3, read } from "./amf.js";

function amf3(...bytes: number[]): unknown {
    return read(Uint8Array.from(bytes), 3);
}

test("what others wrote is read", () => {
    for (const [name, value] of Object.entries(inAmf0)) assert.deepEqual(read(golden(name), 0), value, name);
    for (const [name, value] of Object.entries(inAmf3)) assert.deepEqual(read(golden(name), 3), value, name);
});

test("what is referred to is there once", () => {
    for (const [name, version] of [["pyamf-amf0-references", 0], ["pyamf-amf3-references", 3]] as const) {
        const [list, object, again, same, [inner]] = read(golden(name), version) as [unknown, unknown, unknown, unknown, [unknown]];
        assert.ok(list === again && object === same && same === inner, name);
    }
    // An ArrayCollection has the place before its list's; both mean the same here.
    const collection = golden("pyamf-amf3-array-collection");
    for (const place of [1, 2]) {
        const [first, again] = amf3(9, 5, 1, ...collection, 10, place * 2) as unknown[];
        assert.deepEqual(first, [1, 2]);
        assert.equal(first, again, `place ${place}`);
    }
});

test("values of AMF3 that no golden file has are read", () => {
    // Vector.<Object> of the class "C", with a text that the second one refers to.
    assert.deepEqual(amf3(16, 5, 0, 3, 0x43, 6, 3, 0x61, 6, 2), ["a", "a"]);
    // A dictionary with a list as a key.
    assert.deepEqual(amf3(17, 5, 0, 9, 3, 1, 4, 5, 3, 4, 6, 2), [[[5], true], [6, false]]);
    // XML in its old form, then the same by its place.
    assert.deepEqual(amf3(9, 5, 1, 7, 9, ..."<a/>".split("").map((letter) => letter.charCodeAt(0)), 7, 2), ["<a/>", "<a/>"]);
    // An ObjectProxy.
    const name = Buffer.from("flex.messaging.io.ObjectProxy");
    assert.deepEqual(amf3(10, 7, name.length * 2 + 1, ...name, 10, 11, 1, 3, 0x78, 4, 1, 1), { x: 1 });
    // A member whose name would be its object's prototype.
    const parsed = JSON.parse('{"__proto__":1}') as unknown;
    assert.deepEqual(amf3(10, 11, 1, 19, ...Buffer.from("__proto__"), 4, 1, 1), parsed);
    assert.equal(Object.getPrototypeOf(parsed), Object.prototype);
});

test("values of AMF3 within one of AMF0 share their tables", () => {
    // A list of two: the text "tam", and the text that came first.
    assert.deepEqual(read(Uint8Array.of(10, 0, 0, 0, 2, 17, 6, 7, 0x74, 0x61, 0x6d, 17, 6, 0), 0), ["tam", "tam"]);
});

test("packets of both versions are read", () => {
    assert.deepEqual(amfAnswer(golden("pyamf-packet-amf0-answer").buffer), { value: [1.5, "x"] });
    assert.deepEqual(amfAnswer(golden("pyamf-packet-amf3-answer").buffer), { value: [1, "x", "x"] });
    const recordset = read(golden("pyamf-amf0-recordset"), 0);
    assert.deepEqual((recordset as { serverInfo: { columnNames: unknown } }).serverInfo.columnNames, ["x", "name"]);
    const packet = (target: string): ArrayBuffer => {
        const name = Buffer.from(target);
        return Uint8Array.of(0, 0, 0, 0, 0, 1, 0, name.length, ...name, 0, 4, ...Buffer.from("null"), 255, 255, 255, 255, ...golden("pyamf-amf0-recordset")).buffer;
    };
    const rows = [{ x: 1, name: "a" }, { x: 2.5, name: null }];
    assert.deepEqual(amfAnswer(packet("/1/onResult")), { value: rows });
    assert.deepEqual(amfAnswer(packet("/1/onStatus")), { fault: recordset });
});

test("of an answer with an object that only its class can read there is what comes before it", () => {
    const text = (text: string): number[] => [text.length * 2 + 1, ...Buffer.from(text)];
    const place = [10, 7, ...text("com.example.Place"), 0, 0, 0, 5, 6, ...text("far")];
    const end = [1, 1, 6, ...text("behind")];
    const packet = (target: string, ...value: number[]): ArrayBuffer =>
        Uint8Array.of(0, 3, 0, 0, 0, 1, 0, target.length, ...Buffer.from(target), 0, 4, ...Buffer.from("null"), 255, 255, 255, 255, ...value).buffer;
    // The bytes of the object, and what comes behind it.
    const unread = (behind: number): Unread => new Unread("com.example.Place", 9 + behind);
    const answer = (value: unknown, behind = 0): unknown => ({ value, unread: unread(behind) });
    const result = (...value: number[]): unknown => amfAnswer(packet("/1/onResult", 17, ...value));
    assert.deepEqual(result(...place), answer(unread(0)));
    // In a list, a list with names, a dictionary, a wrapper of Flex, and as the member of an object, sealed or not.
    assert.deepEqual(result(9, 7, 1, 4, 1, ...place, 4, 3), answer([1, unread(2)], 2));
    assert.deepEqual(result(9, 3, ...text("a"), 4, 1, ...text("b"), ...place, ...end), answer({ a: 1, b: unread(end.length) }, end.length));
    assert.deepEqual(result(17, 5, 0, 4, 1, 4, 2, ...place, 4, 3), answer([[1, 2], [unread(2)]], 2));
    assert.deepEqual(result(10, 7, ...text("flex.messaging.io.ArrayCollection"), 9, 5, 1, 4, 1, ...place), answer([1, unread(0)]));
    const object = [10, 0b111011, 1, ...text("a"), ...text("b"), ...text("c"), 4, 1, ...place, ...end];
    assert.deepEqual(result(...object), answer({ a: 1, b: unread(end.length) }, end.length));
    assert.deepEqual(result(16, 5, 0, 1, ...place, 4, 1), answer([unread(2)], 2));
    assert.deepEqual(result(10, 0b1011, 1, ...text("a"), 4, 1, ...text("b"), ...place, ...end), answer({ a: 1, b: unread(end.length) }, end.length));
    // Within AMF0: a list, an object and an array with names.
    const behind = [0, 1, 99, 5, 0, 0, 9];
    assert.deepEqual(amfAnswer(packet("/1/onResult", 10, 0, 0, 0, 3, 5, 17, ...place, 5)), answer([null, unread(1)], 1));
    for (const begin of [[3], [8, 0, 0, 0, 3]]) {
        const bytes = packet("/1/onStatus", ...begin, 0, 1, 97, 1, 1, 0, 1, 98, 17, ...place, ...behind);
        assert.deepEqual(amfAnswer(bytes), { fault: { a: true, b: unread(7) }, unread: unread(7) });
    }
    assert.equal(
        String(unread(1_991)),
        "an object of the class com.example.Place, which only the program that has this class knows how to read; 2,000 bytes follow",
    );
});

const values: readonly unknown[] = [
    null,
    true,
    false,
    ...[0, -0, 1, -1, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 2 ** 28 - 1, 2 ** 28, -(2 ** 28), -(2 ** 28) - 1, 0.5, 1e300, NaN],
    "",
    "a",
    "é",
    "a text of ASCII that is longer than the short ones, and one that is not: 🥁",
    "x".repeat(70_000),
    [],
    [1, [2, [3]], { a: [] }],
    {},
    { a: 1, "é": { b: [null, "a"] }, list: [{ a: 1 }, { a: 2 }] },
    JSON.parse('{"__proto__": {"a": 1}}'),
];

test("what is written is read the same", () => {
    for (const [version, write] of [[0, writeAmf0], [3, writeAmf3]] as const) {
        for (const value of values) {
            const out = new Output();
            write(value, out);
            assert.deepEqual(read(out.bytes(), version), value);
        }
    }
});

test("a text that begins with a byte order mark keeps it", () => {
    const text = "\ufeffdrum";
    const bytes = Buffer.from(text);
    assert.equal(read(Uint8Array.of(2, 0, bytes.length, ...bytes), 0), text);
    assert.equal(amf3(6, bytes.length * 2 + 1, ...bytes), text);
});

test("values are written as the library of the server writes them", () => {
    const name = "pyamf-amf3-integers";
    const out = new Output();
    writeAmf3(inAmf3[name], out);
    assert.deepEqual(out.bytes(), golden(name));
    assert.throws(() => writeAmf3({ "": 1 }, new Output()), /AMF3 has no members with an empty name/);
});

test("a call has its version, its target, and its arguments by their places", () => {
    const bytes = (version: 0 | 3): string => Buffer.from(amfCall("a.b", ["x"], version)).toString("hex");
    assert.equal(bytes(0), "000000000001" + "0003612e62" + "00022f31" + "ffffffff" + "0a00000001" + "02000178");
    assert.equal(bytes(3), "000300000001" + "0003612e62" + "00022f31" + "ffffffff" + "0a00000001" + "11060378");
});

test("what is cut off, changed or hostile is an error that says where", () => {
    const files = [...Object.keys(inAmf0).map((name) => [name, 0] as const), ...Object.keys(inAmf3).map((name) => [name, 3] as const)];
    const clear = /^Error: the answer is not the AMF that this page reads: at byte \d+: /;
    for (const [name, version] of files) {
        const bytes = golden(name);
        for (let length = 0; length < bytes.length; length++) assert.throws(() => read(bytes.slice(0, length), version), clear, `${name}, ${length} bytes`);
        for (let at = 0; at < bytes.length; at++) {
            for (const change of [1, 2, 4, 16, 128, 255]) {
                const changed = bytes.slice();
                changed[at] ^= change;
                try {
                    read(changed, version);
                } catch (error) {
                    assert.match(String(error), clear, `${name}, byte ${at}`);
                }
            }
        }
    }
    for (const [name, version] of [["pyamf-amf0-cycle", 0], ["pyamf-amf3-cycle", 3]] as const) {
        assert.throws(() => read(golden(name), version), /a value contains itself/);
    }
    // A collection that is its own list.
    const name = Buffer.from("flex.messaging.io.ArrayCollection");
    assert.throws(() => amf3(10, 7, name.length * 2 + 1, ...name, 9, 0), /a value contains itself/);
    assert.throws(() => amf3(9, 0xff, 0xff, 0xff, 0xff, 1), /a list of 268435455 values is longer than the 1 bytes that are left/);
    assert.throws(() => amf3(15, 0xff, 0xff, 0xff, 0xff, 0), /a list of 268435455 values/);
    assert.throws(() => amf3(6, 4), /it refers to the text 2, of which 0 have come/);
    assert.throws(() => amf3(9, 8), /it refers to the value 4, of which 0 have come/);
    assert.throws(() => amf3(10, 9), /at byte 0: it refers to the traits 2, of which 0 have come/);
    assert.throws(() => amf3(18), /at byte 0: there is no value of the kind 18/);
    const deep = Array.from({ length: 200 }, () => [9, 3, 1]).flat();
    assert.throws(() => amf3(...deep, 1), /values are more than 100 levels within each other/);
});

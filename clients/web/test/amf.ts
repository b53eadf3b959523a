// Values that other software has written in AMF, which lie beside the tests of crates/tamtam-amf; its README says what they are.

import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { Amf0Reader } from "../page/amf/amf0.js";
import { Amf3Reader } from "../page/amf/amf3.js";
import { Input } from "../page/amf/input.js";

/** From build/test, where this is run. */
const folder = fileURLToPath(new URL("../../../../crates/tamtam-amf/tests/golden/", import.meta.url));

export function golden(name: string): Uint8Array<ArrayBuffer> {
    return new Uint8Array(readFileSync(folder + name));
}

/** The one value that bytes hold. */
export function read(bytes: Uint8Array<ArrayBuffer>, version: 0 | 3): unknown {
    const input = new Input(bytes.slice().buffer);
    const value = (version === 0 ? new Amf0Reader(input) : new Amf3Reader(input)).value(0);
    if (input.left > 0) throw input.error(`${input.left} bytes are left`);
    return value;
}

const when = new Date(1_359_030_615_250);
const [pair, object] = [[1, 2], { a: 1 }];

/** What the files of AMF3 hold, as this package reads them. */
export const inAmf3: Readonly<Record<string, unknown>> = {
    "pyamf-amf3-scalars": [null, undefined, true, false, 0, 1.5, -1, Infinity, "tam", "", "ü🥁", when],
    "pyamf-amf3-integers": [
        0, 127, 128, 16_383, 16_384, 2_097_151, 2_097_152, 268_435_455, 268_435_456, -1, -268_435_456, -268_435_457,
    ],
    "pyamf-amf3-object": { x: 1.5, name: "n", inside: { list: [1, "a", null] } },
    "pyamf-amf3-mixed-array": { 0: "zero", name: "n" },
    "pyamf-amf3-typed": [{ x: 1, colour: "red" }, { x: 1, y: "a" }, { x: 2, y: "b" }, { x: 3, z: "zz" }, { x: 4 }],
    "pyamf-amf3-references": [pair, object, pair, object, [object]],
    "pyamf-amf3-repeated": ["a", "b", "a", { a: "b" }, { a: "b" }, when, when],
    "pyamf-amf3-byte-array": [Uint8Array.of(0, 1, 255)],
    "pyamf-amf3-array-collection": [1, 2],
    "pyamf-amf3-xml": ['<a b="1"><c /></a>'],
    "js-amf3-vector-int": [1, 2],
    "js-amf3-vector-uint": [1, 4_294_967_295],
    "js-amf3-vector-double": [0.5, -2],
    "js-amf3-array": { mixed: true, ref: pair, 0: pair, 1: pair },
    "js-amf3-objects": [{ id: 1, name: "n" }, { id: 2, name: "m" }, { id: 1, name: "n" }],
};

/** What the files of AMF0 hold. */
export const inAmf0: Readonly<Record<string, unknown>> = {
    "pyamf-amf0-scalars": [null, undefined, true, false, 0, 1.5, -1, Infinity, "tam", "", "ü🥁", when],
    "pyamf-amf0-object": { x: 1.5, name: "n", inside: { list: [1, "a", null] } },
    "pyamf-amf0-mixed-array": { 0: "zero", name: "n" },
    "pyamf-amf0-typed": [{ x: 1, colour: "red" }, { x: 1, y: "a" }, { x: 2, y: "b" }, { x: 3, z: "zz" }, { x: 4 }],
    "pyamf-amf0-references": [pair, object, pair, object, [object]],
    "pyamf-amf0-xml": ['<a b="1"><c /></a>'],
    "pyamf-amf0-avmplus": [{ a: "b" }, [{ x: 1, y: "a" }, { x: 2, y: "a" }], "x"],
    "js-amf0-objects": { 0: { id: 1, name: "n" }, 1: { id: 2, name: "m" }, 2: { id: 1, name: "n" } },
};

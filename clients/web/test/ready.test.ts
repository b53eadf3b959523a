import assert from "node:assert/strict";
import { test } from "node:test";
import { decode, ready } from "../src/rows.js";
import { fromBase64, machine, use } from "../src/rows/kernels.js";
import { prepare } from "../src/rows/ready.js";
import { sample } from "../src/rows/sample.js";

test("what the decoder prepares itself with decodes to what was packed", async () => {
    await ready;
    const rows = decode(fromBase64(sample));
    assert.equal(rows.length, 16);
    const expected = Array.from({ length: 16 }, (_, i) => ({
        n: i + 1,
        x: (i * 7919) % 1100,
        color: (Math.imul(i, 0x9e3779b9) >>> 8).toString(16).padStart(6, "0"),
        name: ["red", "green", "blue"][(i * i) % 3],
        id: i % 5 === 2 ? null : (i * 31) % 17,
        at: 1_700_000_000_000 + ((i * i * 977) % 5000),
        price: ((i * 7919) % 1000) / 100,
        on: (i * 5) % 7 < 3,
    }));
    assert.deepEqual(rows.objects(), expected);
    assert.deepEqual(
        rows.fields.map(({ name, kind, nullable }) => `${name} ${kind.type}${nullable ? "?" : ""}`),
        ["n i16", "x i16", "color text", "name text", "id i32?", "at timestamp", "price f64", "on bool"],
    );
});

for (const form of ["WebAssembly", "JavaScript"] as const) {
    test(`the preparation does not fail, and leaves nothing behind, by ${form}`, () => {
        assert.ok(use(form));
        const first = machine().allocate(0);
        machine().reset();
        prepare();
        assert.equal(machine().allocate(0), first);
        machine().reset();
    });
}

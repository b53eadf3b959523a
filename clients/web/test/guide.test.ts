// The code on the guide's page "Rows in the browser", run as it stands there, against a real server.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { after, before, test } from "node:test";
import { decode } from "../src/rows.js";
import { fromBase64 } from "../src/rows/kernels.js";
import { sample } from "../src/rows/sample.js";

const page = readFileSync(new URL("../../../../docs/src/rows/browser.md", import.meta.url), "utf8");
/** Where the pieces are put as modules: beside this file, from where they find ours. */
const folder = new URL("guide/", import.meta.url);

const bytes = fromBase64(sample);
const tiles = decode<{ n: number; x: number; color: string }>(bytes).objects();

interface Done {
    /** What the piece gave to the page's functions. */
    tiles: unknown[][];
    shown: string[];
}

const globals = globalThis as unknown as { createTile: unknown; show: unknown; fetch: typeof fetch };
const server = createServer((request, response) => {
    response.statusCode = request.url === "/tiles" ? 200 : 404;
    response.end(request.url === "/tiles" ? bytes : undefined);
});
const ownFetch = globals.fetch;

before(async () => {
    mkdirSync(folder, { recursive: true });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    // A page's addresses are relative to its own.
    globals.fetch = (path) => ownFetch(new URL(String(path), origin));
});

after(() => {
    globals.fetch = ownFetch;
    server.close();
    server.closeAllConnections();
});

/** The pieces of code, by the headings that they stand under. */
const pieces = new Map(
    Array.from(page.matchAll(/^## (.+)$([\s\S]*?)(?=^## |$(?![\s\S]))/gm), ([, heading, text]) => [
        heading,
        Array.from(text.matchAll(/^```js\n([\s\S]*?)^```$/gm), ([, code]) => code),
    ]),
);

async function run(heading: string): Promise<Done> {
    const [code, ...more] = pieces.get(heading) ?? assert.fail(`the page has no heading "${heading}"`);
    assert.ok(code !== undefined && more.length === 0, `"${heading}" has one piece of code`);
    assert.ok(code.includes('from "@tamtam/web"'));
    const file = new URL(`${encodeURIComponent(heading)}.mjs`, folder);
    writeFileSync(file, code.replaceAll('"@tamtam/web"', JSON.stringify(new URL("../src/rows.js", import.meta.url).href)));
    const done: Done = { tiles: [], shown: [] };
    globals.createTile = (...tile: unknown[]) => void done.tiles.push(tile);
    globals.show = (text: string) => void done.shown.push(text);
    await import(file.href);
    return done;
}

const expected: { readonly [heading: string]: (done: Done) => void } = {
    "A table": (done) => assert.deepEqual(done.tiles, tiles.map(({ n, x, color }) => [n, x, color])),
    "Rows as objects": (done) => {
        assert.deepEqual(done.tiles, tiles.map(({ n, x, color }) => [n, x, color]));
        assert.deepEqual(done.shown, [`${tiles[2].color} at ${tiles[2].x}`, JSON.stringify(decode(bytes).row(0)), new Date(1_700_000_000_000).toISOString()]);
    },
    "Nulls, and numbers of 64 bits": (done) =>
        assert.deepEqual(done.shown, ["id 0", "id 14", "no id", "id 8", "2023-11-14T22:13:20.000Z", "bigint"]),
    "Many small tables": (done) => assert.deepEqual(done.shown, new Array(3).fill(`16 rows, the first of them ${tiles[0].color}`)),
    "A table larger than the page may hold": (done) => assert.deepEqual(done.tiles, tiles.map(({ x, color }, row) => [row, x, color])),
    "What can go wrong": (done) => {
        assert.equal(done.shown.length, 1);
        assert.match(done.shown[0], /^checksum: chunk 0 at byte \d+ was damaged on its way/);
    },
};

test("the guide's page has no code that is not run", () => {
    const withCode = Array.from(pieces).filter(([, codes]) => codes.length > 0);
    assert.deepEqual(withCode.map(([heading]) => heading), Object.keys(expected));
    assert.equal(page.match(/^```js$/gm)?.length, withCode.length);
});

for (const [heading, check] of Object.entries(expected)) {
    test(`the guide's code under "${heading}" does what it says`, async () => check(await run(heading)));
}

test("the guide names every code of an error", () => {
    const declared = readFileSync(new URL("../../src/rows/error.ts", import.meta.url), "utf8");
    const codes = Array.from(declared.matchAll(/^ {4}\| "(\w+)"/gm), ([, code]) => code).sort();
    assert.ok(codes.length >= 7);
    assert.deepEqual(Array.from(page.slice(page.indexOf("## What can go wrong")).matchAll(/^\| `(\w+)` \|/gm), ([, code]) => code).filter((code) => code !== "code").sort(), codes);
});

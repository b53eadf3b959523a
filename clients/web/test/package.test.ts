// What `npm pack` makes of a clean copy of this folder, installed and imported elsewhere as a user does.

import assert from "node:assert/strict";
import { execFileSync, spawnSync, type SpawnSyncReturns } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { sample } from "../src/rows/sample.js";

/** clients/web, from build/test, where this is run. */
const here = fileURLToPath(new URL("../../", import.meta.url));
const folder = mkdtempSync(join(tmpdir(), "tamtam-web-"));
after(() => rmSync(folder, { recursive: true, force: true }));

// Without what the npm that runs these tests has set for itself.
const environment = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("npm_")));

function run(cwd: string, program: string, ...words: string[]): SpawnSyncReturns<string> {
    return spawnSync(program, words, { cwd, env: environment, encoding: "utf8", timeout: 120_000 });
}

/** What a fresh clone has of this folder: neither dist nor node_modules. */
function copy(name: string): string {
    const to = join(folder, name);
    const made = ["node_modules", "dist", "build"].map((made) => join(here, made));
    cpSync(here, to, { recursive: true, filter: (from) => !made.includes(from) });
    return to;
}

function tarballs(folder: string): string[] {
    return readdirSync(folder).filter((name) => name.endsWith(".tgz"));
}

test("a package that cannot be built is not packed", () => {
    const clone = copy("bare");
    const { status, stderr } = run(clone, "npm", "pack");
    assert.notEqual(status, 0);
    assert.match(stderr, /@tamtam\/web was not packed: .*npm ci --ignore-scripts/);
    assert.deepEqual(tarballs(clone), []);
});

test("what a clean copy packs can be installed elsewhere and imported", () => {
    const clone = copy("clone");
    symlinkSync(join(here, "node_modules"), join(clone, "node_modules"), "junction");
    const packed = run(clone, "npm", "pack");
    assert.equal(packed.status, 0, packed.stderr);
    const [tarball, ...more] = tarballs(clone);
    assert.ok(tarball !== undefined && more.length === 0);

    const user = join(folder, "user");
    mkdirSync(user);
    writeFileSync(join(user, "package.json"), '{ "private": true, "type": "module" }');
    const installed = run(user, "npm", "install", "--offline", join(clone, tarball));
    assert.equal(installed.status, 0, installed.stderr);
    writeFileSync(
        join(user, "page.js"),
        `import { decode } from "@tamtam/web";
         const rows = decode(new Uint8Array(Buffer.from("${sample}", "base64")));
         console.log(JSON.stringify({ length: rows.length, n: rows.row(2).n }));`,
    );
    assert.equal(execFileSync(process.execPath, ["page.js"], { cwd: user, encoding: "utf8" }).trim(), '{"length":16,"n":3}');

    writeFileSync(
        join(user, "link.js"),
        `import { connect, LinkError } from "@tamtam/web/link";
         connect("no URL").catch((error) => console.log(error instanceof LinkError, error.code));`,
    );
    assert.equal(execFileSync(process.execPath, ["--experimental-websocket", "link.js"], { cwd: user, encoding: "utf8" }).trim(), "true connect");

    // Beside the module its types, and nothing that only work on it needs.
    const inside = join(user, "node_modules/@tamtam/web");
    assert.deepEqual(readdirSync(inside).sort(), ["README.md", "dist", "package.json"]);
    assert.match(readFileSync(join(inside, "dist/rows.d.ts"), "utf8"), /decode/);
    assert.match(readFileSync(join(inside, "dist/link.d.ts"), "utf8"), /connect/);
});

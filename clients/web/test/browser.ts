// Reads in a real browser what the program has written: `node build/test/browser.js FOLDER`, where `tiles` has put
// the article's tables. Each form of each table must give the same tiles, read for the first time and again, with
// WebAssembly and where the page's content security policy forbids it; and a stream must give the same rows.

import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { Chromium } from "../bench/chromium.js";
import type * as InPage from "../bench/page.js";
import { expected } from "../bench/payloads.js";

const folder = process.argv[2] ?? assert.fail("say where the tables are: browser.js FOLDER");
const page_js = join(dirname(fileURLToPath(import.meta.url)), "..", "page.js");

const files = new Map([["/page.js", page_js]]);
for (const count of readdirSync(folder)) {
    for (const file of readdirSync(join(folder, count))) files.set(`/payload/${count}/${file}`, join(folder, count, file));
}

let passed = 0;
for (const policy of [undefined, "script-src 'self'"]) {
    const chromium = await Chromium.start(files, policy);
    try {
        await chromium.withFreshPage(async (page) => {
            const compiles = await page.evaluate(async () => ((await import("/page.js" as string)) as typeof InPage).mayCompile());
            assert.equal(compiles, policy === undefined, "whether the page may have WebAssembly");
            for (const [address, path] of files) {
                const [, , count, file] = address.split("/");
                if (count === undefined) continue;
                const [table, form] = file.split(".");
                const tiles = expected(join(dirname(path), `${table}.text`));
                assert.ok(tiles.startsWith(`${count}:`), `${path} has ${tiles} tiles`);
                const seen = await page.evaluate(async (asked) => {
                    const module = (await import("/page.js" as string)) as typeof InPage;
                    return module.check(asked.form, asked.address);
                }, { form, address });
                for (const [way, sum] of Object.entries(seen)) {
                    assert.equal(sum, tiles, `${count}/${table} as ${way}, by the policy ${policy ?? "that there is none"}`);
                    passed++;
                }
            }
        });
    } finally {
        await chromium.close();
    }
}
console.log(`${passed} passed, 0 failed`);

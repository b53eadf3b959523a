// What is measured from end to end stands on links that are as fast as they should be: `node build/test/end-to-end.js`. Here
// none is slowed, or all are too slow, and the real measurement has to say so before it measures anything.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ways } from "../bench/end-to-end/ways.js";
import { package_folder } from "../bench/package-folder.js";

const folder = mkdtempSync(join(tmpdir(), "tamtam-end-to-end-"));
/** How long the second half of an answer is held back, in milliseconds, but by the server's other name: there it is without its link. */
let delay = 0;
const server = createServer((request, response) => {
    const count = Number(new URL(request.url ?? "/", "http://gateway").searchParams.get("count"));
    response.setHeader("Content-Type", "application/json");
    response.write(`"${"t".repeat(count / 2)}`);
    setTimeout(() => response.end(`${"t".repeat(count / 2)}"`), request.headers.host?.startsWith("localhost") === true ? 0 : delay);
});
server.listen(0, "127.0.0.1");
await once(server, "listening");
const plain = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** What the measurement complains of, behind a link that is to be this fast. */
async function complaint(bits_per_second: number, server: string): Promise<string> {
    const link = { name: "link", metric: "total_us_8mbit", bits_per_second, measured_to_computed: 1, plain, compressed: plain, server };
    const order = {
        tables: [{ count: 1, table: "random", text: join(folder, "text"), links: [link] }],
        slowdowns: [1],
        only: [],
        runs: 1,
        machine: "a machine",
    };
    const [ordered, figures] = [join(folder, "order.json"), join(folder, "figures.jsonl")];
    writeFileSync(ordered, JSON.stringify(order));
    const measuring = spawn(process.execPath, [join(package_folder, "build", "bench", "end-to-end.js"), ordered, figures], {
        stdio: ["ignore", "pipe", "pipe"],
    });
    let [said, told] = ["", ""];
    measuring.stdout.on("data", (text: Buffer) => (told += text.toString()));
    measuring.stderr.on("data", (text: Buffer) => (said += text.toString()));
    const [code] = (await once(measuring, "close")) as [number];
    assert.equal(code, 1, said);
    assert.ok(!existsSync(figures), "nothing was measured");
    // What is checked is told; no page was measured.
    const lines = told.trim().split("\n").map((line) => JSON.parse(line) as object);
    assert.deepEqual(lines, [{ done: 0, pages_a_round: 2 * Object.keys(ways).length, next: "whether the link of link is as fast as it should be" }]);
    return said;
}

try {
    assert.match(await complaint(1e6, plain), /^the link at http:\S+ is too fast: 25002 bytes came in [\d.]+ ms, computed are 196\.0 ms/);
    delay = 500;
    assert.match(await complaint(8e6, plain.replace("127.0.0.1", "localhost")), /^the link of link is too slow: a body took the page [\d.]+ times as long as computed/);
    console.log("2 passed, 0 failed");
} finally {
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true });
}

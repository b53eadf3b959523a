// What runs inside the page: from the request to the last tile, by the clock of the page.

import { checksum, Stage } from "../tiles.js";
import { wayOf, type Way } from "./ways.js";

/** What one call took, in microseconds, and what came. */
export interface Call {
    /** From the request to the headers of the answer. */
    wait: number;
    /** From there to the last byte. */
    transfer: number;
    /** From the bytes to rows. */
    decode: number;
    tiles: number;
    total: number;
    /** The body's bytes as they were sent. */
    wireBytes: number;
    /** By what it was compressed. */
    compression: string;
    serverCpu: number;
    checksum: string;
}

async function call(way: Way, set: string, stage: Stage): Promise<[Call, Uint8Array<ArrayBuffer>]> {
    const asked = way.ask(set);
    performance.clearResourceTimings();
    const begun = performance.now();
    const response = await fetch(asked.path, {
        method: asked.method,
        headers: asked.headers,
        body: asked.body ?? null,
        cache: "no-store",
    });
    const headed = performance.now();
    const bytes = new Uint8Array(await response.arrayBuffer());
    const came = performance.now();
    const read = way.read(bytes);
    const rows = read instanceof Promise ? await read : read;
    const decoded = performance.now();
    rows(stage.createTile);
    const ready = performance.now();
    if (!response.ok) throw new Error(`${asked.path}: ${response.status}`);
    const figures = {
        wait: (headed - begun) * 1000,
        transfer: (came - headed) * 1000,
        decode: (decoded - came) * 1000,
        tiles: (ready - decoded) * 1000,
        total: (ready - begun) * 1000,
        wireBytes: await wireBytes(asked.path),
        compression: response.headers.get("content-encoding") ?? "",
        serverCpu: cpuOf(response.headers.get("server-timing") ?? ""),
        checksum: checksum(stage.tiles),
    };
    return [figures, bytes];
}

/** The bytes of the answer's body, which the browser tells a moment later. */
async function wireBytes(path: string): Promise<number> {
    const url = new URL(path, location.href).href;
    for (let tries = 0; tries < 1000; tries++) {
        const entry = performance.getEntriesByName(url, "resource").at(-1);
        if (entry instanceof PerformanceResourceTiming && entry.encodedBodySize > 0) return entry.encodedBodySize;
        await new Promise((resolve) => setTimeout(resolve, 5));
    }
    throw new Error(`the browser does not tell how long the answer of ${path} was`);
}

function cpuOf(timing: string): number {
    const milliseconds = /(?:^|, )cpu;dur=([\d.]+)/.exec(timing)?.[1];
    if (milliseconds === undefined) throw new Error(`the server does not tell its CPU time: ${timing}`);
    return Number(milliseconds) * 1000;
}

/**
 * The very first call of this page, and several more: before these the form is read as often as it takes for an engine to
 * have compiled that, or a third of a second. What takes long is repeated less.
 */
export async function calls(name: string, set: string, repeats: number): Promise<{ first: Call; warm: Call[] }> {
    const way = wayOf(name);
    const [first, bytes] = await call(way, set, new Stage());
    const begun = performance.now();
    for (let reads = 0; reads < 100 && performance.now() - begun < 330; reads++) {
        const stage = new Stage();
        const read = way.read(bytes);
        (read instanceof Promise ? await read : read)(stage.createTile);
    }
    const warm: Call[] = [];
    const until = performance.now() + 2000;
    while (warm.length === 0 || (warm.length < repeats && performance.now() < until)) {
        warm.push((await call(way, set, new Stage()))[0]);
    }
    return { first, warm };
}

/** How long the body of so many letters takes, in milliseconds, after the headers and from the request. */
export async function letters(count: number): Promise<{ transfer: number; total: number; bytes: number }> {
    const begun = performance.now();
    const response = await fetch(`/rest/Link/bytes?count=${count}`, { cache: "no-store", headers: { Accept: "application/json" } });
    const headed = performance.now();
    const { byteLength } = await response.arrayBuffer();
    const came = performance.now();
    if (!response.ok) throw new Error(`the letters: ${response.status}`);
    return { transfer: came - headed, total: came - begun, bytes: byteLength };
}

/** How long a loop of so many turns takes, in milliseconds. */
export function loop(turns: number): number {
    const begun = performance.now();
    let sum = 0;
    for (let turn = 0; turn < turns; turn++) sum = (Math.imul(sum, 31) + turn) | 0;
    const took = performance.now() - begun;
    // An engine leaves out work whose result is not used.
    if (sum === 1) throw new Error("the loop came to nothing");
    return took;
}

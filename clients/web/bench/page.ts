// What runs inside the page: one contender at a time, by the clock of the page.

import { decodeStream } from "../src/rows.js";
import { contenderOf, contenders, type Row } from "./contenders.js";
import { checksum, Stage } from "./tiles.js";

export interface Figure {
    /** Microseconds a call. */
    micros: number;
    checksum: string;
}

async function fetched(payload: string): Promise<Uint8Array<ArrayBuffer>> {
    const response = await fetch(payload);
    if (!response.ok) throw new Error(`${payload}: ${response.status}`);
    return new Uint8Array(await response.arrayBuffer());
}

/** Whether this page may compile WebAssembly. */
export function mayCompile(): boolean {
    try {
        new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));
        return true;
    } catch {
        return false;
    }
}

/** The checksums of the tiles that a form gives, by each way to read it: at the first call, again, and as a stream. */
export async function check(form: string, payload: string): Promise<{ [way: string]: string }> {
    const bytes = await fetched(payload);
    const sums: { [way: string]: string } = {};
    for (const name of Object.keys(contenders)) {
        if (name !== form && !name.startsWith(`${form}/`)) continue;
        for (const time of ["at first", "again"]) {
            const stage = new Stage();
            contenders[name](bytes, stage.createTile);
            sums[`${name} ${time}`] = checksum(stage.tiles);
        }
    }
    if (form.startsWith("packed")) {
        const stage = new Stage();
        const { body } = await fetch(payload);
        if (body === null) throw new Error(`${payload} has no body`);
        for await (const rows of decodeStream<Row>(body)) {
            for (const row of rows) stage.createTile(row.slot_number, row.x, row.y, row.color, row.rotation);
        }
        sums[`${form} as a stream`] = checksum(stage.tiles);
    }
    return sums;
}

/** The very first call in this page: what comes over the network is made into tiles. */
export async function cold(name: string, payload: string): Promise<Figure> {
    const bytes = await fetched(payload);
    const contender = contenderOf(name);
    const stage = new Stage();
    const began = performance.now();
    contender(bytes, stage.createTile);
    const ended = performance.now();
    return { micros: (ended - began) * 1000, checksum: checksum(stage.tiles) };
}

/** A call after many: the median of several batches, each long enough for the clock. */
export async function warm(name: string, payload: string, milliseconds: number): Promise<Figure> {
    const bytes = await fetched(payload);
    const contender = contenderOf(name);
    const stage = new Stage();
    const batch = (calls: number): number => {
        const began = performance.now();
        for (let call = 0; call < calls; call++) {
            stage.clear();
            contender(bytes, stage.createTile);
        }
        return performance.now() - began;
    };
    let calls = 1;
    // At least 100 calls and as much time go by before anything counts: engines compile hot code beside the page.
    let called = 0;
    for (let spent = 0; spent < milliseconds || called < 100; called += calls) {
        const took = batch(calls);
        spent += took;
        if (took < 2) calls *= 2;
    }
    const figures: number[] = [];
    for (let spent = 0; spent < milliseconds || figures.length < 5; ) {
        const took = batch(calls);
        spent += took;
        figures.push((took / calls) * 1000);
    }
    figures.sort((a, b) => a - b);
    return { micros: figures[figures.length >> 1], checksum: checksum(stage.tiles) };
}

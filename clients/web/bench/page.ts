// What runs inside the page: one contender at a time, by the clock of the page.

import { contenders } from "./contenders.js";
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

/** The very first call in this page: what comes over the network is made into tiles. */
export async function cold(name: string, payload: string): Promise<Figure> {
    const bytes = await fetched(payload);
    const contender = contenders[name];
    const stage = new Stage();
    const began = performance.now();
    contender(bytes, stage.createTile);
    const ended = performance.now();
    return { micros: (ended - began) * 1000, checksum: checksum(stage.tiles) };
}

/** A call after many: the median of several batches, each long enough for the clock. */
export async function warm(name: string, payload: string, milliseconds: number): Promise<Figure> {
    const bytes = await fetched(payload);
    const contender = contenders[name];
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
    // At least 100 calls and a third of the time go by before anything counts.
    let called = 0;
    for (let spent = 0; spent < milliseconds / 3 || called < 100; called += calls) {
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

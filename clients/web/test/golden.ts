// Tables that the Rust library has packed, which lie beside its own tests: NAME-MODE.rows, and what they hold in
// NAME.json. crates/tamtam-rows/tests/it/packed_golden.rs writes and describes them.

import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** From build/test, where this is run. */
const folder = fileURLToPath(new URL("../../../../crates/tamtam-rows/tests/golden/packed/", import.meta.url));

export interface Golden {
    name: string;
    bytes: Uint8Array<ArrayBuffer>;
}

export interface GoldenColumn {
    name: string;
    kind: string;
    nullable: boolean;
    values: (string | boolean | null)[];
}

export function golden(): Golden[] {
    const files = readdirSync(folder).filter((name) => name.endsWith(".rows")).sort();
    return files.map((name) => ({ name: name.slice(0, -".rows".length), bytes: new Uint8Array(readFileSync(folder + name)) }));
}

/** What a golden table holds. */
export function columnsOf(name: string): GoldenColumn[] {
    return JSON.parse(readFileSync(`${folder}${name.split("-")[0]}.json`, "utf8")) as GoldenColumn[];
}

// Tables that the Rust library has packed, which lie beside its own tests.

import { existsSync, readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** From build/test, where this is run. */
const folder = fileURLToPath(new URL("../../../../crates/tamtam-rows/tests/golden/", import.meta.url));

export interface Golden {
    name: string;
    bytes: Uint8Array<ArrayBuffer>;
}

function files(ending: string): string[] {
    if (!existsSync(folder)) return [];
    return readdirSync(folder).filter((name) => name.endsWith(ending)).sort();
}

export function golden(): Golden[] {
    return files(".rows").map((name) => ({ name: name.slice(0, -".rows".length), bytes: new Uint8Array(readFileSync(folder + name)) }));
}

export function readJson(name: string): unknown {
    return JSON.parse(readFileSync(`${folder}${name}.json`, "utf8"));
}

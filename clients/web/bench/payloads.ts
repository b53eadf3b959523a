// The article's tables in files: FOLDER/COUNT/TABLE.FORM, as the example `tiles` of `tamtam-cli` writes them.

import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { checksum, type Tile } from "./tiles.js";

export interface Payload {
    count: string;
    table: string;
    form: string;
    path: string;
}

const known = new Set(["text", "json-arrays", "json-objects", "json-columns", "packed", "packed-small", "packed-plain"]);

/** Packed in a mode that is chosen for the link alone, such as `packed-100mbit`. */
const forALink = /^packed-\d+mbit$/;

export function payloadsIn(folder: string): Payload[] {
    const found: Payload[] = [];
    for (const count of readdirSync(folder).sort((a, b) => Number(a) - Number(b))) {
        for (const file of readdirSync(join(folder, count)).sort()) {
            const [table, form] = file.split(".", 2);
            if (known.has(form) || forALink.test(form)) found.push({ count, table, form, path: join(folder, count, file) });
        }
    }
    return found;
}

/** What the tiles must be, out of the text: read without any code that is measured. */
export function expected(textFile: string): string {
    const tiles: Tile[] = [];
    for (const [, n, x, y, color, rotation] of readFileSync(textFile, "utf8").matchAll(/^(\d+),(\d+),(\d+),(\w+),(\d+)\r?$/gm)) {
        tiles.push({ n: Number(n), x: Number(x), y: Number(y), color, rotation: Number(rotation) });
    }
    return checksum(tiles);
}

// How a page reads each form. All of them end in the same loop over `createTile`.

import { decode, type Rows } from "../src/rows.js";
import type { Contender, CreateTile } from "./tiles.js";

/** The article's way: text divided into lines, and each line at its commas. */
const text: Contender = (bytes, createTile) => {
    for (const line of new TextDecoder().decode(bytes).split("\n")) {
        if (line === "") continue;
        const cells = line.split(",");
        createTile(Number(cells[0]), Number(cells[1]), Number(cells[2]), cells[3], Number(cells[4]));
    }
};

type Cells = [number, number, number, string, number];

const jsonArrays: Contender = (bytes, createTile) => {
    const rows = JSON.parse(new TextDecoder().decode(bytes)) as Cells[];
    // The first one holds the names.
    for (let row = 1; row < rows.length; row++) {
        const cells = rows[row];
        createTile(cells[0], cells[1], cells[2], cells[3], cells[4]);
    }
};

export interface Row {
    slot_number: number;
    x: number;
    y: number;
    color: string;
    rotation: number;
}

const jsonObjects: Contender = (bytes, createTile) => {
    for (const row of JSON.parse(new TextDecoder().decode(bytes)) as Row[]) {
        createTile(row.slot_number, row.x, row.y, row.color, row.rotation);
    }
};

const jsonColumns: Contender = (bytes, createTile) => {
    const columns = JSON.parse(new TextDecoder().decode(bytes)) as { [Name in keyof Row]: Row[Name][] };
    const { slot_number, x, y, color, rotation } = columns;
    for (let row = 0; row < slot_number.length; row++) {
        createTile(slot_number[row], x[row], y[row], color[row], rotation[row]);
    }
};

/** Column by column, as a loop that is to be fast is written. */
const packed: Contender = (bytes, createTile) => tilesOf(decode(bytes), createTile);

let last: Rows<unknown> | undefined;

/** The same, in the memory of the table before, of which nothing is left but its tiles. */
const packedReuse: Contender = (bytes, createTile) => {
    const rows = decode(bytes, { reuse: last });
    last = rows;
    tilesOf(rows, createTile);
};

function tilesOf(rows: Rows, createTile: CreateTile): void {
    const slot = rows.numbers("slot_number");
    const x = rows.numbers("x");
    const y = rows.numbers("y");
    const color = rows.texts("color").toArray();
    const rotation = rows.numbers("rotation");
    for (let row = 0; row < rows.length; row++) {
        createTile(slot[row], x[row], y[row], color[row], rotation[row]);
    }
}

/** Row by row, as is most convenient. */
const packedRows: Contender = (bytes, createTile) => {
    for (const row of decode<Row>(bytes)) createTile(row.slot_number, row.x, row.y, row.color, row.rotation);
};

/** By the name of the form, or `FORM/WAY` where there is more than one way to read it. */
export const contenders: { readonly [form: string]: Contender } = {
    text,
    "json-arrays": jsonArrays,
    "json-objects": jsonObjects,
    "json-columns": jsonColumns,
    packed,
    "packed-small": packed,
    "packed-plain": packed,
    "packed/row-objects": packedRows,
    "packed/reuse": packedReuse,
};

/** The way of this name: every packed form is read alike, in whatever mode it was written. */
export function contenderOf(name: string): Contender {
    const contender = contenders[name] ?? (name.startsWith("packed-") ? packed : undefined);
    if (contender === undefined) throw new Error(`no page reads ${name}`);
    return contender;
}

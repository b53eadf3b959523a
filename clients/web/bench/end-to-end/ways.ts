// How a page asks the gateway for a table in each form, and reads it. All of them end in the same loop over `createTile`.

import type { Vector } from "apache-arrow";
import { amfAnswer, amfCall, type Version } from "../../page/amf.js";
import { messagePack } from "../../page/message-pack.js";
import { xmlAnswer, xmlCall } from "../../page/xml.js";
import { decode, type Rows } from "../../src/rows.js";
import type { Row } from "../contenders.js";
import type { CreateTile } from "../tiles.js";
import { arrow, parquet } from "./columnar.js";

export interface Asked {
    readonly path: string;
    readonly method: "GET" | "POST";
    readonly headers: Readonly<Record<string, string>>;
    readonly body?: string | Uint8Array<ArrayBuffer>;
}

/** A form, and what is done with it. */
export interface Way {
    ask(set: string): Asked;
    /** What comes, as a loop over rows needs it, and that loop; later, if the form's library gives it later. */
    read(bytes: Uint8Array<ArrayBuffer>): Loop | Promise<Loop>;
}

/** Makes a tile of each row. */
type Loop = (createTile: CreateTile) => void;

function byUrl(accept: string): (set: string) => Asked {
    return (set) => ({ path: `/rest/Tiles/list?set=${set}`, method: "GET", headers: { Accept: accept } });
}

function inText(bytes: Uint8Array<ArrayBuffer>): string {
    return new TextDecoder().decode(bytes);
}

function ofObjects(rows: readonly Row[]): Loop {
    return (createTile) => {
        for (const row of rows) createTile(row.slot_number, row.x, row.y, row.color, row.rotation);
    };
}

/** The value of an answer that may be a fault. */
function valueOf(answer: { value: unknown } | { fault: unknown }): Row[] {
    if ("fault" in answer) throw new Error(`the server says ${JSON.stringify(answer.fault)}`);
    return answer.value as Row[];
}

const packed = byUrl("application/vnd.tamtam.rows");
const json = byUrl("application/json");
const inArrow = byUrl("application/vnd.apache.arrow.stream");

function amf(rows: "recordset" | "objects", version: Version): Way {
    return {
        ask: (set) => ({
            path: `/amf?rows=${rows}`,
            method: "POST",
            headers: { "Content-Type": "application/x-amf" },
            body: amfCall("Tiles.list", [set], version),
        }),
        read: (bytes) => ofObjects(valueOf(amfAnswer(bytes.buffer))),
    };
}

/** By the name of the form, or `FORM/WAY` where there is more than one way to read it. */
export const ways: { readonly [name: string]: Way } = {
    packed: {
        ask: packed,
        read: (bytes) => {
            const rows: Rows = decode(bytes);
            const [slot, x, y, rotation] = ["slot_number", "x", "y", "rotation"].map((name) => rows.numbers(name));
            const color = rows.texts("color").toArray();
            return (createTile) => {
                for (let row = 0; row < rows.length; row++) createTile(slot[row], x[row], y[row], color[row], rotation[row]);
            };
        },
    },
    "packed/row-objects": {
        ask: packed,
        read: (bytes) => {
            const rows = decode<Row>(bytes);
            return (createTile) => {
                for (const row of rows) createTile(row.slot_number, row.x, row.y, row.color, row.rotation);
            };
        },
    },
    "json-objects": { ask: json, read: (bytes) => ofObjects(JSON.parse(inText(bytes)) as Row[]) },
    "json-lines": {
        ask: byUrl("application/jsonl"),
        read: (bytes) => {
            const lines = inText(bytes).split("\n");
            return ofObjects(lines.filter((line) => line !== "").map((line) => JSON.parse(line) as Row));
        },
    },
    // CSV, the article's string: lines, divided at their commas. The first one has the names.
    text: {
        ask: byUrl("text/csv"),
        read: (bytes) => {
            const lines = inText(bytes).split(/\r?\n/);
            const rows: string[][] = [];
            for (let line = 1; line < lines.length; line++) if (lines[line] !== "") rows.push(lines[line].split(","));
            return (createTile) => {
                for (const cells of rows) {
                    createTile(Number(cells[0]), Number(cells[1]), Number(cells[2]), cells[3], Number(cells[4]));
                }
            };
        },
    },
    "arrow-ipc": {
        ask: inArrow,
        read: (bytes) => {
            const rows = arrow(bytes);
            const column = (name: string): Vector => rows.getChild(name) ?? missing(name);
            const [slot, x, y, rotation] = ["slot_number", "x", "y", "rotation"].map((name) => column(name).toArray() as ArrayLike<number>);
            const color = column("color").toArray() as string[];
            return (createTile) => {
                for (let row = 0; row < rows.numRows; row++) createTile(slot[row], x[row], y[row], color[row], rotation[row]);
            };
        },
    },
    "arrow-ipc/row-objects": {
        ask: inArrow,
        read: (bytes) => {
            const rows = arrow(bytes) as unknown as Iterable<Row>;
            return (createTile) => {
                for (const row of rows) createTile(row.slot_number, row.x, row.y, row.color, row.rotation);
            };
        },
    },
    "parquet-zstd": {
        ask: byUrl("application/vnd.apache.parquet"),
        read: async (bytes) => ofObjects((await parquet(bytes)) as unknown as Row[]),
    },
    // A list of lists: the names, and then the values of each row by their places.
    "message-pack": {
        ask: byUrl("application/vnd.msgpack"),
        read: (bytes) => {
            const rows = messagePack(bytes) as Cells[];
            return (createTile) => {
                for (let row = 1; row < rows.length; row++) {
                    const cells = rows[row];
                    createTile(cells[0], cells[1], cells[2], cells[3], cells[4]);
                }
            };
        },
    },
    "json-rpc": {
        ask: (set) => ({
            path: "/jsonrpc",
            method: "POST",
            headers: { "Content-Type": "application/json" },
            body: JSON.stringify({ jsonrpc: "2.0", method: "Tiles.list", params: { set }, id: 1 }),
        }),
        read: (bytes) => {
            const { result, error } = JSON.parse(inText(bytes)) as { result: Row[]; error?: unknown };
            return ofObjects(valueOf(error === undefined ? { value: result } : { fault: error }));
        },
    },
    "xml-rpc": {
        ask: (set) => ({ path: "/xmlrpc", method: "POST", headers: { "Content-Type": "text/xml" }, body: xmlCall("Tiles.list", [set]) }),
        read: (bytes) => ofObjects(valueOf(xmlAnswer(inText(bytes)))),
    },
    // In a packet of version 3 a RecordSet is the same.
    "amf0-recordset": amf("recordset", 0),
    // The article's array.
    "amf0-objects": amf("objects", 0),
    "amf3-objects": amf("objects", 3),
};

function missing(name: string): never {
    throw new Error(`the table has no ${name}`);
}

type Cells = [number, number, number, string, number];

export function wayOf(name: string): Way {
    const way = ways[name];
    if (way === undefined) throw new Error(`no page reads ${name}`);
    return way;
}

// An answer as a table, as a tree, or as it came.

import { Rows } from "../src/rows.js";
import { Unread } from "./amf/input.js";
import { Columns } from "./columns.js";
import { choice, counted, element, framed } from "./dom.js";
import { stringify } from "./json.js";
import type { Outcome } from "./call.js";

/** Rows that are shown at a time. */
const ROWS = 100;
/** Members that a branch of the tree shows at a time. */
const MEMBERS = 100;
/** Characters of an answer that are shown as they came. */
const CHARACTERS = 20_000;

/** The answer, in the ways in which it can be shown. */
export function shown(outcome: Outcome): HTMLElement {
    const place = element("div", { class: "answer" });
    const views: [string, string, () => Node][] = [];
    const { decoded } = outcome;
    if (decoded !== undefined && "value" in decoded) {
        const { value } = decoded;
        const table = asTable(value);
        if (table !== undefined) views.push(["table", "Table", () => tableOf(table)]);
        views.push(["tree", "Tree", () => element("div", { class: "tree" }, branch("answer", plain(value), true))]);
    } else if (decoded !== undefined) {
        views.push(["tree", "Fault", () => element("div", { class: "tree fault" }, branch("fault", decoded.fault, true))]);
    }
    views.push(["raw", "As it came", () => raw(outcome)]);
    const show = (id: string): void => {
        const [, , make] = views.find(([known]) => known === id) ?? views[0];
        place.replaceChildren(make());
    };
    show(views[0][0]);
    const names = views.map(([id, name]) => [id, name] as const);
    const note = unreadNote(outcome);
    return element("div", {}, note !== "" && element("p", { class: "note" }, note), choice("Show the answer as", names, views[0][0], show), place);
}

/** What of the answer is not shown but as it came, and why. */
function unreadNote({ decoded, undecoded }: Outcome): string {
    if (undecoded !== undefined) return `The answer cannot be read: ${undecoded}. It is shown as it came.`;
    if (decoded?.unread === undefined) return "";
    return `What is shown ends before ${decoded.unread}. “As it came” has them.`;
}

interface Table {
    readonly names: readonly string[];
    readonly length: number;
    cell(row: number, name: string): unknown;
}

/** A table, or a list of objects that can be shown as one. */
function asTable(value: unknown): Table | undefined {
    if (value instanceof Rows) {
        const rows = value;
        let part: readonly Record<string, unknown>[] | undefined;
        const names = [...new Set(rows.fields.map((field) => field.name))];
        return { names, length: rows.length, cell: (row, name) => (part ??= ofRows(rows))[row]?.[name] };
    }
    if (value instanceof Columns) return value;
    if (!Array.isArray(value) || value.length === 0) return undefined;
    const isObject = (item: unknown): item is Record<string, unknown> => typeof item === "object" && item !== null && !Array.isArray(item) && !(item instanceof Unread);
    if (!value.every(isObject)) return undefined;
    const names = [...new Set(value.slice(0, ROWS).flatMap((item) => Object.keys(item)))];
    return { names, length: value.length, cell: (row, name) => (value[row] as Record<string, unknown>)[name] };
}

function tableOf(table: Table): HTMLElement {
    const body = element("tbody");
    const more = element("button", { type: "button", click: () => add() });
    let shownRows = 0;
    const add = (): void => {
        const end = Math.min(table.length, shownRows + ROWS);
        for (let row = shownRows; row < end; row++) {
            const cells = table.names.map((name) => {
                const value = table.cell(row, name);
                const isNumber = typeof value === "number" || typeof value === "bigint";
                return element("td", { class: isNumber ? "number" : value === null ? "null" : undefined }, inCell(value));
            });
            body.append(element("tr", {}, element("th", { scope: "row" }, counted(row + 1)), ...cells));
        }
        shownRows = end;
        // What is hidden loses the focus.
        if (shownRows >= table.length && document.activeElement === more) frame.focus({ preventScroll: true });
        more.hidden = shownRows >= table.length;
        more.textContent = `Show ${counted(Math.min(ROWS, table.length - shownRows))} more of ${counted(table.length)} rows`;
    };
    const head = table.names.map((name) => element("th", { scope: "col" }, name));
    const caption = element("caption", {}, `${counted(table.length)} rows`);
    const made = element("table", { class: "rows" }, caption, element("thead", {}, element("tr", {}, element("th", { scope: "col" }, "row"), ...head)), body);
    const frame = framed("The rows of the answer", made);
    add();
    return element("div", {}, frame, more);
}

function inCell(value: unknown): string {
    if (value === null || value === undefined) return "null";
    if (isLeaf(value)) return inText(value);
    return typeof value === "object" ? stringify(value, undefined, (inside) => (inside instanceof Uint8Array || inside instanceof Unread ? inText(inside) : inside)) : String(value);
}

type Leaf = Date | Uint8Array | Unread;

/** Whether an object is shown by one text. */
function isLeaf(value: unknown): value is Leaf {
    return value instanceof Date || value instanceof Uint8Array || value instanceof Unread;
}

/** A date as ISO 8601 has it, and bytes in Base64, as the server's JSON has both; of what was not read, what it is. */
function inText(value: Leaf): string {
    if (value instanceof Unread) return String(value);
    if (value instanceof Uint8Array) return btoa(Array.from(value, (byte) => String.fromCharCode(byte)).join(""));
    // There are dates that are no day.
    return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
}

function plain(value: unknown): unknown {
    if (value instanceof Columns) return value.objects();
    return value instanceof Rows ? ofRows(value) : value;
}

/** The rows as objects, whose integers are bigints where JSON would have text in their place. */
export function ofRows(rows: Rows): Record<string, unknown>[] {
    const objects: Record<string, unknown>[] = rows.toJSON();
    for (const column of rows.columns) {
        const { name, kind } = column.field;
        const isInteger = kind.type === "i64" || kind.type === "u64";
        if (!isInteger || column.values instanceof Float64Array || rows.column(name) !== column) continue;
        objects.forEach((object, row) => (object[name] = column.get(row)));
    }
    return objects;
}

/** A value with its name; what it holds is made when it is opened. */
function branch(name: string, value: unknown, open = false): HTMLElement {
    if (typeof value !== "object" || value === null || isLeaf(value)) {
        return element("div", { class: "leaf" }, element("span", { class: "name" }, name), ": ", leaf(value));
    }
    const entries = Object.entries(value);
    const more = element("button", { type: "button", click: () => add() }, "More");
    const kind = Array.isArray(value) ? `list of ${counted(entries.length)}` : `${counted(entries.length)} members`;
    const inside = element("div", { class: "inside" }, more);
    const summary = element("summary", {}, element("span", { class: "name" }, name), ` ${kind}`);
    const node = element("details", { open, toggle: () => fill() }, summary, inside);
    let made = 0;
    const add = (): void => {
        more.before(...entries.slice(made, made + MEMBERS).map(([member, item]) => branch(member, item)));
        made += MEMBERS;
        if (made < entries.length) return;
        if (document.activeElement === more) summary.focus({ preventScroll: true });
        more.remove();
    };
    const fill = (): void => {
        if (node.open && made === 0) add();
    };
    fill();
    return node;
}

function leaf(value: unknown): HTMLElement {
    const kind = value === null || value === undefined ? "null" : typeof value === "bigint" ? "number" : typeof value;
    const text = typeof value === "string" ? JSON.stringify(value) : isLeaf(value) ? inText(value) : String(value);
    return element("span", { class: `value ${kind}` }, text);
}

function raw(outcome: Outcome): HTMLElement {
    const { bytes, contentType } = outcome;
    const isText = /json|xml|^text\//.test(contentType);
    const part = new Uint8Array(bytes, 0, Math.min(bytes.byteLength, isText ? CHARACTERS : CHARACTERS / 16));
    const text = isText ? new TextDecoder().decode(part) : dump(part);
    const left = bytes.byteLength - part.length;
    const save = (): void => {
        const link = element("a", { href: URL.createObjectURL(new Blob([bytes])), download: `answer.${outcome.way.id}` });
        link.click();
        setTimeout(() => URL.revokeObjectURL(link.href), 1_000);
    };
    return element(
        "div",
        {},
        element("pre", { tabindex: 0, "aria-label": "The answer as it came" }, text),
        left > 0 && element("p", { class: "note" }, `${counted(left)} more bytes are not shown.`),
        element("button", { type: "button", click: save }, "Save it as a file"),
    );
}

/** Bytes in figures, with their letters beside them. */
function dump(bytes: Uint8Array): string {
    const lines: string[] = [];
    for (let at = 0; at < bytes.length; at += 16) {
        const line = bytes.subarray(at, at + 16);
        const figures = Array.from(line, (byte) => byte.toString(16).padStart(2, "0")).join(" ");
        const letters = Array.from(line, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("");
        lines.push(`${at.toString(16).padStart(6, "0")}  ${figures.padEnd(47)}  ${letters}`);
    }
    return lines.join("\n");
}

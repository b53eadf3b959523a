// JSON whose integers keep all their digits: what no number of JavaScript is, is a bigint.

/** Something that looks like an integer beyond 2^53. */
const LONG = /\d{16}/;
/** A text, or a number with its fraction and exponent. */
const TOKEN = /"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** The values of a text of JSON. Throws what `JSON.parse` throws. */
export function parse(text: string): unknown {
    if (!LONG.test(text)) return JSON.parse(text);
    const mark = newMark();
    const marked = withMarks(text, mark);
    if (marked === undefined) return JSON.parse(text);
    // An error is to name a place of the text that came.
    JSON.parse(text);
    const unmarked = (_: string, value: unknown): unknown => {
        return typeof value === "string" && value.startsWith(mark) ? BigInt(value.slice(mark.length)) : value;
    };
    return JSON.parse(marked, unmarked);
}

/** A value as a text of JSON, indented by so much; `replace` gives what stands in place of a value within it. */
export function stringify(value: unknown, indent?: number, replace = (value: unknown): unknown => value): string {
    const mark = newMark();
    let marks = 0;
    const marked = (_: string, value: unknown): unknown => {
        const given = replace(value);
        if (typeof given !== "bigint") return given;
        marks += 1;
        return mark + given;
    };
    const text = (JSON.stringify(value, marked, indent) as string | undefined) ?? "null";
    return marks === 0 ? text : text.replace(new RegExp(`"${mark}(-?\\d+)"`, "g"), "$1");
}

/** Whether a value is such a one, or holds one. */
export function holds(value: unknown, isSuch: (value: unknown) => boolean): boolean {
    if (typeof value !== "object" || value === null) return isSuch(value);
    return Object.values(value).some((inside) => holds(inside, isSuch));
}

/** An integer as a number, if one is the same. */
export function integer(digits: string | bigint): number | bigint {
    const number = Number(digits);
    return Number.isSafeInteger(number) ? number : BigInt(digits);
}

/** The integer that a text spells, with blanks or a sign; nothing if it spells none. */
export function integerIn(text: string): number | bigint | undefined {
    return /^\s*[+-]?\d+\s*$/.test(text) ? integer(text.trim().replace("+", "")) : undefined;
}

/** The double that an integer is, for a protocol that has no other numbers. */
export function asDouble(value: bigint, protocol: string): number {
    const number = Number(value);
    if (!Number.isFinite(number) || BigInt(number) !== value) {
        throw new Error(`${protocol} has doubles alone, and none is ${value}: give it as a text`);
    }
    return number;
}

/** A text that no other text begins with: no server can know it. */
function newMark(): string {
    return `${Math.random().toString(36).slice(2)}${Math.random().toString(36).slice(2)}:`;
}

/** The text with each integer that no number is as a text that begins with the mark; nothing if there is none. */
function withMarks(text: string, mark: string): string | undefined {
    const parts: string[] = [];
    let copied = 0;
    TOKEN.lastIndex = 0;
    for (let found = TOKEN.exec(text); found !== null; found = TOKEN.exec(text)) {
        const [token] = found;
        if (token === '"') TOKEN.lastIndex = endOfText(text, TOKEN.lastIndex);
        else if (/^-?\d+$/.test(token) && !Number.isSafeInteger(Number(token))) {
            parts.push(text.slice(copied, found.index), `"${mark}${token}"`);
            copied = TOKEN.lastIndex;
        }
    }
    if (copied === 0) return undefined;
    parts.push(text.slice(copied));
    return parts.join("");
}

/** The place behind the quotation mark that ends a text. */
function endOfText(text: string, begin: number): number {
    for (let at = begin; ; at++) {
        at = text.indexOf('"', at);
        if (at < 0) return text.length;
        let escapes = 0;
        while (text[at - 1 - escapes] === "\\") escapes++;
        if (escapes % 2 === 0) return at + 1;
    }
}

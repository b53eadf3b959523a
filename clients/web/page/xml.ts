// XML-RPC: a call out of JSON, and values out of an answer.

import { integerIn } from "./json.js";

/** The body of a call. XML-RPC has arguments by their places alone. */
export function xmlCall(method: string, args: readonly unknown[]): string {
    const params = args.map((value) => `<param>${written(value)}</param>`).join("");
    return `<?xml version="1.0"?>\n<methodCall><methodName>${escaped(method)}</methodName><params>${params}</params></methodCall>`;
}

function escaped(text: string): string {
    return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/\r/g, "&#13;");
}

function written(value: unknown): string {
    const inner = ((): string => {
        if (value === null || value === undefined) return "<nil/>";
        if (typeof value === "boolean") return `<boolean>${value ? 1 : 0}</boolean>`;
        if (typeof value === "bigint") {
            if (BigInt.asIntN(64, value) !== value) throw new Error(`XML-RPC has integers of 64 bits, and ${value} is longer`);
            return `<i8>${value}</i8>`;
        }
        if (typeof value === "number") {
            if (!Number.isSafeInteger(value)) return `<double>${value}</double>`;
            return Math.abs(value) < 2 ** 31 ? `<int>${value}</int>` : `<i8>${value}</i8>`;
        }
        if (typeof value === "string") return `<string>${escaped(value)}</string>`;
        if (Array.isArray(value)) return `<array><data>${value.map(written).join("")}</data></array>`;
        const members = Object.entries(value).map(([name, member]) => `<member><name>${escaped(name)}</name>${written(member)}</member>`);
        return `<struct>${members.join("")}</struct>`;
    })();
    return `<value>${inner}</value>`;
}

/** The value of an answer, or the fault that it is. */
export function xmlAnswer(text: string): { value: unknown } | { fault: unknown } {
    const parsed = new DOMParser().parseFromString(text, "application/xml");
    const root = parsed.documentElement;
    const fault = child(root, "fault");
    if (fault !== undefined) return { fault: read(child(fault, "value")) };
    const param = child(child(root, "params"), "param");
    return { value: read(child(param, "value")) };
}

function child(parent: Element | undefined, name: string): Element | undefined {
    // One after the other: the list of children would be made for each.
    let found = parent?.firstElementChild ?? undefined;
    while (found !== undefined && found.localName !== name) found = found.nextElementSibling ?? undefined;
    return found;
}

function read(value: Element | undefined): unknown {
    const typed = value?.firstElementChild;
    const text = typed?.textContent ?? "";
    if (typed === null || typed === undefined) return value?.textContent ?? null;
    switch (typed.localName) {
        case "nil":
            return null;
        case "boolean":
            return text.trim() === "1" || text.trim() === "true";
        case "i4":
        case "int":
        case "i8":
            return integerIn(text) ?? Number(text);
        case "double":
            return Number(text);
        case "array":
            return Array.from(child(typed, "data")?.children ?? [], read);
        case "struct":
            return Object.fromEntries(
                Array.from(typed.children, (member) => [child(member, "name")?.textContent ?? "", read(child(member, "value"))]),
            );
        default:
            return text;
    }
}

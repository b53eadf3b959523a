// Code that a reader copies: in which language, and how words are written there.

import { choice, element, say } from "./dom.js";
import { getToken } from "./services.js";

/** Code as the page shows it. */
export interface Code {
    readonly node: HTMLElement;
    /** Writes it anew. */
    update(): void;
}

/** Code in one of some languages, which has a button that copies it. */
export function codeView<Write>(
    title: string,
    languages: readonly (readonly [id: string, name: string, write: Write])[],
    written: (write: Write) => string,
): Code {
    let [language] = languages;
    const text = element("code");
    const update = (): void => {
        text.textContent = written(language[2]);
    };
    const choose = (id: string): void => {
        language = languages.find(([known]) => known === id) ?? languages[0];
        update();
    };
    const copy = (): void => {
        navigator.clipboard.writeText(text.textContent ?? "").then(
            () => say("copied"),
            () => say("the browser did not let the page copy; select the text"),
        );
    };
    update();
    const names = languages.map(([id, name]) => [id, name] as const);
    const node = element(
        "section",
        { class: "snippets", "aria-label": title },
        element("h3", {}, title),
        choice("Language", names, language[0], choose),
        element("pre", { tabindex: 0, "aria-label": "Code" }, text),
        element("button", { type: "button", click: copy }, "Copy"),
    );
    return { node, update };
}

/** Where the server is: what its paths follow. */
export function base(): string {
    return new URL(".", document.baseURI).href;
}

/** A word of a shell. */
export function quoted(text: string): string {
    return `'${text.replace(/'/g, "'\\''")}'`;
}

/** Headers, with a place for the token if the reader has typed one: the token itself is not shown. */
export function withToken(headers: Readonly<Record<string, string>>): Record<string, string> {
    return getToken() === "" ? { ...headers } : { ...headers, Authorization: "Bearer TOKEN" };
}

const pythonKeywords = new Set(
    ("False None True and as assert async await break class continue def del elif else except finally for from global if import in is " +
        "lambda nonlocal not or pass raise return try while with yield").split(" "),
);

/** A member of an object as Python writes it: `raise` and what has a hyphen are no names there. */
export function memberInPython(object: string, name: string): string {
    const areNames = name.split(".").every((part) => /^[A-Za-z_]\w*$/.test(part) && !pythonKeywords.has(part));
    return areNames ? `${object}.${name}` : `getattr(${object}, ${inPython(name)})`;
}

/** A value as Python writes it. */
export function inPython(value: unknown): string {
    if (value === null || value === undefined) return "None";
    if (typeof value === "boolean") return value ? "True" : "False";
    if (typeof value === "bigint") return String(value);
    if (Array.isArray(value)) return `[${value.map(inPython).join(", ")}]`;
    if (typeof value === "object") {
        return `{${Object.entries(value).map(([name, member]) => `${JSON.stringify(name)}: ${inPython(member)}`).join(", ")}}`;
    }
    return JSON.stringify(value);
}

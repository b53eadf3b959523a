// The arguments of a call: a field for each, or all of them as JSON.

import { reason } from "../src/reason.js";
import { choice, element } from "./dom.js";
import { integerIn, parse, stringify } from "./json.js";
import { typeName, values, type Method, type Schema } from "./services.js";

/** What a reader has typed. */
export interface Arguments {
    readonly node: HTMLElement;
    /** The arguments by their names, or by their places. Throws an error with words for the reader. */
    read(): unknown[] | Record<string, unknown>;
}

interface Field {
    readonly name: string;
    readonly schema: Schema | boolean;
    readonly required: boolean;
    readonly input: HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
}

/** The fields of a method, and JSON beside them. */
export function argumentsOf(method: Method, changed: () => void): Arguments {
    const fields = fieldsOf(method);
    const text = element("textarea", { rows: 4, spellcheck: "false", "aria-label": "Arguments as JSON", input: changed });
    let byFields = fields !== undefined;
    const form = element("div", { class: "fields" });
    for (const field of fields ?? []) {
        field.input.addEventListener("input", changed);
        form.append(labelled(method, field));
    }
    if (fields?.length === 0) form.append(element("p", { class: "note" }, "It takes no arguments."));
    const json = element("div", { class: "fields" }, text);
    json.append(element("p", { class: "note" }, "A list by their places, or an object by their names."));
    const show = (): void => {
        form.hidden = !byFields;
        json.hidden = byFields;
    };
    const choose = (way: string): void => {
        if (way === "json" && fields !== undefined) {
            try {
                text.value = stringify(readFields(fields), 1);
            } catch {
                // What is not finished yet stays in its fields.
            }
        }
        byFields = way === "fields";
        show();
        changed();
    };
    const ways = choice("Arguments", [["fields", "Form"], ["json", "JSON"]], "fields", choose);
    if (fields === undefined) text.value = "[]";
    show();
    const node = element("div", {}, fields !== undefined && fields.length > 0 && ways, form, json);
    return { node, read: () => (byFields && fields !== undefined ? readFields(fields) : readJson(text.value)) };
}

/** A field for each argument; nothing if they have no names. */
function fieldsOf(method: Method): Field[] | undefined {
    const { takes } = method;
    const properties = takes.properties ?? {};
    const names = method.arguments.length > 0 ? method.arguments : Object.keys(properties);
    if (names.length === 0) return takes.type === "null" || takes.type === undefined ? [] : undefined;
    return names.map((name) => {
        const schema = properties[name] ?? true;
        const required = takes.required?.includes(name) === true;
        return { name, schema, required, input: inputFor(schema, required) };
    });
}

function inputFor(schema: Schema | boolean, required: boolean): Field["input"] {
    const kind = kindOf(schema);
    const options = values(schema) ?? (kind === "boolean" ? [false, true] : undefined);
    if (options !== undefined) {
        const none = required ? [] : [element("option", { value: "" }, "– left out –")];
        return element("select", {}, ...none, ...options.map((value) => element("option", { value: stringify(value) }, String(value))));
    }
    switch (kind) {
        case "integer":
            return element("input", { type: "text", inputmode: "numeric", autocomplete: "off" });
        case "number":
            return element("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
        case "string":
            return element("input", { type: "text", autocomplete: "off", spellcheck: "false" });
        default:
            return element("textarea", { rows: 2, spellcheck: "false" });
    }
}

/** The one type of values, beside null. */
function kindOf(schema: Schema | boolean): string | undefined {
    if (typeof schema === "boolean") return undefined;
    const types = (typeof schema.type === "string" ? [schema.type] : (schema.type ?? [])).filter((type) => type !== "null");
    return types.length === 1 ? types[0] : undefined;
}

function labelled(method: Method, field: Field): HTMLElement {
    const id = `argument-${method.full}-${field.name}`;
    field.input.id = id;
    const about = typeof field.schema === "boolean" ? undefined : field.schema.description;
    const kind = kindOf(field.schema);
    const isChosen = field.input instanceof HTMLSelectElement;
    const type = isChosen ? "" : kind !== undefined ? typeName(field.schema) : `${typeName(field.schema)}: JSON, or a text`;
    const hint = element("span", { class: "hint", id: `${id}-hint` }, [field.required ? "" : "may be left out", type, about ?? ""].filter(Boolean).join("; "));
    field.input.setAttribute("aria-describedby", hint.id);
    if (field.required) field.input.setAttribute("aria-required", "true");
    return element("div", { class: "field" }, element("label", { for: id }, field.name), field.input, hint);
}

function readFields(fields: readonly Field[]): Record<string, unknown> {
    const read: Record<string, unknown> = {};
    for (const field of fields) {
        const text = field.input.value;
        if (text === "" && !field.required) continue;
        read[field.name] = valueOf(field, text);
    }
    return read;
}

function valueOf(field: Field, text: string): unknown {
    const kind = kindOf(field.schema);
    if (field.input instanceof HTMLSelectElement) return parse(text);
    if (kind === "string") return text;
    const integer = kind === "integer" ? integerIn(text) : undefined;
    if (integer !== undefined) return integer;
    if (kind === "integer" || kind === "number") {
        const number = Number(text);
        if (text.trim() === "" || Number.isNaN(number)) throw new Error(`${field.name} is a number`);
        return number;
    }
    try {
        return parse(text);
    } catch {
        if (kind === undefined) return text;
        throw new Error(`${field.name} is JSON: ${typeName(field.schema)}`);
    }
}

function readJson(text: string): unknown[] | Record<string, unknown> {
    let value: unknown;
    try {
        value = parse(text.trim() === "" ? "[]" : text);
    } catch (error) {
        throw new Error(`the arguments are no JSON: ${reason(error)}`);
    }
    if (typeof value !== "object" || value === null) throw new Error("the arguments are a list or an object");
    return value as unknown[] | Record<string, unknown>;
}

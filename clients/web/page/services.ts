// What there is to call, as the server describes it.

import { parse, stringify } from "./json.js";

/** A type in JSON Schema, as far as the page reads it. */
export interface Schema {
    readonly type?: string | readonly string[];
    readonly description?: string;
    readonly properties?: Readonly<Record<string, Schema | boolean>>;
    readonly required?: readonly string[];
    readonly enum?: readonly unknown[];
    readonly const?: unknown;
    readonly oneOf?: readonly Schema[];
    readonly anyOf?: readonly Schema[];
    readonly items?: Schema | boolean;
    readonly prefixItems?: readonly Schema[];
}

export interface Method {
    readonly service: string;
    readonly name: string;
    /** SERVICE.METHOD */
    readonly full: string;
    readonly about: string;
    /** Whether it changes nothing. */
    readonly safe: boolean;
    readonly arguments: readonly string[];
    readonly takes: Schema;
    readonly gives: Schema | boolean;
}

/** A topic or property, to which clients subscribe. */
export interface Publication {
    readonly service: string;
    readonly name: string;
    /** SERVICE.NAME */
    readonly full: string;
    readonly about: string;
    readonly kind: "topic" | "property";
    /** Whether the newest value of each key can be asked for. */
    readonly keys: boolean;
    readonly gives: Schema | boolean;
}

/** An actor of the server, reached over a link. */
export interface Link {
    readonly name: string;
    readonly about: string;
}

/** What there is. */
export interface Described {
    readonly services: readonly Service[];
    readonly links: readonly Link[];
}

export interface Service {
    readonly name: string;
    readonly about: string;
    readonly methods: readonly Method[];
    readonly publications: readonly Publication[];
}

let token = "";

export function setToken(text: string): void {
    token = text;
}

export function getToken(): string {
    return token;
}

/** The headers of a request, with the token if there is one. */
export function headers(more: Readonly<Record<string, string>> = {}): Record<string, string> {
    return token === "" ? { ...more } : { ...more, Authorization: `Bearer ${token}` };
}

/** What the server said in place of an answer. */
export class Refused extends Error {
    readonly status: number;

    constructor(status: number, text: string) {
        super(text.trim() || `the server answered with status ${status}`);
        this.status = status;
    }
}

/** The JSON at an address of the server. */
export async function ask(path: string): Promise<unknown> {
    const response = await fetch(path, { headers: headers(), cache: "no-store" });
    if (!response.ok) throw new Refused(response.status, await response.text());
    return parse(await response.text());
}

/** What the server describes. */
export async function described(): Promise<Described> {
    const { services, links } = (await ask("services")) as { services: Told[]; links: Link[] };
    const known = services.map((service) => {
        const named = <Item extends { name: string }>(item: Item): Item & { service: string; full: string } => {
            return { ...item, service: service.name, full: `${service.name}.${item.name}` };
        };
        return { ...service, methods: service.methods.map(named), publications: service.publications.map(named) };
    });
    return { services: known, links };
}

/** A service as the server writes it: its members do not repeat its name. */
interface Told extends Omit<Service, "methods" | "publications"> {
    readonly methods: readonly Omit<Method, "service" | "full">[];
    readonly publications: readonly Omit<Publication, "service" | "full">[];
}

/** A type in a few words: `random | palette`, `integer`, `list of text`. */
export function typeName(schema: Schema | boolean | undefined): string {
    if (schema === undefined || typeof schema === "boolean") return "anything";
    const options = values(schema);
    if (options !== undefined) return options.map((value) => stringify(value)).join(" | ");
    const parts = schema.anyOf ?? schema.oneOf;
    if (parts !== undefined) return parts.map(typeName).join(" | ");
    if (schema.prefixItems !== undefined) return `[${schema.prefixItems.map(typeName).join(", ")}]`;
    const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
    const names = types.map((type) => {
        if (type === "array") return schema.items === undefined ? "list" : `list of ${typeName(schema.items)}`;
        if (type === "object" && schema.properties !== undefined) return `{ ${Object.keys(schema.properties).join(", ")} }`;
        return type === "string" ? "text" : type === "null" ? "nothing" : type;
    });
    return names.join(" | ") || "anything";
}

/** The values of a type that has few. */
export function values(schema: Schema | boolean | undefined): readonly unknown[] | undefined {
    if (schema === undefined || typeof schema === "boolean") return undefined;
    if (schema.enum !== undefined) return schema.enum;
    const parts = schema.oneOf ?? schema.anyOf;
    if (parts === undefined) return undefined;
    const found = parts.flatMap((part) => (part.const !== undefined ? [part.const] : (part.enum ?? [undefined])));
    return found.includes(undefined) ? undefined : found;
}

// A subscription: values as they come over a WebSocket, or as events of the server. A connection that is lost is opened again,
// and goes on behind the last value.

import { parse } from "./json.js";
import { getToken, headers } from "./services.js";

/** Which values are wanted, in the words of the server. */
export interface Wish {
    readonly policy: string;
    readonly when_behind?: string;
    readonly interval_ms?: number;
}

export type Transport = "socket" | "events";

/** How a subscription stands. */
export type State = "connecting" | "subscribed" | "lost" | "ended";

/** Who hears of a subscription. */
export interface Listener {
    /** It stands otherwise; words for the reader. */
    stands(state: State, text: string): void;
    /** Values came. The number is that of the last one, `missed` how many there were before them that did not come. */
    came(values: readonly unknown[], number: number, missed: number): void;
    /** Values were missed, and none came. */
    missed(count: number): void;
}

/** Milliseconds until a connection that was lost is opened again, at first. */
const SHORTEST_PAUSE = 1_000;
/** Milliseconds until a connection that was lost is opened again, at most. */
const LONGEST_PAUSE = 30_000;
/** Milliseconds that the server has to answer that a subscription has ended. */
const LONGEST_END = 2_000;
/** Characters of events that are not whole yet, at most. */
const MOST_CHARACTERS = 16 << 20;
/** The codes with which a server closes a WebSocket that is not to be opened again: there is nothing to do, or too much. */
const FINAL_CODES: readonly number[] = [1000, 1008, 1009];

/** What ended a connection that is not to be opened again. */
class Ended extends Error {}

/** Where a subscription goes on. */
interface Place {
    run: string;
    number: number;
}

/** Subscribes, and gives what ends it. */
export function subscribe(transport: Transport, name: string, wish: Wish, listener: Listener): () => void {
    const end = new AbortController();
    const open = transport === "socket" ? overSocket : overEvents;
    void keep((place) => open(name, wish, place, listener, end.signal), listener, end.signal);
    return () => end.abort();
}

/** Opens a connection, and again when it is lost, until the reader or the server ends it. */
async function keep(open: (place: Place) => Promise<void>, listener: Listener, end: AbortSignal): Promise<void> {
    const place = { run: "", number: 0 };
    let pause = SHORTEST_PAUSE;
    for (;;) {
        listener.stands("connecting", "Connecting …");
        const before = { ...place };
        let reason = "";
        try {
            await open(place);
        } catch (error) {
            if (error instanceof Ended) return listener.stands("ended", error.message);
            reason = error instanceof Error ? `: ${error.message}` : "";
        }
        if (end.aborted) return listener.stands("ended", "Unsubscribed.");
        if (place.run !== before.run || place.number !== before.number) pause = SHORTEST_PAUSE;
        listener.stands("lost", `The connection is lost${reason}. It is opened again in ${pause / 1_000} s.`);
        await asleep(pause, end);
        pause = Math.min(pause * 2, LONGEST_PAUSE);
        if (end.aborted) return listener.stands("ended", "Unsubscribed.");
    }
}

function asleep(milliseconds: number, end: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
        const timer = setTimeout(resolve, milliseconds);
        end.addEventListener("abort", () => (clearTimeout(timer), resolve()), { once: true });
    });
}

function goingOn(wish: Wish, place: Place): Record<string, string | number> {
    return place.run === "" ? { ...wish } : { ...wish, run: place.run, after: place.number };
}

/** What a server says on a WebSocket. */
interface Said {
    readonly id?: unknown;
    readonly method?: string;
    readonly params?: { readonly number: number; readonly missed: number; readonly value?: unknown; readonly values?: readonly unknown[] };
    readonly result?: { readonly run: string; readonly number: number; readonly missed: number } | null;
    readonly error?: { readonly message: string };
}

/** The path of the server's WebSocket, as an address. */
export function socketUrl(): string {
    const url = new URL("socket", document.baseURI);
    url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
    return url.href;
}

function overSocket(name: string, wish: Wish, place: Place, listener: Listener, end: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
        const socket = new WebSocket(socketUrl());
        let subscription: unknown;
        const send = (id: string, method: string, params: unknown): void => socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
        const leave = (): void => {
            if (subscription === undefined) return socket.close();
            send("unsubscribe", "unsubscribe", { subscription });
            setTimeout(() => socket.close(), LONGEST_END);
        };
        const hear = (said: Said): void => {
            if (said.error !== undefined) {
                reject(new Ended(said.error.message));
                socket.close();
            } else if (said.method === "value" && said.params !== undefined) {
                const { number, missed, value, values } = said.params;
                place.number = number;
                listener.came(values ?? [value], number, missed);
            } else if (said.method === "closed" && said.params !== undefined) {
                listener.missed(said.params.missed);
            } else if (said.id === "subscribe" && said.result) {
                ({ subscription } = said.result as { subscription?: unknown });
                place.run = said.result.run;
                place.number = said.result.number;
                listener.stands("subscribed", `Subscribed, over a WebSocket. Values follow number ${said.result.number}.`);
                if (end.aborted) leave();
            } else if (said.id === "unsubscribe") {
                if (said.result && said.result.missed > 0) listener.missed(said.result.missed);
                socket.close();
            }
        };
        socket.addEventListener("open", () => {
            if (getToken() !== "") send("authenticate", "authenticate", { bearer: getToken() });
            send("subscribe", "subscribe", { name, ...goingOn(wish, place) });
        });
        socket.addEventListener("message", (event: MessageEvent<string>) => hear(parse(event.data) as Said));
        socket.addEventListener("close", ({ code, reason }) => {
            end.removeEventListener("abort", leave);
            if (!end.aborted && FINAL_CODES.includes(code)) reject(new Ended(`The server has closed the connection: ${reason || `code ${code}`}.`));
            else resolve();
        });
        end.addEventListener("abort", leave, { once: true });
    });
}

/** The query of `/events/NAME`. */
export function eventsPath(name: string, wish: Readonly<Record<string, string | number>>): string {
    const query = new URLSearchParams(Object.entries(wish).map(([key, value]) => [key, String(value)]));
    return `events/${encodeURIComponent(name)}?${query}`;
}

/** By `fetch`, since `EventSource` sends no token and does not tell why it was refused. */
async function overEvents(name: string, wish: Wish, place: Place, listener: Listener, end: AbortSignal): Promise<void> {
    const path = eventsPath(name, goingOn(wish, place));
    const response = await fetch(path, { headers: headers({ Accept: "text/event-stream" }), cache: "no-store", signal: end });
    if (!response.ok || response.body === null) {
        const text = (await response.text()).trim() || `the server answered with status ${response.status}`;
        // With 503 there may be room later.
        throw response.status === 503 ? new Error(text) : new Ended(text);
    }
    listener.stands("subscribed", "Subscribed, by events of the server.");
    let missed = 0;
    const hear = (event: string): void => {
        const lines = event.split("\n").map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)] as const);
        const fields = new Map(lines);
        if (!fields.has("data")) return;
        // JSON with line breaks comes in several lines.
        const data = lines.filter(([name]) => name === "data").map(([, line]) => line).join("\n");
        if (fields.get("event") === "missed") missed += Number(data);
        else if (fields.get("event") === "closed") {
            listener.missed(Number(data));
            throw new Ended("The server has closed the connection: the subscription was too far behind.");
        } else {
            const [run, number] = (fields.get("id") ?? "").split(".");
            const value = parse(data);
            place.run = run;
            place.number = Number(number);
            listener.came(wish.policy === "batches" ? (value as unknown[]) : [value], place.number, missed);
            missed = 0;
        }
    };
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    try {
        for (;;) {
            const { value, done } = await reader.read();
            if (done) return;
            const events = (text + value).split("\n\n");
            text = events.pop() ?? "";
            if (text.length > MOST_CHARACTERS) throw new Ended("The server sends an event that is too large for this page.");
            for (const event of events) hear(event);
        }
    } finally {
        // It may have failed already.
        await reader.cancel().catch(() => {});
    }
}

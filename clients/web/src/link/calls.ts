// Methods and subscriptions of the server: JSON-RPC in the text frames of a link's socket.

import { reason } from "../reason.js";
import { LinkError } from "./error.js";
import { report } from "./report.js";
import { within, type AskOptions } from "./patience.js";
import { listed } from "./values.js";

/** Which values a subscription has, and how far behind it may be: what is left out is as the server has it. */
export interface Wish {
    /** All values; the newest; the newest of each key; or all, together, once an interval. */
    readonly policy?: "all" | "latest" | "latest_of_each_key" | "batches";
    /** What becomes of one that is too far behind: it loses the oldest values, or the link is closed. */
    readonly when_behind?: "drop" | "close";
    /** Milliseconds from one look for values to the next, at least. */
    readonly interval_ms?: number;
    /** How many values it may be behind. */
    readonly most_messages?: number;
    /** How many bytes of values it may be behind. */
    readonly most_bytes?: number;
    /** Goes on behind the value of this number, which was seen last. */
    readonly after?: number;
    /** The run of the server that the number is of. */
    readonly run?: string;
}

/** Where a value stands. */
export interface Place {
    /** Its number; of a batch that of the last value. */
    readonly number: number;
    /** How many values were missed before it. */
    readonly missed: number;
}

/** What a page does with a value, or, by the policy `batches`, with an array of them. */
export type Listener<Value> = (value: Value, place: Place) => void;

/** A subscription, until it is given up or the link ends. */
export interface Subscription {
    /** The run of the server that numbers are of. */
    readonly run: string;
    /** The number of the newest value when it began: those with higher numbers follow. */
    readonly number: number;
    /** Gives it up. Resolves to the number of the newest value, and to how many were missed since the last one that came. */
    unsubscribe(): Promise<Place>;
}

/** What carries the texts. */
interface Carrier {
    sendText(text: string): void;
    /** Throws if the link has ended. */
    refuseIfEnded(): void;
}

interface Pending {
    answer(value: unknown): void;
    fail(error: LinkError): void;
}

/** An answer, or a notification. */
interface Message {
    readonly id?: unknown;
    readonly result?: unknown;
    readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: { readonly code?: unknown; readonly detail?: unknown } };
    readonly method?: unknown;
    readonly params?: { readonly subscription?: unknown; readonly number?: unknown; readonly missed?: unknown; readonly value?: unknown; readonly values?: unknown };
}

/** The calls of a page, and its subscriptions. */
export class Calls {
    readonly #carrier: Carrier;
    #last = 0;
    readonly #pending = new Map<number, Pending>();
    readonly #listeners = new Map<number, Listener<never>>();

    constructor(carrier: Carrier) {
        this.#carrier = carrier;
    }

    call(method: string, params: unknown, options: AskOptions): Promise<unknown> {
        return this.#call(method, params, options, (result) => result);
    }

    subscribe<Value>(name: string, listener: Listener<Value>, wish: Wish): Promise<Subscription> {
        // It listens before what follows the answer comes.
        return this.#call("subscribe", { ...wish, name }, {}, (result) => {
            const { subscription, run, number } = result as { subscription: number; run: string; number: number };
            this.#listeners.set(subscription, listener);
            return { run, number, unsubscribe: () => this.#unsubscribe(subscription) };
        });
    }

    async #unsubscribe(subscription: number): Promise<Place> {
        this.#listeners.delete(subscription);
        return this.#call("unsubscribe", { subscription }, {}, (result) => result as Place);
    }

    /** Calls; `read` makes of a result what the caller gets, before anything else comes. */
    #call<Answer>(method: string, params: unknown, options: AskOptions, read: (result: unknown) => Answer): Promise<Answer> {
        const id = ++this.#last;
        let giveUp = (_: LinkError): void => {};
        const answered = new Promise<Answer>((resolve, reject) => {
            this.#carrier.refuseIfEnded();
            if (options.signal?.aborted === true) throw new LinkError("cancelled", "the page has given the question up");
            this.#carrier.sendText(textOf(id, method, params));
            giveUp = (error) => {
                this.#pending.delete(id);
                reject(error);
            };
            this.#pending.set(id, { answer: (result) => resolve(read(result)), fail: reject });
        });
        return within(options, answered, (error) => giveUp(error), () => "unknown");
    }

    /** Takes a text that has come. Throws if it is none of JSON-RPC. */
    receive(text: string): void {
        let message: Message;
        try {
            message = JSON.parse(text) as Message;
        } catch {
            throw new LinkError("protocol", "a text that has come is no JSON");
        }
        if (message === null || typeof message !== "object") throw new LinkError("protocol", "a text that has come is no answer and no value");
        if (message.method === "value") this.#value(message.params ?? {});
        else if ("id" in message) this.#answer(message);
    }

    #answer({ id, result, error }: Message): void {
        if (typeof id !== "number") return;
        const pending = this.#pending.get(id);
        // One that was given up has none.
        if (pending === undefined) return;
        this.#pending.delete(id);
        if (error === undefined) pending.answer(result);
        else pending.fail(new LinkError("fault", String(error.message), "unknown", { code: error.data?.code ?? error.code, detail: error.data?.detail }));
    }

    #value({ subscription, number, missed, value, values }: NonNullable<Message["params"]>): void {
        const listener = this.#listeners.get(Number(subscription));
        if (listener === undefined) return;
        try {
            listener((values ?? value) as never, { number: Number(number), missed: Number(missed) });
        } catch (error) {
            report(error);
        }
    }

    /** The link has ended. */
    finish(words: string): void {
        const pending = Array.from(this.#pending.values());
        this.#pending.clear();
        this.#listeners.clear();
        for (const { fail } of pending) fail(new LinkError("ended", `${words}; whether the method was called is not known`, "unknown"));
    }
}

function textOf(id: number, method: string, params: unknown): string {
    try {
        return JSON.stringify({ jsonrpc: "2.0", id, method, params }, listed);
    } catch (error) {
        throw new LinkError("not-encodable", `the arguments of ${method} are no JSON: ${reason(error)}`);
    }
}

// Actors of this page.

import { reason } from "../reason.js";
import { Address, type Reply, type Target } from "./address.js";
import { LinkError } from "./error.js";
import type { End } from "./frame.js";
import { report } from "./report.js";

/** What an actor of this page does with a message. The next one waits until what it returns has settled. */
export type Handler<Message> = (message: Message) => void | Promise<void>;

/** What an actor of this page is to be like. */
export interface ExportOptions {
    /**
     * How many messages of the server's may be on their way to it, or wait: its senders wait for more. A whole number; with 0, as with `Infinity`,
     * any number may. 256 unless it is said.
     */
    readonly window?: number;
}

/** A message for an actor of this page. */
interface Delivery {
    readonly message: unknown;
    readonly replies: readonly Reply<unknown>[];
    /** Called when it is done with. */
    done(): void;
}

/** What is told of the end of an actor of this page: each link whose other side knows it. */
export interface Watcher {
    ended(actor: OwnAddress<never>, end: End): void;
}

/**
 * An actor of this page: it takes messages one by one, in order. It may stand in messages, and the server reaches it as long as it has
 * the address.
 *
 * What its handler throws is reported as an error of the page, and told to those who wait for an answer to that message; the actor goes on.
 */
export class OwnAddress<Message> extends Address<Message> {
    readonly #handler: Handler<Message>;
    readonly #waiting: Delivery[] = [];
    #isRunning = false;
    #end: End | undefined;
    #isFinishing = false;
    #tellEnd: ((end: End) => void) | undefined;
    #ended: Promise<End> | undefined;
    readonly #watchers = new Set<Watcher>();
    /** @internal */
    readonly window: number;

    /** @internal */
    constructor(handler: Handler<Message>, window: number) {
        super();
        this.#handler = handler;
        this.window = checked(window);
    }

    override tell(message: Message): void {
        this.#tell(message, []);
    }

    /** @internal */
    override tellAsking(message: Message, reply: Reply<unknown>): void {
        this.#tell(message, [reply]);
    }

    #tell(message: Message, replies: readonly Reply<unknown>[]): void {
        if (this.#end !== undefined || this.#isFinishing) throw new LinkError("stopped", "the actor of this page has ended");
        this.deliver({ message, replies, done: () => {} });
    }

    override room(): Promise<void> {
        return Promise.resolve();
    }

    /** @internal It is never full. */
    override whenRoom(look: () => void): () => void {
        look();
        return () => {};
    }

    override get ended(): Promise<End> {
        this.#ended ??= this.#end !== undefined ? Promise.resolve(this.#end) : new Promise((resolve) => (this.#tellEnd = resolve));
        return this.#ended;
    }

    /** Ends the actor: what waits for it is refused, and those who watch it are told. */
    override release(): void {
        this.end({ why: "stopped" });
    }

    /** @internal */
    get hasEnded(): End | undefined {
        return this.#end;
    }

    /** @internal Tells its end there. */
    watchedBy(watcher: Watcher): void {
        this.#watchers.add(watcher);
    }

    /** @internal */
    unwatchedBy(watcher: Watcher): void {
        this.#watchers.delete(watcher);
    }

    /** @internal */
    deliver(delivery: Delivery): void {
        if (this.#end !== undefined || this.#isFinishing) return refuse(delivery);
        this.#waiting.push(delivery);
        if (!this.#isRunning) void this.#run();
    }

    /** @internal Ends when what waits is done. */
    finish(): void {
        this.#isFinishing = true;
        if (!this.#isRunning) this.end({ why: "stopped" });
    }

    /** @internal */
    end(end: End): void {
        if (this.#end !== undefined) return;
        this.#end = end;
        for (const delivery of this.#waiting.splice(0)) refuse(delivery);
        this.#tellEnd?.(end);
        for (const watcher of this.#watchers) watcher.ended(this as OwnAddress<never>, end);
    }

    async #run(): Promise<void> {
        this.#isRunning = true;
        for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
            try {
                const handled = this.#handler(next.message as Message);
                // One that has handled it at once is not made to wait.
                if (handled !== undefined) await handled;
            } catch (error) {
                for (const reply of next.replies) fail(reply, new LinkError("panicked", reason(error), "begun"));
                report(error);
            }
            next.done();
        }
        this.#isRunning = false;
        if (this.#isFinishing) this.end({ why: "stopped" });
    }
}

/** A window as it is written; 0 is none. Throws a `RangeError` if it cannot be. */
function checked(window: number): number {
    if (window === Infinity) return 0;
    if (Number.isSafeInteger(window) && window >= 0) return window;
    throw new RangeError(`an actor of the page with a window of ${String(window)}: it is a whole number; 0 and Infinity are none`);
}

function refuse(delivery: Delivery): void {
    for (const reply of delivery.replies) fail(reply, new LinkError("stopped", "the actor of the page has ended"));
    delivery.done();
}

/** Tells the one who asks, unless it was answered. */
function fail(reply: Reply<unknown>, error: LinkError): void {
    let target: Target;
    try {
        target = reply.take();
    } catch {
        return;
    }
    target.fail(error);
}

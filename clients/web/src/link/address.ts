import { LinkError } from "./error.js";
import type { End } from "./frame.js";
import { within, type AskOptions } from "./patience.js";

/**
 * The way to an actor: of the server, or of this page. It may stand in a message, and is an address there, too.
 *
 * Messages to one actor arrive in the order in which they were told.
 */
export abstract class Address<Message> {
    /**
     * Sends a message and returns at once. Throws a `LinkError`: `full` if the actor takes no more for now (see `room`), `stopped`, `ended`,
     * `too-large`, `not-encodable`, or `used` if the address was released. Then nothing was sent.
     */
    abstract tell(message: Message): void;

    /**
     * Resolves when the actor takes another message: at once, unless its window is used up. Rejects with a `LinkError` if it has ended.
     */
    abstract room(): Promise<void>;

    /** @internal As `tell`, of a message with this way back. */
    tellAsking(message: Message, _reply: Reply<unknown>): void {
        this.tell(message);
    }

    /** @internal Calls this once when an actor that was full takes another message, or has ended; what it returns gives that up. */
    abstract whenRoom(look: () => void): () => void;

    /** Why the actor has ended, when it has. It never rejects: a link that ends is an end, too. */
    abstract get ended(): Promise<End>;

    /** Gives the address up: an actor of the server whose last one that is ends. What is still told by it throws `used`. */
    abstract release(): void;

    /**
     * Asks: `question` makes the message of the way back for the answer.
     *
     *     const total = await counter.ask<number>((reply) => ({ Total: reply }));
     *
     * It waits for room if the actor takes no more for now. Rejects with a `LinkError`, whose `fate` says how far the question had got.
     */
    async ask<Answer>(question: (reply: Reply<Answer>) => Message, options: AskOptions = {}): Promise<Answer> {
        let fate: LinkError["fate"] = "not begun";
        let isOver = options.signal?.aborted === true;
        let giveUp = (_: LinkError): void => {};
        let leave = (): void => {};
        // Kept until it is told, and no longer: a reply that is forgotten elsewhere is to be found so.
        let untold: { readonly message: Message; readonly reply: Reply<unknown> } | undefined;
        const answered = new Promise<Answer>((resolve, reject) => {
            giveUp = (error) => {
                isOver = true;
                untold = undefined;
                leave();
                reject(error);
            };
            const target: Target = {
                answer: (value) => {
                    isOver = true;
                    resolve(value as Answer);
                },
                fail: giveUp,
                isAwaited: () => !isOver,
            };
            // At once if there is room: what is told behind it is to come behind it.
            const reply = new Reply<Answer>(target);
            untold = { message: question(reply), reply };
            const send = (): void => {
                if (isOver || untold === undefined) return;
                try {
                    this.tellAsking(untold.message, untold.reply);
                    fate = "unknown";
                } catch (error) {
                    if (error instanceof LinkError && error.code === "full") {
                        leave = this.whenRoom(send);
                        return;
                    }
                    isOver = true;
                    reject(error);
                }
                untold = undefined;
            };
            send();
        });
        return within(options, answered, (error) => giveUp(error), () => fate);
    }
}

/** Where an answer goes. */
export interface Target {
    answer(value: unknown): void;
    fail(error: LinkError): void;
    /** Whether there is a use for an answer. */
    isAwaited(): boolean;
}

/** What happens to a reply that is forgotten: the one who asks is not to wait for ever. */
const forgotten = new FinalizationRegistry<Target>((target) => target.fail(dropped()));

function dropped(): LinkError {
    return new LinkError("unanswered", "the reply was dropped unanswered", "begun");
}

/** The way back of an answer, which is sent once. It may be kept, and stand in a message to the one who is to answer. */
export class Reply<Answer> {
    #target: Target | undefined;

    /** @internal */
    constructor(target: Target) {
        this.#target = target;
        forgotten.register(this, target, this);
    }

    /** Sends the answer. Throws a `LinkError`: `used` if that was done before, or what is wrong with it; then the one who asks is told. */
    send(answer: Answer): void {
        this.take().answer(answer);
    }

    /** Refuses the answer: the one who asks is told this reason. Throws a `LinkError`, `used`, if the reply has been used. */
    refuse(reason: string): void {
        this.take().fail(new LinkError("refused", reason, "begun"));
    }

    /** Gives it up: the one who asks is told that there is no answer. A second time it does nothing. */
    drop(): void {
        if (this.#target !== undefined) this.take().fail(dropped());
    }

    /** Whether the answer is still waited for, as far as is known here. */
    get isAwaited(): boolean {
        return this.#target?.isAwaited() === true;
    }

    /** @internal Takes the way, which is then used. */
    take(): Target {
        const target = this.#target;
        if (target === undefined) throw new LinkError("used", "the reply has been used: it is answered once");
        this.#target = undefined;
        forgotten.unregister(this);
        return target;
    }

    /** @internal The way, which stays as it is. */
    peek(): Target {
        if (this.#target === undefined) throw new LinkError("used", "the reply has been used: it is answered once");
        return this.#target;
    }
}

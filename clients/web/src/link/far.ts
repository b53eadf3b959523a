// Actors of the other side: their addresses here, how many messages to each are on their way, and who waits for room or for an end.

import { Address } from "./address.js";
import { protocol } from "./bytes.js";
import { stopped } from "./end.js";
import { LinkError } from "./error.js";
import type { End, Frame } from "./frame.js";

/** An actor of the other side. */
export interface FarActor {
    readonly number: number;
    /** How many messages to it may be unconfirmed; any number if it is 0. */
    window: number;
    unconfirmed: number;
    /** Addresses of it that are held here. */
    handles: number;
    end: End | undefined;
    /** Those who wait for room, in the order in which they came. */
    readonly waiting: Set<Waiting>;
    /** How many were told of room and have not used it so far. */
    promised: number;
    /** Whether what is promised is looked at once more. */
    isLookDue: boolean;
    ended: Promise<End> | undefined;
    tellEnd: ((end: End) => void) | undefined;
}

/** What is called when there is room, or the actor has ended: whether the room that it was told of is used later, if at all. */
type Waiting = () => boolean;

/** What far actors want of their link. */
export interface Sender {
    say(frame: Frame): void;
    tell(actor: FarActor, message: unknown): void;
}

/** What is released of addresses that are forgotten. */
const forgotten = new FinalizationRegistry<() => void>((release) => release());

/** The address of an actor of the other side. */
export class FarAddress<Message> extends Address<Message> {
    readonly #actors: FarActors;
    readonly #actor: FarActor;
    #isReleased = false;

    constructor(actors: FarActors, actor: FarActor) {
        super();
        this.#actors = actors;
        this.#actor = actor;
        forgotten.register(this, () => actors.released(actor), this);
    }

    override tell(message: Message): void {
        this.#actors.tell(this.held(), message);
    }

    override room(): Promise<void> {
        return this.#actors.room(this.held());
    }

    override whenRoom(look: () => void): () => void {
        return this.#actors.whenRoom(this.held(), look);
    }

    override get ended(): Promise<End> {
        return this.#actors.endOf(this.#actor);
    }

    override release(): void {
        if (this.#isReleased) return;
        this.#isReleased = true;
        forgotten.unregister(this);
        this.#actors.released(this.#actor);
    }

    /** The actor, if the address is held. */
    held(): FarActor {
        if (this.#isReleased) throw new LinkError("used", "the address was released");
        return this.#actor;
    }

    isOf(actors: FarActors): boolean {
        return this.#actors === actors;
    }
}

/** The actors of the other side that are known here. */
export class FarActors {
    readonly #link: Sender;
    readonly #actors = new Map<number, FarActor>();
    /** How the link has ended, as an end of all of them. */
    #allEnded: End | undefined;

    constructor(link: Sender) {
        this.#link = link;
    }

    get size(): number {
        return this.#actors.size;
    }

    /** How many messages are not known to be done with. */
    get unconfirmed(): number {
        let count = 0;
        for (const actor of this.#actors.values()) count += actor.unconfirmed;
        return count;
    }

    /** An address that was received once more. */
    import(number: number, window: number): Address<unknown> {
        let actor = this.#actors.get(number);
        if (actor === undefined) {
            actor = { number, window, unconfirmed: 0, handles: 0, end: undefined, waiting: new Set(), promised: 0, isLookDue: false, ended: undefined, tellEnd: undefined };
            this.#actors.set(number, actor);
        }
        actor.handles++;
        return new FarAddress(this, actor);
    }

    tell(actor: FarActor, message: unknown): void {
        this.#link.tell(actor, message);
    }

    /** Resolves when an actor takes another message. */
    room(actor: FarActor): Promise<void> {
        return new Promise((resolve, reject) => {
            const look = (): boolean => {
                if (actor.end !== undefined) reject(stopped(actor.end));
                else resolve();
                return true;
            };
            if (actor.end === undefined && isFull(actor)) actor.waiting.add(look);
            else look();
        });
    }

    /** Calls this once when an actor that is full takes another message, or has ended; what it returns gives that up. */
    whenRoom(actor: FarActor, look: () => void): () => void {
        const waiting = (): boolean => {
            look();
            return false;
        };
        actor.waiting.add(waiting);
        return () => actor.waiting.delete(waiting);
    }

    /**
     * Wakes as many as there is room for. One that does not use it has not taken it from the others: a question is sent as it is woken, so that the
     * next is woken if it was not, and what `room()` has promised is promised to the next if it was not used by the next turn of the page's loop.
     */
    #wake(actor: FarActor): void {
        for (const waiting of actor.waiting) {
            if (actor.unconfirmed + actor.promised >= actor.window) break;
            actor.waiting.delete(waiting);
            if (waiting()) actor.promised++;
        }
        if (actor.promised === 0 || actor.waiting.size === 0 || actor.isLookDue) return;
        actor.isLookDue = true;
        setTimeout(() => {
            actor.isLookDue = false;
            actor.promised = 0;
            this.#wake(actor);
        });
    }

    /** The end of an actor, also if its last address was given up. */
    endOf(actor: FarActor): Promise<End> {
        const end = actor.end ?? this.#allEnded;
        if (end !== undefined) return Promise.resolve(end);
        if (actor.ended === undefined) {
            // It may have been forgotten, and known anew by another address since: its number is the same.
            const known = this.#actors.get(actor.number);
            if (known !== undefined && known !== actor) return this.endOf(known);
            this.#actors.set(actor.number, actor);
            actor.ended = new Promise((resolve) => (actor.tellEnd = resolve));
            // So that it is told also when no address is left here.
            this.#link.say({ kind: "watch", number: actor.number });
        }
        return actor.ended;
    }

    /** An address was given up here. */
    released(actor: FarActor): void {
        actor.handles--;
        this.#link.say({ kind: "release", number: actor.number, count: 1 });
        this.#forget(actor);
    }

    /** The other side is done with so many messages. */
    confirmed(number: number, count: number): void {
        const actor = this.#actors.get(number);
        const sent = actor?.unconfirmed ?? 0;
        if (actor === undefined || count > sent) throw protocol(`it confirms ${count} messages to actor ${number}, to which ${sent} are on their way`);
        actor.unconfirmed -= count;
        this.#wake(actor);
        this.#forget(actor);
    }

    /** One of them has ended. */
    ended(number: number, end: End): void {
        const actor = this.#actors.get(number);
        if (actor !== undefined) this.#end(actor, end);
    }

    /** The link has: all of them are gone. */
    allEnded(end: End): void {
        this.#allEnded = end;
        const actors = Array.from(this.#actors.values());
        this.#actors.clear();
        for (const actor of actors) this.#end(actor, end);
    }

    #end(actor: FarActor, end: End): void {
        if (actor.end !== undefined) return;
        actor.end = end;
        actor.tellEnd?.(end);
        const waiting = Array.from(actor.waiting);
        actor.waiting.clear();
        for (const look of waiting) look();
        this.#forget(actor);
    }

    /** Forgets an actor of which nothing is of interest any more. */
    #forget(actor: FarActor): void {
        const isWatched = actor.ended !== undefined && actor.end === undefined;
        if (actor.handles === 0 && actor.unconfirmed === 0 && !isWatched && this.#actors.get(actor.number) === actor) this.#actors.delete(actor.number);
    }
}

/** A message to an actor was sent, of which it is told when it is done with. */
export function sent(actor: FarActor): void {
    actor.unconfirmed++;
    if (actor.promised > 0) actor.promised--;
}

/** Whether an actor takes no more messages for now. */
export function isFull(actor: FarActor): boolean {
    return actor.window > 0 && actor.unconfirmed >= actor.window;
}

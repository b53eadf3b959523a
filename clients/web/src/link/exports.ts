// Actors of this page, as the other side knows them: their numbers, and how many addresses of each it has.

import { protocol } from "./bytes.js";
import { chained } from "./end.js";
import { LinkError } from "./error.js";
import { isAbnormal, ROOT, type End, type Frame, type Offer } from "./frame.js";
import type { OwnAddress, Watcher } from "./own.js";
import type { Place } from "./values.js";

/** An actor of this side, as the other one knows it. */
interface Export {
    readonly actor: OwnAddress<never>;
    readonly number: number;
    /** How often it was sent, less how often it was released. */
    sent: number;
    isWatched: boolean;
    /** The links with it, by their numbers there: its end is told also when no address is left. */
    readonly links: Set<bigint>;
    isTold: boolean;
}

/** The actors of this page that the other side knows. */
export class Exports implements Watcher {
    readonly #say: (frame: Frame) => void;
    #last = ROOT;
    readonly #exports = new Map<number, Export>();
    readonly #numbers = new WeakMap<OwnAddress<never>, number>();
    /** Those that end with an actor of the other side, by the number of the link there. */
    readonly #links = new Map<bigint, { readonly own: Export; readonly linker: number }>();

    constructor(say: (frame: Frame) => void) {
        this.#say = say;
    }

    get size(): number {
        return this.#exports.size;
    }

    get linked(): number {
        return this.#links.size;
    }

    /** How an actor stands in a message; it is offered with that. */
    place(address: OwnAddress<never>, offers: Offer[]): Place {
        if (address.hasEnded !== undefined) throw new LinkError("stopped", "the actor of this page that stands in it has ended");
        let number = this.#numbers.get(address);
        if (number === undefined) {
            number = ++this.#last;
            this.#numbers.set(address, number);
        }
        if (!this.#exports.has(number)) {
            this.#exports.set(number, { actor: address, number, sent: 0, isWatched: false, links: new Set(), isTold: false });
            address.watchedBy(this);
        }
        offers.push({ actor: number, window: address.window });
        return [0, number];
    }

    /** These were offered. */
    offered(offers: readonly Offer[]): void {
        for (const { actor } of offers) {
            const known = this.#exports.get(actor);
            if (known !== undefined) known.sent++;
        }
    }

    /** These were to be offered, and were not. */
    takeBack(offers: readonly Offer[]): void {
        for (const { actor } of offers) {
            const known = this.#exports.get(actor);
            if (known !== undefined) this.#forget(known);
        }
    }

    /** The actor of this number, if it is known there. */
    get(number: number): OwnAddress<never> | undefined {
        return this.#exports.get(number)?.actor;
    }

    /** The actor of this number, of which the other side has to have an address. */
    held(number: number): OwnAddress<never> {
        const known = this.#exports.get(number);
        if (known === undefined || known.sent === 0) throw protocol(`it names actor ${number}, of which it has no address`);
        return known.actor;
    }

    /** So many addresses were given up there. */
    released(number: number, count: number): void {
        const known = this.#exports.get(number);
        const sent = known?.sent ?? 0;
        if (known === undefined || count > sent) throw protocol(`it gives up ${count} addresses of actor ${number}, of which it has ${sent}`);
        known.sent -= count;
        this.#forget(known);
    }

    watched(number: number): void {
        const known = this.#exports.get(number);
        if (known === undefined) return this.#unknown(number);
        known.isWatched = true;
        const end = known.actor.hasEnded;
        if (end !== undefined) this.#say({ kind: "ended", number, end });
    }

    unwatched(number: number): void {
        const known = this.#exports.get(number);
        if (known === undefined) return;
        known.isWatched = false;
        this.#forget(known);
    }

    /** An actor of the other side is linked with one of these: it takes that along. */
    link(link: bigint, number: number, linker: number): void {
        if (this.#links.has(link)) throw protocol(`it has made a link ${link} before`);
        const own = this.#exports.get(number);
        if (own === undefined) return this.#unknown(number);
        // One that has ended is linked with nothing, and its end is told.
        if (own.isTold) return;
        own.links.add(link);
        this.#links.set(link, { own, linker });
    }

    unlink(link: bigint): void {
        const made = this.#links.get(link);
        if (made === undefined) return;
        this.#untie(link, made.own);
        this.#forget(made.own);
    }

    /** An actor of the other side has ended, and takes those along that are linked with it. */
    linkerEnded(number: number, end: End): void {
        for (const [link, { own, linker }] of this.#links) {
            if (linker !== number) continue;
            this.#untie(link, own);
            if (isAbnormal(end)) own.actor.end(chained(end));
            this.#forget(own);
        }
    }

    /** One of these has ended. */
    ended(actor: OwnAddress<never>, end: End): void {
        const number = this.#numbers.get(actor);
        const known = number === undefined ? undefined : this.#exports.get(number);
        if (known === undefined || known.isTold) return;
        known.isTold = true;
        for (const link of known.links) this.#untie(link, known);
        this.#say({ kind: "ended", number: known.number, end });
        this.#forget(known);
    }

    /** The link has ended, and with it all that it led to: it takes those along that are linked with one there. */
    allEnded(end: End): void {
        const linked = new Set(Array.from(this.#links.values(), ({ own }) => own.actor));
        for (const { actor } of this.#exports.values()) actor.unwatchedBy(this);
        this.#exports.clear();
        this.#links.clear();
        for (const actor of linked) actor.end(chained(end));
    }

    #untie(link: bigint, own: Export): void {
        this.#links.delete(link);
        own.links.delete(link);
    }

    #forget(known: Export): void {
        const isOfInterest = (known.isWatched || known.links.size > 0) && !known.isTold;
        if (known.sent > 0 || isOfInterest) return;
        this.#exports.delete(known.number);
        known.actor.unwatchedBy(this);
    }

    /** Says of an actor that it is not known any more. */
    #unknown(number: number): void {
        const text = "its last address was given up before its end was asked for";
        this.#say({ kind: "ended", number, end: { why: "link lost", text } });
    }
}

// One end of a link: which actors and replies the two sides know of each other, and what is done with what comes. No input and output.

import { Address, Reply, type Target } from "./address.js";
import { Output, protocol } from "./bytes.js";
import { LinkError } from "./error.js";
import { isAbnormal, JSON_ENCODING, LENGTH, read, ROOT, write, type Body, type End, type Failure, type Frame, type Offer } from "./frame.js";
import { OwnAddress, type Watcher } from "./own.js";
import { readValue, writeValue, type Place, type Written } from "./values.js";

/** The longest frame that this side takes, in bytes without the length. */
const LONGEST_FRAME = 16 << 20;

/** How a link has ended. */
export interface LinkEnd {
    /** This page has closed it; the other side has said goodbye; what carries it is gone; or one side does not keep to the protocol. */
    readonly how: "closed" | "goodbye" | "lost" | "protocol";
    /** What was said, in words. */
    readonly text: string;
}

/** What carries the bytes. */
export interface Carrier {
    send(bytes: Uint8Array<ArrayBuffer>): void;
    /** How many bytes of what was sent have not left this machine, as far as is known. */
    unsent(): number;
    /** The link has ended: what was sent still goes. */
    close(end: LinkEnd): void;
}

/** An actor of the other side. */
interface FarActor {
    readonly number: number;
    /** How many messages to it may be unconfirmed; any number if it is 0. */
    window: number;
    unconfirmed: number;
    /** Addresses of it that are held here. */
    handles: number;
    end: End | undefined;
    /** Those who wait for room. */
    readonly waiting: (() => void)[];
    ended: Promise<End> | undefined;
    tellEnd: ((end: End) => void) | undefined;
}

/** An actor of this side, as the other one knows it. */
interface Export {
    readonly actor: OwnAddress<never>;
    readonly number: number;
    /** How often it was sent, less how often it was released. */
    sent: number;
    isWatched: boolean;
    isTold: boolean;
}

/** A question of this side. */
interface Pending {
    readonly target: Target;
    /** So many bytes had been written when it was. */
    readonly behind: number;
}

/** What is released of addresses that are forgotten. */
const forgotten = new FinalizationRegistry<() => void>((release) => release());

/** The address of an actor of the other side. */
class FarAddress<Message> extends Address<Message> {
    readonly #core: Core;
    readonly #actor: FarActor;
    #isReleased = false;

    constructor(core: Core, actor: FarActor) {
        super();
        this.#core = core;
        this.#actor = actor;
        forgotten.register(this, () => core.released(actor), this);
    }

    override tell(message: Message): void {
        this.#core.tell(this.held(), message);
    }

    override room(): Promise<void> {
        return this.#core.room(this.held());
    }

    override get ended(): Promise<End> {
        return this.#core.endOf(this.#actor);
    }

    override release(): void {
        if (this.#isReleased) return;
        this.#isReleased = true;
        forgotten.unregister(this);
        this.#core.released(this.#actor);
    }

    /** The actor, if the address is held. */
    held(): FarActor {
        if (this.#isReleased) throw new LinkError("used", "the address was released");
        return this.#actor;
    }

    isOf(core: Core): boolean {
        return this.#core === core;
    }
}

/** One end of a link. */
export class Core implements Watcher {
    readonly #carrier: Carrier;
    readonly #mostUnread: number;
    readonly #output = new Output();
    /** All bytes that were written so far. */
    #written = 0;
    #isFlushDue = false;
    #longestThere = LONGEST_FRAME;
    #isGreeted = false;
    readonly #partial: Uint8Array[] = [];
    #partialLength = 0;
    #end: LinkEnd | undefined;
    #lastReply = 0;
    #lastActor = ROOT;
    readonly #pending = new Map<number, Pending>();
    readonly #far = new Map<number, FarActor>();
    readonly #exports = new Map<number, Export>();
    readonly #numbers = new WeakMap<OwnAddress<never>, number>();
    /** Actors of this side that end with one of the other, by the number of the link there. */
    readonly #links = new Map<bigint, { readonly own: number; readonly linker: number }>();
    readonly #greeted: (root: Address<unknown> | undefined) => void;
    readonly #hasEnded: (end: LinkEnd) => void;

    constructor(parts: { carrier: Carrier; program: string; mostUnread: number; greeted(root: Address<unknown> | undefined): void; ended(end: LinkEnd): void }) {
        this.#carrier = parts.carrier;
        this.#mostUnread = parts.mostUnread;
        this.#greeted = parts.greeted;
        this.#hasEnded = parts.ended;
        this.#say({ kind: "hello", most: LONGEST_FRAME, encoding: JSON_ENCODING, program: parts.program, root: undefined });
    }

    get end(): LinkEnd | undefined {
        return this.#end;
    }

    /** How many messages are not known to be done with at the other side. */
    get unconfirmed(): number {
        let count = 0;
        for (const actor of this.#far.values()) count += actor.unconfirmed;
        return count;
    }

    /** How much is kept, of each kind: for tests that nothing is left behind. */
    get kept(): { readonly pending: number; readonly far: number; readonly exports: number; readonly links: number } {
        return { pending: this.#pending.size, far: this.#far.size, exports: this.#exports.size, links: this.#links.size };
    }

    #say(frame: Frame): void {
        if (this.#end !== undefined) return;
        const before = this.#output.length;
        write(frame, this.#output);
        this.#spoken(before);
    }

    #spoken(before: number): void {
        this.#written += this.#output.length - before;
        if (this.#isFlushDue) return;
        this.#isFlushDue = true;
        // What is said in one go goes as one.
        queueMicrotask(() => this.flush());
    }

    /** Sends what is to go. */
    flush(): void {
        this.#isFlushDue = false;
        if (this.#output.length === 0) return;
        this.#carrier.send(this.#output.take());
        const unsent = this.#carrier.unsent();
        if (unsent > this.#mostUnread) {
            this.finish({ how: "lost", text: `the other side does not read: ${unsent} bytes wait for it, and no more are kept` });
        }
    }

    /** Ends the link, for the first reason that is given. */
    finish(end: LinkEnd): void {
        if (this.#end !== undefined) return;
        if (end.how === "closed") this.#say({ kind: "goodbye", text: "the page has closed it" });
        if (end.how === "protocol") this.#say({ kind: "goodbye", text: end.text });
        const sent = this.#written - this.#output.length - this.#carrier.unsent();
        const isCut = end.how === "lost" || end.how === "goodbye";
        this.#end = end;
        if (isCut) this.#output.take();
        else this.flush();
        const words = wordsOf(end);
        for (const { target, behind } of this.#take(this.#pending)) {
            const fate = isCut && behind > sent ? "not begun" : "unknown";
            const said = fate === "not begun" ? "the question was not sent" : "whether the question was handled is not known";
            target.fail(new LinkError("ended", `${words}; ${said}`, fate));
        }
        for (const actor of this.#take(this.#far)) this.#farEnded(actor, { why: "link lost", text: words });
        this.#exports.clear();
        this.#links.clear();
        this.#carrier.close(end);
        this.#hasEnded(end);
    }

    #take<Item>(map: Map<unknown, Item>): Item[] {
        const items = Array.from(map.values());
        map.clear();
        return items;
    }

    #refuseIfEnded(): void {
        if (this.#end !== undefined) throw new LinkError("ended", `the link has ended before: ${wordsOf(this.#end)}`);
    }

    /** Sends a message to an actor of the other side. */
    tell(actor: FarActor, message: unknown): void {
        if (actor.end !== undefined) throw this.#stopped(actor.end);
        this.#refuseIfEnded();
        if (actor.window > 0 && actor.unconfirmed >= actor.window) {
            throw new LinkError("full", `the actor takes no more than ${actor.window} messages that are not handled; await room() before the next`);
        }
        const hasReplies = this.#send("tell", actor.number, message);
        if (!hasReplies || actor.window > 0) actor.unconfirmed++;
    }

    #stopped(end: End): LinkError {
        return end.why === "link lost" ? new LinkError("ended", `the link to the actor has ended: ${end.text}`) : new LinkError("stopped", `the actor has ended: ${describeEnd(end)}`);
    }

    /** Resolves when an actor of the other side takes another message. */
    room(actor: FarActor): Promise<void> {
        return new Promise((resolve, reject) => {
            const look = (): void => {
                if (actor.end !== undefined) reject(this.#stopped(actor.end));
                else if (actor.window > 0 && actor.unconfirmed >= actor.window) actor.waiting.push(look);
                else resolve();
            };
            look();
        });
    }

    endOf(actor: FarActor): Promise<End> {
        if (actor.end !== undefined) return Promise.resolve(actor.end);
        if (actor.ended === undefined) {
            actor.ended = new Promise((resolve) => (actor.tellEnd = resolve));
            // So that it is told also when no address is left here.
            this.#say({ kind: "watch", number: actor.number });
        }
        return actor.ended;
    }

    /** Writes a message or an answer, with all that is in it; whether there are replies. Nothing is counted if it throws. */
    #send(kind: "tell" | "answer", number: number, value: unknown): boolean {
        const replies: [number, Reply<unknown>][] = [];
        const exports: Offer[] = [];
        const takeBack = (): void => {
            for (const { actor } of exports) {
                const known = this.#exports.get(actor);
                if (known !== undefined) this.#forgetExport(known);
            }
        };
        const payload = this.#textOf(takeBack, value, {
            address: (address) => this.#place(address, exports),
            reply: (reply) => {
                if (replies.some(([, known]) => known === reply)) throw new LinkError("used", "a reply stands in a message once");
                reply.peek();
                // It is answered or failed once; 2^53 are never asked.
                this.#lastReply++;
                replies.push([this.#lastReply, reply]);
                return this.#lastReply;
            },
        });
        const before = this.#output.length;
        write({ kind, number, body: { replies: replies.map(([reply]) => reply), exports, payload } }, this.#output);
        const length = this.#output.length - before - LENGTH;
        if (length > this.#longestThere) {
            this.#output.truncate(before);
            takeBack();
            throw new LinkError("too-large", `it takes ${length} bytes, and the link carries ${this.#longestThere} at once`);
        }
        this.#spoken(before);
        for (const [reply, way] of replies) this.#pending.set(reply, { target: way.take(), behind: this.#written });
        for (const { actor } of exports) this.#count(actor);
        return replies.length > 0;
    }

    /** The text of a message; if there is none, what was counted for it is taken back. */
    #textOf(takeBack: () => void, value: unknown, written: Written): Uint8Array {
        try {
            return writeValue(value, written);
        } catch (error) {
            takeBack();
            throw error;
        }
    }

    #place(address: Address<unknown>, exports: Offer[]): Place {
        if (address instanceof FarAddress) {
            if (!address.isOf(this)) throw new LinkError("not-encodable", "the address is of another link: export an actor that passes messages on");
            return [1, address.held().number];
        }
        if (!(address instanceof OwnAddress)) throw new LinkError("not-encodable", "it is no address of a link");
        if (address.hasEnded !== undefined) throw new LinkError("stopped", "the actor of this page that stands in it has ended");
        let number = this.#numbers.get(address);
        if (number === undefined) {
            number = ++this.#lastActor;
            this.#numbers.set(address, number);
        }
        if (!this.#exports.has(number)) this.#exports.set(number, { actor: address, number, sent: 0, isWatched: false, isTold: false });
        exports.push({ actor: number, window: address.window });
        return [0, number];
    }

    #count(number: number): void {
        const known = this.#exports.get(number);
        if (known !== undefined) known.sent++;
    }

    /** Takes what has come, cut anywhere. */
    receive(bytes: Uint8Array): void {
        if (this.#end !== undefined) return;
        try {
            this.#receive(bytes);
        } catch (error) {
            if (!(error instanceof LinkError && error.code === "protocol")) throw error;
            this.finish({ how: "protocol", text: error.message });
        }
    }

    #receive(bytes: Uint8Array): void {
        this.#partial.push(bytes);
        this.#partialLength += bytes.length;
        // Read at once where no frame is cut; copied together only when one is whole.
        let all = this.#partial.length === 1 ? bytes : undefined;
        for (;;) {
            const head = this.#head(all);
            if (head === undefined) break;
            if (head > LONGEST_FRAME) throw protocol(`a frame of ${head} bytes, and this side takes ${LONGEST_FRAME} at most`);
            if (this.#partialLength < LENGTH + head) break;
            all ??= join(this.#partial, this.#partialLength);
            const frame = all.subarray(LENGTH, LENGTH + head);
            all = all.subarray(LENGTH + head);
            this.#partial.splice(0, this.#partial.length, all);
            this.#partialLength = all.length;
            this.#takeIn(read(frame));
            if (this.#end !== undefined) return;
        }
        if (this.#partialLength === 0) this.#partial.length = 0;
    }

    /** The length of the frame that comes next, if that much of it is there. */
    #head(all: Uint8Array | undefined): number | undefined {
        if (this.#partialLength < LENGTH) return undefined;
        let first = all ?? this.#partial[0];
        if (first === undefined) return undefined;
        if (first.length < LENGTH) {
            first = join(this.#partial, this.#partialLength);
            this.#partial.splice(0, this.#partial.length, first);
        }
        return new DataView(first.buffer, first.byteOffset).getUint32(0, true);
    }

    #takeIn(frame: Frame): void {
        if (frame.kind === "hello") return this.#hello(frame);
        if (!this.#isGreeted) throw protocol("it has not said hello before all else");
        switch (frame.kind) {
            case "tell":
                return this.#told(frame.number, frame.body);
            case "answer":
                return this.#answered(frame.number, frame.body);
            case "failed":
                return this.#asked(frame.number).target.fail(failureError(frame.failure));
            case "release":
                return this.#releasedThere(frame.number, frame.count);
            case "confirm":
                return this.#confirmed(frame.number, frame.count);
            case "watch":
                return this.#watched(frame.number);
            case "unwatch": {
                const known = this.#exports.get(frame.number);
                if (known !== undefined) {
                    known.isWatched = false;
                    this.#forgetExport(known);
                }
                return;
            }
            case "ended": {
                for (const [link, { own, linker }] of this.#links) {
                    if (linker !== frame.number) continue;
                    this.#links.delete(link);
                    if (isAbnormal(frame.end)) this.#exports.get(own)?.actor.end(chained(frame.end));
                }
                const actor = this.#far.get(frame.number);
                if (actor !== undefined) this.#farEnded(actor, frame.end);
                return;
            }
            case "stop":
                return this.#known(frame.number).actor.release();
            case "finish":
                return this.#known(frame.number).actor.finish();
            case "goodbye":
                return this.finish({ how: "goodbye", text: frame.text });
            case "descriptors":
                // A page has none; what has them is read without.
                return this.#say({ kind: "received", number: frame.number });
            case "link":
                if (this.#exports.has(frame.number)) this.#links.set(frame.link, { own: frame.number, linker: frame.linker });
                else this.#unknown(frame.number);
                return;
            case "unlink":
                if (!frame.byReader) this.#links.delete(frame.link);
                return;
            // A page has no waits; and lends no descriptors.
            case "probe":
            case "received":
                return;
        }
    }

    #hello(frame: Frame & { kind: "hello" }): void {
        if (this.#isGreeted) throw protocol("it has said hello twice");
        this.#isGreeted = true;
        if (frame.encoding !== JSON_ENCODING) {
            throw protocol(`it writes messages ${frame.encoding === 0 ? "by postcard" : `in a way of number ${frame.encoding}`}, and this page as JSON: choose Encoding::Json at the server's end of the link`);
        }
        this.#longestThere = Math.min(frame.most, LONGEST_FRAME);
        this.#greeted(frame.root === undefined ? undefined : this.#import(ROOT, frame.root.window));
    }

    #known(number: number): Export {
        const known = this.#exports.get(number);
        if (known === undefined || known.sent === 0) throw protocol(`it names actor ${number}, of which it has no address`);
        return known;
    }

    #asked(reply: number): Pending {
        const pending = this.#pending.get(reply);
        if (pending === undefined) throw protocol(`it answers question ${reply}, which it does not have`);
        this.#pending.delete(reply);
        return pending;
    }

    #told(number: number, body: Body): void {
        const { actor } = this.#known(number);
        const done = (): void => {
            if (body.replies.length === 0 || actor.window > 0) this.#say({ kind: "confirm", number, count: 1 });
        };
        if (actor.hasEnded !== undefined) {
            this.#refuse(body, { why: "stopped" });
            return done();
        }
        const read = this.#read(body);
        if (read === undefined) return done();
        actor.deliver({ ...read, done });
    }

    #answered(reply: number, body: Body): void {
        const { target } = this.#asked(reply);
        if (!target.isAwaited()) return this.#refuse(body, { why: "unanswered" });
        const read = this.#read(body);
        if (read !== undefined) target.answer(read.message);
        else target.fail(new LinkError("not-decodable", "the answer is no JSON", "begun"));
    }

    /** Reads a message, with all that is in it; of what was not read the other side is told. `undefined` if it is none. */
    #read(body: Body): { readonly message: unknown; readonly replies: readonly Reply<unknown>[] } | undefined {
        const replies = new Set(body.replies);
        const exports = body.exports.slice();
        const taken: Reply<unknown>[] = [];
        let message: unknown;
        let failure: Failure = { why: "unanswered" };
        let isRead = true;
        try {
            message = readValue(body.payload, {
                reply: (number) => {
                    if (!replies.delete(number)) return undefined;
                    const reply = new Reply<unknown>(this.#wayBack(number));
                    taken.push(reply);
                    return reply;
                },
                address: ([side, number]) => {
                    if (side === 1) return this.#exports.get(number)?.actor;
                    const at = exports.findIndex(({ actor }) => actor === number);
                    const offer = exports[at];
                    if (offer === undefined) return undefined;
                    exports.splice(at, 1);
                    return this.#import(number, offer.window);
                },
            });
        } catch (error) {
            if (!(error instanceof LinkError)) throw error;
            failure = { why: "not-decodable", fate: "not begun", text: error.message };
            isRead = false;
            for (const reply of taken) reply.drop();
        }
        this.#refuse({ replies: Array.from(replies), exports, payload: body.payload }, failure);
        return isRead ? { message, replies: taken } : undefined;
    }

    /** Says of replies that there is no answer, and of addresses that they are given up. */
    #refuse(body: Body, failure: Failure): void {
        for (const number of body.replies) this.#say({ kind: "failed", number, failure });
        for (const { actor } of body.exports) this.#say({ kind: "release", number: actor, count: 1 });
    }

    #wayBack(number: number): Target {
        return {
            answer: (value) => {
                try {
                    this.#refuseIfEnded();
                    this.#send("answer", number, value);
                } catch (error) {
                    if (error instanceof LinkError) this.#say({ kind: "failed", number, failure: unsent(error) });
                    throw error;
                }
            },
            fail: (error) => this.#say({ kind: "failed", number, failure: errorFailure(error) }),
            isAwaited: () => this.#end === undefined,
        };
    }

    /** An address of an actor of the other side, which was received once more. */
    #import(number: number, window: number): Address<unknown> {
        let actor = this.#far.get(number);
        if (actor === undefined) {
            actor = { number, window, unconfirmed: 0, handles: 0, end: undefined, waiting: [], ended: undefined, tellEnd: undefined };
            this.#far.set(number, actor);
        }
        actor.handles++;
        return new FarAddress(this, actor);
    }

    /** An address of an actor of the other side was given up here. */
    released(actor: FarActor): void {
        actor.handles--;
        this.#say({ kind: "release", number: actor.number, count: 1 });
        this.#forgetFar(actor);
    }

    /** Forgets an actor of the other side of which nothing is of interest any more. */
    #forgetFar(actor: FarActor): void {
        const isWatched = actor.ended !== undefined && actor.end === undefined;
        if (actor.handles === 0 && actor.unconfirmed === 0 && !isWatched && this.#far.get(actor.number) === actor) this.#far.delete(actor.number);
    }

    #farEnded(actor: FarActor, end: End): void {
        if (actor.end !== undefined) return;
        actor.end = end;
        actor.tellEnd?.(end);
        for (const look of actor.waiting.splice(0)) look();
        this.#forgetFar(actor);
    }

    #confirmed(number: number, count: number): void {
        const actor = this.#far.get(number);
        const sent = actor?.unconfirmed ?? 0;
        if (actor === undefined || count > sent) throw protocol(`it confirms ${count} messages to actor ${number}, to which ${sent} are on their way`);
        actor.unconfirmed -= count;
        for (const look of actor.waiting.splice(0, count)) look();
        this.#forgetFar(actor);
    }

    #releasedThere(number: number, count: number): void {
        const known = this.#exports.get(number);
        const sent = known?.sent ?? 0;
        if (known === undefined || count > sent) throw protocol(`it gives up ${count} addresses of actor ${number}, of which it has ${sent}`);
        known.sent -= count;
        this.#forgetExport(known);
    }

    #forgetExport(known: Export): void {
        const isOfInterest = known.isWatched && !known.isTold;
        if (known.sent === 0 && !isOfInterest) this.#exports.delete(known.number);
    }

    #watched(number: number): void {
        const known = this.#exports.get(number);
        if (known === undefined) return this.#unknown(number);
        known.isWatched = true;
        const end = known.actor.hasEnded;
        if (end !== undefined) this.#say({ kind: "ended", number, end });
    }

    /** Says of an actor of this side that it is not known any more. */
    #unknown(number: number): void {
        const text = "its last address was given up before its end was asked for";
        this.#say({ kind: "ended", number, end: { why: "link lost", text } });
    }

    /** An actor of this side has ended. */
    ended(actor: OwnAddress<never>, end: End): void {
        const number = this.#numbers.get(actor);
        const known = number === undefined ? undefined : this.#exports.get(number);
        if (known === undefined || known.isTold) return;
        known.isTold = true;
        this.#say({ kind: "ended", number: known.number, end });
        this.#forgetExport(known);
    }
}

function join(pieces: readonly Uint8Array[], length: number): Uint8Array {
    const all = new Uint8Array(length);
    let at = 0;
    for (const piece of pieces) {
        all.set(piece, at);
        at += piece.length;
    }
    return all;
}

/** How an actor has ended that was linked with one that has ended so. */
function chained(end: End): End {
    return end.why === "linked" ? { why: "linked", names: ["", ...end.names].slice(0, 64), end: end.end } : { why: "linked", names: [""], end };
}

/** How a link has ended, in words. */
export function wordsOf(end: LinkEnd): string {
    switch (end.how) {
        case "closed":
            return "the link was closed here";
        case "goodbye":
            return `the other side has closed the link: ${end.text}`;
        case "lost":
            return `the other side is gone: ${end.text}`;
        case "protocol":
            return `the other side does not keep to the protocol: ${end.text}`;
    }
}

/** How an actor has ended, in words. */
export function describeEnd(end: End): string {
    switch (end.why) {
        case "panicked":
            return `it panicked: ${end.text}`;
        case "gave up":
            return `it panicked too often, after ${end.restarts} restarts: ${end.text}`;
        case "linked":
            return `an actor has ended with which it was linked: ${describeEnd(end.end)}`;
        case "link lost":
            return `a link to it was lost: ${end.text}`;
        case "exited":
            return `its process has exited with code ${end.code}`;
        case "killed":
            return `its process was killed by signal ${end.code}`;
        default:
            return end.why === "stopped" ? "it was stopped" : end.why === "no addresses" ? "it had no addresses left" : "its home has ended";
    }
}

function failureError(failure: Failure): LinkError {
    switch (failure.why) {
        case "unanswered":
            return new LinkError("unanswered", "the reply was dropped unanswered", "begun");
        case "stopped":
            return new LinkError("stopped", "the actor had stopped", "unknown");
        case "full":
            return new LinkError("full", "the actor's mailbox was full", "not begun");
        case "hung":
            return new LinkError("hung", "the actor's handler did not come back", "begun");
        case "panicked":
            return new LinkError("panicked", `the actor ${failure.name === "" ? "" : `${failure.name} `}panicked: ${failure.text}`, "begun");
        case "exited":
        case "killed":
            return new LinkError("stopped", describeEnd(failure), "begun");
        default:
            return new LinkError(failure.why, failure.text, failure.fate);
    }
}

function errorFailure(error: LinkError): Failure {
    const { code, message: text, fate } = error;
    switch (code) {
        case "unanswered":
        case "stopped":
        case "full":
        case "hung":
            return { why: code };
        case "panicked":
            return { why: code, name: "", text };
        case "not-decodable":
        case "not-encodable":
        case "too-large":
            return { why: code, fate, text };
        default:
            return { why: "other", fate, text };
    }
}

/** What the one who asks is told of an answer that could not be sent. */
function unsent(error: LinkError): Failure {
    const text = `the answer was not sent: ${error.message}`;
    const why = error.code === "too-large" || error.code === "not-encodable" ? error.code : "other";
    return { why, fate: "begun", text };
}

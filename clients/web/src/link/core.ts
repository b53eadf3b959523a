// One end of a link: what is said and heard, which questions wait for answers, and how it ends. No input and output.

import { Reply, type Address, type Target } from "./address.js";
import { Output, protocol } from "./bytes.js";
import { writeWithin } from "./cut.js";
import { errorFailure, failureError, stopped, unsent, wordsOf, type LinkEnd } from "./end.js";
import { LinkError } from "./error.js";
import { Exports } from "./exports.js";
import { FarActors, FarAddress, isFull, sent, type FarActor, type Sender } from "./far.js";
import { JSON_ENCODING, LEAST_FRAME, LENGTH, read, ROOT, write, type Body, type End, type Failure, type Frame, type Offer } from "./frame.js";
import { Incoming, LONGEST_FRAME } from "./incoming.js";
import { OwnAddress } from "./own.js";
import { report } from "./report.js";
import { readValue, writeValue, type Place, type Written } from "./values.js";

/** What carries the bytes. */
export interface Carrier {
    send(bytes: Uint8Array<ArrayBuffer>): void;
    /** How many bytes of what was sent have not left this machine, as far as is known. */
    unsent(): number;
    /** The link has ended: what was sent still goes. */
    close(end: LinkEnd): void;
}

/** A question of this side. */
interface Pending {
    readonly target: Target;
    /** So many bytes had been written when it was. */
    readonly behind: number;
}

/** One end of a link. */
export class Core implements Sender {
    readonly #carrier: Carrier;
    readonly #mostUnread: number;
    readonly #output = new Output();
    /** All bytes that were written so far, and those that went beside. */
    #written = 0;
    #isFlushDue = false;
    #longestThere = LONGEST_FRAME;
    #isGreeted = false;
    readonly #incoming = new Incoming();
    #end: LinkEnd | undefined;
    #lastReply = 0;
    readonly #pending = new Map<number, Pending>();
    readonly #far = new FarActors(this);
    readonly #exports = new Exports((frame) => this.say(frame));
    readonly #greeted: (root: Address<unknown> | undefined) => void;
    readonly #hasEnded: (end: LinkEnd) => void;

    constructor(parts: { carrier: Carrier; program: string; mostUnread: number; greeted(root: Address<unknown> | undefined): void; ended(end: LinkEnd): void }) {
        this.#carrier = parts.carrier;
        this.#mostUnread = parts.mostUnread;
        this.#greeted = parts.greeted;
        this.#hasEnded = parts.ended;
        this.say({ kind: "hello", most: LONGEST_FRAME, encoding: JSON_ENCODING, program: parts.program, root: undefined });
    }

    get end(): LinkEnd | undefined {
        return this.#end;
    }

    /** How many messages are not known to be done with at the other side. */
    get unconfirmed(): number {
        return this.#far.unconfirmed;
    }

    /** How much is kept, of each kind: for tests that nothing is left behind. */
    get kept(): { readonly pending: number; readonly far: number; readonly exports: number; readonly links: number } {
        return { pending: this.#pending.size, far: this.#far.size, exports: this.#exports.size, links: this.#exports.linked };
    }

    /** Says something, unless the link has ended: of what is for people as much as the other side takes. */
    say(frame: Frame): void {
        if (this.#end !== undefined) return;
        const before = this.#output.length;
        writeWithin(frame, this.#isGreeted ? this.#longestThere : LEAST_FRAME, this.#output);
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

    /** So many bytes that are no frames went the same way, behind all that was [flushed](Core.flush). */
    sentBeside(bytes: number): void {
        this.#written += bytes;
    }

    /** Ends the link, for the first reason that is given. */
    finish(end: LinkEnd): void {
        if (this.#end !== undefined) return;
        if (end.how === "closed") this.say({ kind: "goodbye", text: "the page has closed it" });
        if (end.how === "protocol") this.say({ kind: "goodbye", text: end.text });
        const sent = this.#written - this.#output.length - this.#carrier.unsent();
        const isCut = end.how === "lost" || end.how === "goodbye";
        this.#end = end;
        if (isCut) this.#output.take();
        else this.flush();
        const words = wordsOf(end);
        const asked = Array.from(this.#pending.values());
        this.#pending.clear();
        for (const { target, behind } of asked) {
            const fate = isCut && behind > sent ? "not begun" : "unknown";
            const said = fate === "not begun" ? "the question was not sent" : "whether the question was handled is not known";
            target.fail(new LinkError("ended", `${words}; ${said}`, fate));
        }
        const lost: End = { why: "link lost", text: words };
        this.#far.allEnded(lost);
        this.#exports.allEnded(lost);
        this.#carrier.close(end);
        this.#hasEnded(end);
    }

    /** Throws if the link has ended. */
    refuseIfEnded(): void {
        if (this.#end !== undefined) throw new LinkError("ended", `the link has ended before: ${wordsOf(this.#end)}`);
    }

    /** Sends a message to an actor of the other side. */
    tell(actor: FarActor, message: unknown): void {
        if (actor.end !== undefined) throw stopped(actor.end);
        this.refuseIfEnded();
        if (isFull(actor)) {
            throw new LinkError("full", `the actor takes no more than ${actor.window} messages that are not handled; await room() before the next`);
        }
        const hasReplies = this.#send("tell", actor.number, message);
        if (!hasReplies || actor.window > 0) sent(actor);
    }

    /** Writes a message or an answer, with all that is in it; whether there are replies. Nothing is counted if it throws. */
    #send(kind: "tell" | "answer", number: number, value: unknown): boolean {
        const replies: [number, Reply<unknown>][] = [];
        const exports: Offer[] = [];
        const takeBack = (): void => this.#exports.takeBack(exports);
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
        this.#exports.offered(exports);
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
            if (!address.isOf(this.#far)) throw new LinkError("not-encodable", "the address is of another link: export an actor that passes messages on");
            return [1, address.held().number];
        }
        if (!(address instanceof OwnAddress)) throw new LinkError("not-encodable", "it is no address of a link");
        return this.#exports.place(address, exports);
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
        this.#incoming.push(bytes);
        for (let frame = this.#incoming.next(); frame !== undefined; frame = this.#incoming.next()) {
            this.#takeIn(read(frame));
            if (this.#end !== undefined) return;
        }
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
                return this.#exports.released(frame.number, frame.count);
            case "confirm":
                return this.#far.confirmed(frame.number, frame.count);
            case "watch":
                return this.#exports.watched(frame.number);
            case "unwatch":
                return this.#exports.unwatched(frame.number);
            case "ended":
                this.#exports.linkerEnded(frame.number, frame.end);
                return this.#far.ended(frame.number, frame.end);
            case "stop":
                return this.#exports.held(frame.number).release();
            case "finish":
                return this.#exports.held(frame.number).finish();
            case "goodbye":
                return this.finish({ how: "goodbye", text: frame.text });
            case "descriptors":
                // A page has none; what has them is read without.
                return this.say({ kind: "received", number: frame.number });
            case "link":
                return this.#exports.link(frame.link, frame.number, frame.linker);
            case "unlink":
                if (!frame.byReader) this.#exports.unlink(frame.link);
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
        this.#longestThere = Math.min(frame.most, LONGEST_FRAME);
        if (frame.encoding !== JSON_ENCODING) {
            throw protocol(`it writes messages ${frame.encoding === 0 ? "by postcard" : `in a way of number ${frame.encoding}`}, and this page as JSON: choose Encoding::Json at the server's end of the link`);
        }
        this.#greeted(frame.root === undefined ? undefined : this.#far.import(ROOT, frame.root.window));
    }

    #asked(reply: number): Pending {
        const pending = this.#pending.get(reply);
        if (pending === undefined) throw protocol(`it answers question ${reply}, which it does not have`);
        this.#pending.delete(reply);
        return pending;
    }

    #told(number: number, body: Body): void {
        const actor = this.#exports.held(number);
        const done = (): void => {
            if (body.replies.length === 0 || actor.window > 0) this.say({ kind: "confirm", number, count: 1 });
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
        if (read === undefined) return target.fail(new LinkError("not-decodable", "the answer is no JSON", "begun"));
        try {
            target.answer(read.message);
        } catch (error) {
            // A reply of another link, which does not carry this: the one who asks has been told, and what comes behind it here is not to wait.
            report(error);
        }
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
                    if (side === 1) return this.#exports.get(number);
                    const at = exports.findIndex(({ actor }) => actor === number);
                    const offer = exports[at];
                    if (offer === undefined) return undefined;
                    exports.splice(at, 1);
                    return this.#far.import(number, offer.window);
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
        for (const number of body.replies) this.say({ kind: "failed", number, failure });
        for (const { actor } of body.exports) this.say({ kind: "release", number: actor, count: 1 });
    }

    #wayBack(number: number): Target {
        return {
            answer: (value) => {
                try {
                    this.refuseIfEnded();
                    this.#send("answer", number, value);
                } catch (error) {
                    if (error instanceof LinkError) this.say({ kind: "failed", number, failure: unsent(error) });
                    throw error;
                }
            },
            fail: (error) => this.say({ kind: "failed", number, failure: errorFailure(error) }),
            isAwaited: () => this.#end === undefined,
        };
    }
}

// The frames of a link, byte by byte, as docs/src/link.md has them.

import { Input, Output, protocol } from "./bytes.js";
import type { Fate } from "./error.js";

/** The protocol. */
export const VERSION = 3;
/** What a side says whose messages are JSON. */
export const JSON_ENCODING = 1;
/** The actor that the server offers from the beginning. */
export const ROOT = 0;
/** The bytes of a frame's length, which come first. */
export const LENGTH = 4;
/** The longest frame that a side takes before its hello, in bytes without the length. */
export const LEAST_FRAME = 2 << 10;

const MAGIC = new TextEncoder().encode("TTLK");

/** An actor that a message exports, and how many messages may be on their way to it; 0 if it has no window. */
export interface Offer {
    readonly actor: number;
    readonly window: number;
}

/** What a message or an answer has in it: replies that it lends, actors that it exports, each as often as it stands there. */
export interface Body {
    readonly replies: readonly number[];
    readonly exports: readonly Offer[];
    readonly payload: Uint8Array;
}

/** Why there is no answer. */
export type Failure =
    | { readonly why: "unanswered" | "stopped" | "full" | "hung" | "dropped" }
    | { readonly why: "panicked"; readonly name: string; readonly text: string }
    | { readonly why: "not-decodable" | "not-encodable" | "too-large" | "other"; readonly fate: Fate; readonly text: string }
    | { readonly why: "exited" | "killed"; readonly code: number }
    /** The actor has refused to answer it. */
    | { readonly why: "refused"; readonly text: string };

/** Why an actor has ended. */
export type End =
    /** It was stopped; it had no addresses left; what it lived on has ended. */
    | { readonly why: "stopped" | "no addresses" | "home ended" }
    | { readonly why: "panicked"; readonly text: string }
    /** It panicked too often. */
    | { readonly why: "gave up"; readonly restarts: number; readonly text: string }
    /** An actor has ended with which it was linked: the names of those on the way, and why the last of them has ended. */
    | { readonly why: "linked"; readonly names: readonly string[]; readonly end: End }
    | { readonly why: "link lost"; readonly text: string }
    /** Its process has exited with that code, or was killed by that signal: 0 where how it has ended is not known, -1 where it did not come back from a message. */
    | { readonly why: "exited" | "killed"; readonly code: number };

export type Frame =
    | { readonly kind: "hello"; readonly most: number; readonly encoding: number; readonly program: string; readonly root: { readonly type: string; readonly window: number } | undefined }
    | { readonly kind: "tell" | "answer"; readonly number: number; readonly body: Body }
    | { readonly kind: "failed"; readonly number: number; readonly failure: Failure }
    | { readonly kind: "release" | "confirm"; readonly number: number; readonly count: number }
    | { readonly kind: "watch" | "unwatch" | "stop" | "finish"; readonly number: number }
    | { readonly kind: "ended"; readonly number: number; readonly end: End }
    | { readonly kind: "goodbye"; readonly text: string }
    | { readonly kind: "probe"; readonly number: number; readonly process: bigint; readonly wait: bigint; readonly path: readonly string[] }
    | { readonly kind: "descriptors"; readonly number: number; readonly count: number }
    | { readonly kind: "received"; readonly number: number }
    | { readonly kind: "link"; readonly link: bigint; readonly number: number; readonly linker: number; readonly name: string }
    | { readonly kind: "unlink"; readonly byReader: boolean; readonly link: bigint };

const KINDS = {
    hello: 1,
    tell: 2,
    answer: 3,
    failed: 4,
    release: 5,
    watch: 6,
    ended: 7,
    stop: 8,
    finish: 9,
    goodbye: 10,
    confirm: 11,
    probe: 12,
    descriptors: 13,
    received: 14,
    unwatch: 15,
    link: 16,
    unlink: 17,
} as const satisfies Record<Frame["kind"], number>;

const FATES: readonly Fate[] = ["not begun", "begun", "unknown"];
const PLAIN_FAILURES = ["unanswered", "stopped", "full", "hung"] as const;
const TEXT_FAILURES = ["not-decodable", "not-encodable", "too-large", "other"] as const;
const PLAIN_ENDS = ["stopped", "no addresses", "home ended"] as const;
/** Names in a chain of links, at most. */
const MOST_LINKED = 64;

/** Appends a frame with its length. */
export function write(frame: Frame, output: Output): void {
    const start = output.length;
    output.int32(0);
    output.byte(KINDS[frame.kind]);
    switch (frame.kind) {
        case "hello":
            output.bytes(MAGIC);
            output.number(VERSION);
            output.number(frame.most);
            output.byte(frame.encoding);
            output.text(frame.program);
            output.byte(frame.root === undefined ? 0 : 1);
            if (frame.root !== undefined) {
                output.text(frame.root.type);
                output.number(frame.root.window);
            }
            break;
        case "tell":
        case "answer":
            output.number(frame.number);
            output.number(frame.body.replies.length);
            for (const reply of frame.body.replies) output.number(reply);
            output.number(frame.body.exports.length);
            for (const { actor, window } of frame.body.exports) {
                output.number(actor);
                output.number(window);
            }
            output.bytes(frame.body.payload);
            break;
        case "failed":
            output.number(frame.number);
            writeFailure(frame.failure, output);
            break;
        case "release":
        case "confirm":
        case "descriptors":
            output.number(frame.number);
            output.number(frame.count);
            break;
        case "watch":
        case "unwatch":
        case "stop":
        case "finish":
        case "received":
            output.number(frame.number);
            break;
        case "ended":
            output.number(frame.number);
            writeEnd(frame.end, output);
            break;
        case "goodbye":
            output.text(frame.text);
            break;
        case "probe":
            output.number(frame.number);
            output.number(frame.process);
            output.number(frame.wait);
            output.number(frame.path.length);
            for (const name of frame.path) output.text(name);
            break;
        case "link":
            output.number(frame.link);
            output.number(frame.number);
            output.number(frame.linker);
            output.text(frame.name);
            break;
        case "unlink":
            output.byte(frame.byReader ? 1 : 0);
            output.number(frame.link);
            break;
    }
    output.setLength(start, output.length - start - LENGTH);
}

function writeFailure(failure: Failure, output: Output): void {
    switch (failure.why) {
        case "panicked":
            output.byte(4);
            output.text(failure.name);
            output.text(failure.text);
            break;
        case "exited":
        case "killed":
            output.byte(failure.why === "exited" ? 9 : 10);
            output.int32(failure.code);
            break;
        case "unanswered":
        case "stopped":
        case "full":
        case "hung":
            output.byte(PLAIN_FAILURES.indexOf(failure.why));
            break;
        case "dropped":
            output.byte(12);
            break;
        case "refused":
            output.byte(11);
            output.text(failure.text);
            break;
        default:
            output.byte(5 + TEXT_FAILURES.indexOf(failure.why));
            output.byte(FATES.indexOf(failure.fate));
            output.text(failure.text);
    }
}

function writeEnd(end: End, output: Output): void {
    switch (end.why) {
        case "panicked":
            output.byte(3);
            output.text(end.text);
            break;
        case "gave up":
            output.byte(4);
            output.number(end.restarts);
            output.text(end.text);
            break;
        case "linked":
            output.byte(5);
            output.number(end.names.length);
            for (const name of end.names) output.text(name);
            writeEnd(end.end, output);
            break;
        case "link lost":
            output.byte(6);
            output.text(end.text);
            break;
        case "exited":
        case "killed":
            output.byte(end.why === "exited" ? 7 : 8);
            output.int32(end.code);
            break;
        default:
            output.byte(PLAIN_ENDS.indexOf(end.why));
    }
}

/** Reads a frame, without its length. Throws a `LinkError` with the code `protocol` if it is none. */
export function read(bytes: Uint8Array): Frame {
    const input = new Input(bytes);
    const kind = input.byte("its kind");
    const frame = readKind(kind, input);
    input.end("a frame");
    return frame;
}

function readKind(kind: number, input: Input): Frame {
    switch (kind) {
        case KINDS.hello: {
            const magic = input.take(MAGIC.length, "the letters TTLK");
            if (magic.some((byte, at) => byte !== MAGIC[at])) throw protocol("it does not begin with the letters TTLK");
            const version = input.clamped("the version");
            if (version !== VERSION) {
                throw protocol(`it speaks version ${version}, and this page version ${VERSION}: take @tamtam/web and the server of the same version`);
            }
            const most = input.clamped("the longest frame");
            const encoding = input.byte("how messages are written");
            const program = input.text("the name of the program");
            const has = input.byte("whether there is a root");
            if (has > 1) throw protocol(`${has} does not say whether there is a root`);
            const root = has === 0 ? undefined : { type: input.text("the type of the root's messages"), window: input.clamped("the window of the root") };
            return { kind: "hello", most, encoding, program, root };
        }
        case KINDS.tell:
        case KINDS.answer: {
            const number = input.number("the number of the actor or reply");
            const replies = Array.from({ length: input.count(1, "the replies") }, () => input.number("a reply"));
            const exports = Array.from({ length: input.count(2, "the exported actors") }, () => ({
                actor: input.number("an exported actor"),
                window: input.clamped("its window"),
            }));
            return { kind: kind === KINDS.tell ? "tell" : "answer", number, body: { replies, exports, payload: input.rest() } };
        }
        case KINDS.failed:
            return { kind: "failed", number: input.number("a reply"), failure: readFailure(input) };
        case KINDS.release:
        case KINDS.confirm: {
            const number = input.number("an actor");
            return { kind: kind === KINDS.release ? "release" : "confirm", number, count: input.number("a count") };
        }
        case KINDS.watch:
            return { kind: "watch", number: input.number("an actor") };
        case KINDS.unwatch:
            return { kind: "unwatch", number: input.number("an actor") };
        case KINDS.stop:
            return { kind: "stop", number: input.number("an actor") };
        case KINDS.finish:
            return { kind: "finish", number: input.number("an actor") };
        case KINDS.ended:
            return { kind: "ended", number: input.number("an actor"), end: readEnd(input, true) };
        case KINDS.goodbye:
            return { kind: "goodbye", text: input.text("the words of goodbye") };
        case KINDS.probe: {
            const number = input.number("an actor");
            const process = input.wide("the process that a probe is from");
            const wait = input.wide("the wait that it is from");
            const path = Array.from({ length: input.count(1, "the way that it has come") }, () => input.text("a name on its way"));
            return { kind: "probe", number, process, wait, path };
        }
        case KINDS.descriptors: {
            const number = input.number("the number of what has descriptors");
            return { kind: "descriptors", number, count: input.number("how many those are") };
        }
        case KINDS.received:
            return { kind: "received", number: input.number("the number of what had descriptors") };
        case KINDS.link: {
            const link = input.wide("a link");
            const number = input.number("an actor");
            const linker = input.number("the actor that is linked with it");
            return { kind: "link", link, number, linker, name: input.text("the name of that one") };
        }
        case KINDS.unlink: {
            const maker = input.byte("which side has made a link");
            if (maker > 1) throw protocol(`${maker} does not say which side has made a link`);
            return { kind: "unlink", byReader: maker === 1, link: input.wide("a link") };
        }
        default:
            throw protocol(`no frame is of kind ${kind}`);
    }
}

function readFailure(input: Input): Failure {
    const why = input.byte("why there is no answer");
    const plain = PLAIN_FAILURES[why];
    if (plain !== undefined) return { why: plain };
    if (why === 4) return { why: "panicked", name: input.text("the name of the actor"), text: input.text("what the panic said") };
    const said = TEXT_FAILURES[why - 5];
    if (said !== undefined) {
        const number = input.byte("how far a question had got");
        const fate = FATES[number];
        if (fate === undefined) throw protocol(`${number} does not say how far a question had got`);
        return { why: said, fate, text: input.text("why there is no answer") };
    }
    if (why === 9 || why === 10) return { why: why === 9 ? "exited" : "killed", code: input.int32("how a process has ended") };
    if (why === 11) return { why: "refused", text: input.text("why a question is refused") };
    if (why === 12) return { why: "dropped" };
    throw protocol(`${why} does not say why there is no answer`);
}

function readEnd(input: Input, mayBeLinked: boolean): End {
    const why = input.byte("why an actor has ended");
    const plain = PLAIN_ENDS[why];
    if (plain !== undefined) return { why: plain };
    switch (why) {
        case 3:
            return { why: "panicked", text: input.text("what the panic said") };
        case 4:
            return { why: "gave up", restarts: input.number("the number of restarts"), text: input.text("what the panic said") };
        case 5: {
            if (!mayBeLinked) break;
            const count = input.count(1, "the actors of a chain of links");
            if (count === 0 || count > MOST_LINKED) throw protocol(`a chain of links has ${count} names, and may have 1 to ${MOST_LINKED}`);
            const names = Array.from({ length: count }, () => input.text("a name in a chain of links"));
            return { why: "linked", names, end: readEnd(input, false) };
        }
        case 6:
            return { why: "link lost", text: input.text("how the link was lost") };
        case 7:
        case 8:
            return { why: why === 7 ? "exited" : "killed", code: input.int32("how a process has ended") };
    }
    throw protocol(`${why} does not say why an actor has ended`);
}

/** Whether an actor that is linked with one that has ended so ends with it. */
export function isAbnormal(end: End): boolean {
    return PLAIN_ENDS.every((plain) => plain !== end.why);
}

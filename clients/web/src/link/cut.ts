// What is said for people, cut to what the other side takes.

import type { Output } from "./bytes.js";
import { LENGTH, write, type End, type Failure, type Frame } from "./frame.js";

/** Stands for what was cut off. */
const MORE = "…";
const encoder = new TextEncoder();
const MORE_BYTES = encoder.encode(MORE).length;
/** Bytes of a number, at most. */
const LONGEST_NUMBER = 10;
/** What a frame with texts has beside them, at most: its kind, that of a reason, other single bytes, and numbers, with the lengths of the texts. */
const BESIDE_TEXTS = 2 + 5 * LONGEST_NUMBER;

/**
 * Appends a frame with its length, as `write`: of what is said for people in it as much as has room in so many bytes, without the length. A
 * message or an answer, of which all has to go, is refused by the caller if it has more.
 */
export function writeWithin(frame: Frame, most: number, output: Output): void {
    const before = output.length;
    write(frame, output);
    if (output.length - before - LENGTH <= most) return;
    output.truncate(before);
    write(cutFrame(frame, Math.max(0, most - BESIDE_TEXTS)), output);
}

/** A frame whose texts have so many bytes at most, in all. */
function cutFrame(frame: Frame, room: number): Frame {
    switch (frame.kind) {
        case "hello": {
            const half = Math.floor(room / 2);
            const root = frame.root === undefined ? undefined : { ...frame.root, type: cutText(frame.root.type, half) };
            return { ...frame, program: cutText(frame.program, half), root };
        }
        case "failed":
            return { ...frame, failure: cutFailure(frame.failure, room) };
        case "ended":
            return { ...frame, end: cutEnd(frame.end, room) };
        case "goodbye":
            return { ...frame, text: cutText(frame.text, room) };
        // A page makes no links and begins no probes: no other frame that it says has a text.
        default:
            return frame;
    }
}

function cutFailure(failure: Failure, room: number): Failure {
    switch (failure.why) {
        case "panicked": {
            const name = cutText(failure.name, Math.floor(room / 4));
            return { ...failure, name, text: cutText(failure.text, room - byteLength(name)) };
        }
        case "not-decodable":
        case "not-encodable":
        case "too-large":
        case "other":
        case "refused":
            return { ...failure, text: cutText(failure.text, room) };
        default:
            return failure;
    }
}

function cutEnd(end: End, room: number): End {
    switch (end.why) {
        case "panicked":
        case "gave up":
        case "link lost":
            return { ...end, text: cutText(end.text, room) };
        case "linked": {
            const half = Math.floor(room / 2);
            return { ...end, names: cutNames(end.names, half), end: cutEnd(end.end, half) };
        }
        default:
            return end;
    }
}

/** The first names, as many as have room in so many bytes with their lengths, and one at least. */
function cutNames(names: readonly string[], room: number): readonly string[] {
    const cut: string[] = [];
    for (const name of names) {
        if (cut.length > 0 && room <= LONGEST_NUMBER) break;
        const kept = cutText(name, Math.max(0, room - LONGEST_NUMBER));
        room -= LONGEST_NUMBER + byteLength(kept);
        cut.push(kept);
    }
    return cut;
}

/** A text in so many bytes, which shows whether something was cut off. */
function cutText(text: string, room: number): string {
    if (unitsWithin(text, room) === text.length) return text;
    return text.slice(0, unitsWithin(text, Math.max(0, room - MORE_BYTES))) + MORE;
}

/** How many code units of a text have room in so many bytes, by whole characters. */
function unitsWithin(text: string, room: number): number {
    // No code unit of a text has more than three bytes.
    return encoder.encodeInto(text, new Uint8Array(Math.min(room, text.length * 3))).read;
}

function byteLength(text: string): number {
    return encoder.encode(text).length;
}

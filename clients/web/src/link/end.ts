// How links and actors end, in words, and what those who ask are told of that.

import { LinkError } from "./error.js";
import type { End, Failure } from "./frame.js";

/** How a link has ended. */
export interface LinkEnd {
    /** This page has closed it; the other side has said goodbye; what carries it is gone; or one side does not keep to the protocol. */
    readonly how: "closed" | "goodbye" | "lost" | "protocol";
    /** What was said, in words. */
    readonly text: string;
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
            return describeKill(end.code);
        default:
            return end.why === "stopped" ? "it was stopped" : end.why === "no addresses" ? "it had no addresses left" : "its home has ended";
    }
}

/** In a signal's place: how the process has ended is not known. */
const NO_SIGNAL = 0;
/** In a signal's place: the process was killed, for it did not come back from a message. */
const HUNG = -1;

function describeKill(code: number): string {
    switch (code) {
        case NO_SIGNAL:
            return "how its process has ended is not known";
        case HUNG:
            return "its process was killed by its parent, since it was at one message for longer than it may be";
        default:
            return `its process was killed by signal ${code}`;
    }
}

/** What is thrown of an actor that has ended so. */
export function stopped(end: End): LinkError {
    return end.why === "link lost" ? new LinkError("ended", `the link to the actor has ended: ${end.text}`) : new LinkError("stopped", `the actor has ended: ${describeEnd(end)}`);
}

/** How an actor has ended that was linked with one that has ended so. */
export function chained(end: End): End {
    return end.why === "linked" ? { why: "linked", names: ["", ...end.names].slice(0, 64), end: end.end } : { why: "linked", names: [""], end };
}

/** What the other side says of a question, as an error. */
export function failureError(failure: Failure): LinkError {
    switch (failure.why) {
        case "unanswered":
            return new LinkError("unanswered", "the reply was dropped unanswered", "begun");
        case "stopped":
            return new LinkError("stopped", "the actor had stopped", "unknown");
        case "full":
            return new LinkError("full", "the actor's mailbox was full", "not begun");
        case "dropped":
            return new LinkError("full", "the actor's mailbox dropped the question for others", "unknown");
        case "hung":
            return new LinkError("hung", "the actor's handler did not come back", "begun");
        case "panicked":
            return new LinkError("panicked", `the actor ${failure.name === "" ? "" : `${failure.name} `}panicked: ${failure.text}`, "begun");
        case "exited":
        case "killed":
            return new LinkError("stopped", describeEnd(failure), "begun");
        case "refused":
            return new LinkError("refused", failure.text, "begun");
        default:
            return new LinkError(failure.why, failure.text, failure.fate);
    }
}

/** An error, as the other side is told of it. */
export function errorFailure(error: LinkError): Failure {
    const { code, message: text, fate } = error;
    switch (code) {
        case "unanswered":
        case "stopped":
        case "hung":
            return { why: code };
        case "full":
            // One behind this page that has dropped it: the page has begun it.
            return { why: fate === "not begun" ? "full" : "dropped" };
        case "panicked":
            return { why: code, name: "", text };
        case "refused":
            return { why: code, text };
        case "not-decodable":
        case "not-encodable":
        case "too-large":
            return { why: code, fate, text };
        default:
            return { why: "other", fate, text };
    }
}

/** What the one who asks is told of an answer that could not be sent. */
export function unsent(error: LinkError): Failure {
    const text = `the answer was not sent: ${error.message}`;
    const why = error.code === "too-large" || error.code === "not-encodable" ? error.code : "other";
    return { why, fate: "begun", text };
}

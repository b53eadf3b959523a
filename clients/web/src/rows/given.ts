// What a program gives to be decoded, and what is said where that is something else: a promise, most often, for which an
// `await` was forgotten. Type checking finds it, but not in a page of plain JavaScript.

/** The bytes in a buffer or in any view of one, not copied, unless others share them: browsers read no text out of such. */
export function bytesOf(given: unknown): Uint8Array<ArrayBuffer> {
    if (given instanceof Uint8Array) return own(given);
    if (ArrayBuffer.isView(given)) return own(new Uint8Array(given.buffer, given.byteOffset, given.byteLength));
    // By its tag: a buffer from another frame of the page has another constructor.
    const tag = tagOf(given);
    if (tag === "ArrayBuffer" || tag === "SharedArrayBuffer") return own(new Uint8Array(given as ArrayBufferLike));
    throw new TypeError(`decode needs an ArrayBuffer or a Uint8Array and was given ${named(given)}${helpForBytes(given)}`);
}

function own(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
    return tagOf(bytes.buffer) === "SharedArrayBuffer" ? new Uint8Array(bytes) : (bytes as Uint8Array<ArrayBuffer>);
}

/** The stream, which must be one. */
export function asStream(given: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    if (hasMethod(given, "getReader")) return given;
    throw new TypeError(`decodeStream needs a ReadableStream and was given ${named(given)}${helpForStream(given)}`);
}

function helpForBytes(given: unknown): string {
    if (isPromise(given)) return ": await it first, as in decode(await response.arrayBuffer())";
    if (hasMethod(given, "arrayBuffer")) return ": await its bytes, as in decode(await response.arrayBuffer())";
    if (hasMethod(given, "getReader")) return ": decodeStream reads streams";
    return "";
}

function helpForStream(given: unknown): string {
    if (isPromise(given)) return ": await it first, as in decodeStream((await fetch(address)).body)";
    if (given === null) return ": this response has no body";
    if (typeof given === "object" && "body" in given) return ": give its body, as in decodeStream(response.body)";
    if (ArrayBuffer.isView(given) || tagOf(given) === "ArrayBuffer") return ": decode reads bytes that are all there";
    return "";
}

function isPromise(given: unknown): boolean {
    return hasMethod(given, "then");
}

function hasMethod(given: unknown, name: string): boolean {
    return typeof given === "object" && given !== null && typeof (given as { [name: string]: unknown })[name] === "function";
}

/** The name that the language gives to a kind of object: "ArrayBuffer", "Promise", "Response". */
function tagOf(given: unknown): string {
    return Object.prototype.toString.call(given).slice("[object ".length, -1);
}

function named(given: unknown): string {
    if (given === null || given === undefined) return String(given);
    if (typeof given !== "object") return `a ${typeof given}`;
    const tag = tagOf(given);
    return /^[AEIO]/.test(tag) ? `an ${tag}` : `a ${tag}`;
}

// Values out of MessagePack, as far as tables have them.

export function messagePack(bytes: Uint8Array<ArrayBuffer>): unknown {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const utf8 = new TextDecoder();
    let at = 0;
    const text = (length: number): string => {
        const begin = at;
        at += length;
        if (at > bytes.length) throw new Error("the answer is cut off");
        // Short texts are letters of ASCII nearly always, and a decoder costs more than these.
        if (length < 16) {
            let short = "";
            for (let place = begin; place < at; place++) {
                const letter = bytes[place];
                if (letter > 127) return utf8.decode(bytes.subarray(begin, at));
                short += String.fromCharCode(letter);
            }
            return short;
        }
        return utf8.decode(bytes.subarray(begin, at));
    };
    const skip = (length: number): number => {
        const begin = at;
        at += length;
        return begin;
    };
    const list = (length: number): unknown[] => {
        if (length > bytes.length) throw new Error("a list is longer than the answer");
        const values: unknown[] = new Array(length);
        for (let place = 0; place < length; place++) values[place] = value();
        return values;
    };
    const map = (length: number): Record<string, unknown> => {
        const members: Record<string, unknown> = {};
        for (let place = 0; place < length; place++) {
            const name = value();
            if (typeof name !== "string" || name === "__proto__") throw new Error(`${name} is no name of a member`);
            members[name] = value();
        }
        return members;
    };
    const value = (): unknown => {
        const kind = view.getUint8(skip(1));
        if (kind < 0x80) return kind;
        if (kind >= 0xe0) return kind - 256;
        if (kind < 0x90) return map(kind & 15);
        if (kind < 0xa0) return list(kind & 15);
        if (kind < 0xc0) return text(kind & 31);
        switch (kind) {
            case 0xc0:
                return null;
            case 0xc2:
                return false;
            case 0xc3:
                return true;
            case 0xca:
                return view.getFloat32(skip(4));
            case 0xcb:
                return view.getFloat64(skip(8));
            case 0xcc:
                return view.getUint8(skip(1));
            case 0xcd:
                return view.getUint16(skip(2));
            case 0xce:
                return view.getUint32(skip(4));
            case 0xd0:
                return view.getInt8(skip(1));
            case 0xd1:
                return view.getInt16(skip(2));
            case 0xd2:
                return view.getInt32(skip(4));
            case 0xd9:
                return text(view.getUint8(skip(1)));
            case 0xda:
                return text(view.getUint16(skip(2)));
            case 0xdb:
                return text(view.getUint32(skip(4)));
            case 0xdc:
                return list(view.getUint16(skip(2)));
            case 0xdd:
                return list(view.getUint32(skip(4)));
            case 0xde:
                return map(view.getUint16(skip(2)));
            case 0xdf:
                return map(view.getUint32(skip(4)));
            default:
                throw new Error(`the answer has a value of kind 0x${kind.toString(16)}, which is not read here`);
        }
    };
    const whole = value();
    if (at !== bytes.length) throw new Error("something follows the answer");
    return whole;
}

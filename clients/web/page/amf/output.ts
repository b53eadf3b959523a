// The bytes of a call in AMF.

export class Output {
    readonly #bytes: number[] = [];

    bytes(): Uint8Array<ArrayBuffer> {
        return Uint8Array.from(this.#bytes);
    }

    u8(value: number): this {
        this.#bytes.push(value);
        return this;
    }

    u16(value: number): this {
        return this.u8((value >>> 8) & 255).u8(value & 255);
    }

    u32(value: number): this {
        return this.u16(value >>> 16).u16(value & 0xffff);
    }

    f64(value: number): this {
        const bytes = new DataView(new ArrayBuffer(8));
        bytes.setFloat64(0, value);
        return this.raw(new Uint8Array(bytes.buffer));
    }

    /** The lowest 29 bits, in one to four bytes. */
    u29(value: number): this {
        const bits = value & 0x1fff_ffff;
        if (bits >= 0x20_0000) return this.u8((bits >>> 22) | 0x80).u8(((bits >>> 15) & 0x7f) | 0x80).u8(((bits >>> 8) & 0x7f) | 0x80).u8(bits & 255);
        if (bits >= 0x4000) this.u8((bits >>> 14) | 0x80);
        if (bits >= 0x80) this.u8(((bits >>> 7) & 0x7f) | 0x80);
        return this.u8(bits & 0x7f);
    }

    raw(bytes: Uint8Array): this {
        for (const byte of bytes) this.#bytes.push(byte);
        return this;
    }
}

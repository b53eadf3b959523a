// What a client does with the rows of the article's table: it makes a tile of each.

export interface Tile {
    n: number;
    x: number;
    y: number;
    color: string;
    rotation: number;
}

export type CreateTile = (n: number, x: number, y: number, color: string, rotation: number) => void;

/** Takes the bytes of a form and calls `createTile` for each row. */
export type Contender = (bytes: Uint8Array<ArrayBuffer>, createTile: CreateTile) => void;

/** A place for tiles. The array is new for each decoding, as it would be in a client. */
export class Stage {
    tiles: Tile[] = [];

    readonly createTile: CreateTile = (n, x, y, color, rotation) => {
        const { tiles } = this;
        // Not by `push`: of an array whose first element is yet to come, engines do not make it part of the loop.
        tiles[tiles.length] = { n, x, y, color, rotation };
    };

    clear(): void {
        this.tiles = [];
    }
}

/**
 * A figure for what all tiles hold, in order. A value of another type than it should have (a number that is still
 * text, say) is an error, so that no contender wins by leaving work undone.
 */
export function checksum(tiles: readonly Tile[]): string {
    let sum = 2166136261;
    const mix = (value: number): void => {
        sum = Math.imul(sum ^ value, 16777619);
        sum ^= sum >>> 13;
    };
    for (const tile of tiles) {
        for (const value of [tile.n, tile.x, tile.y, tile.rotation]) {
            if (typeof value !== "number" || !Number.isInteger(value)) throw new Error(`${value} is no whole number`);
            mix(value);
        }
        if (typeof tile.color !== "string") throw new Error(`${tile.color} is no text`);
        for (let at = 0; at < tile.color.length; at++) mix(tile.color.charCodeAt(at));
    }
    return `${tiles.length}:${(sum >>> 0).toString(16)}`;
}

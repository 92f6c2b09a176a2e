/* Strokes of a pen, on a grid that is finer than the pixels of the picture: a pixel is the mean of its part of it. */

const FINE_SIDE = 128; /* about how many fine points the longer side of a picture has */
const DRAWN = 0.25; /* of a fine point that belongs to a drawing */
const MOST_SCALE = 4; /* a dot must not become a blot */

class Strokes {
    constructor(rows, columns) {
        this.rows = rows;
        this.columns = columns;
        this.per = Math.max(4, Math.round(FINE_SIDE / Math.max(rows, columns))); /* fine points along a pixel */
        this.height = rows * this.per;
        this.width = columns * this.per;
        this.ink = new Float32Array(this.height * this.width);
    }

    /* Puts a picture of shares in the place of all strokes. */
    fill(shares) {
        for (let y = 0; y < this.height; ++y) {
            for (let x = 0; x < this.width; ++x) {
                const at = Math.floor(y / this.per) * this.columns + Math.floor(x / this.per);
                this.ink[y * this.width + x] = clip(shares[at], 0, 1);
            }
        }
    }

    /* Sets one pixel. */
    dab(row, column, share) {
        for (let y = row * this.per; y < (row + 1) * this.per; ++y) {
            this.ink.fill(share, y * this.width + column * this.per, y * this.width + (column + 1) * this.per);
        }
    }

    /* Draws a line with a soft edge; places and width are in pixels. */
    line(from, to, width, erases) {
        const { per } = this;
        const [ax, ay, bx, by] = [from.x * per, from.y * per, to.x * per, to.y * per];
        const radius = (width * per) / 2;
        const edge = Math.max(1, per / 4); /* over which the ink fades */
        const reach = radius + edge;
        const length = (bx - ax) ** 2 + (by - ay) ** 2;
        const rows = [Math.floor(Math.min(ay, by) - reach), Math.ceil(Math.max(ay, by) + reach)];
        const columns = [Math.floor(Math.min(ax, bx) - reach), Math.ceil(Math.max(ax, bx) + reach)];
        for (let y = Math.max(0, rows[0]); y < Math.min(this.height, rows[1]); ++y) {
            for (let x = Math.max(0, columns[0]); x < Math.min(this.width, columns[1]); ++x) {
                const [px, py] = [x + 0.5 - ax, y + 0.5 - ay];
                const along = length > 0 ? clip((px * (bx - ax) + py * (by - ay)) / length, 0, 1) : 0;
                const distance = Math.hypot(px - along * (bx - ax), py - along * (by - ay));
                const share = clip((radius - distance) / edge + 0.5, 0, 1);
                const at = y * this.width + x;
                this.ink[at] = erases ? Math.min(this.ink[at], 1 - share) : Math.max(this.ink[at], share);
            }
        }
    }

    /* The picture: the mean of every pixel's fine points. */
    shares(ink = this.ink) {
        const sums = new Float64Array(this.rows * this.columns);
        for (let y = 0; y < this.height; ++y) {
            for (let x = 0; x < this.width; ++x) {
                const at = Math.floor(y / this.per) * this.columns + Math.floor(x / this.per);
                sums[at] += ink[y * this.width + x];
            }
        }
        return sums.map((sum) => sum / this.per ** 2);
    }

    /* The same picture, with its longer side and its centre of mass as those of the rows, but inside the frame. */
    fitted(side, centre) {
        const found = this.measure();
        if (found === null) {
            return this.shares();
        }
        const scale = clip((side * this.per) / Math.max(found.bottom - found.top, found.right - found.left), 0.25, MOST_SCALE);
        const y0 = inside(centre[0] * this.per, (found.top - found.y) * scale, (found.bottom - found.y) * scale, this.height);
        const x0 = inside(centre[1] * this.per, (found.left - found.x) * scale, (found.right - found.x) * scale, this.width);
        const moved = new Float32Array(this.ink.length);
        for (let y = 0; y < this.height; ++y) {
            for (let x = 0; x < this.width; ++x) {
                moved[y * this.width + x] = this.at((y + 0.5 - y0) / scale + found.y, (x + 0.5 - x0) / scale + found.x);
            }
        }
        return this.shares(moved);
    }

    /* Where the drawing is, in fine points: its edges and its centre of mass; null where there is none. */
    measure() {
        const found = { top: Infinity, bottom: -Infinity, left: Infinity, right: -Infinity, y: 0, x: 0 };
        let mass = 0;
        for (let y = 0; y < this.height; ++y) {
            for (let x = 0; x < this.width; ++x) {
                const share = this.ink[y * this.width + x];
                if (share >= DRAWN) {
                    found.top = Math.min(found.top, y);
                    found.bottom = Math.max(found.bottom, y + 1);
                    found.left = Math.min(found.left, x);
                    found.right = Math.max(found.right, x + 1);
                }
                mass += share;
                found.y += share * (y + 0.5);
                found.x += share * (x + 0.5);
            }
        }
        if (found.bottom < found.top) {
            return null;
        }
        found.y /= mass;
        found.x /= mass;
        return found;
    }

    /* The ink between fine points, 0 beyond the frame. */
    at(y, x) {
        const [top, left] = [Math.floor(y - 0.5), Math.floor(x - 0.5)];
        const [down, across] = [y - 0.5 - top, x - 0.5 - left];
        const ink = (r, c) => (r >= 0 && r < this.height && c >= 0 && c < this.width ? this.ink[r * this.width + c] : 0);
        const above = ink(top, left) * (1 - across) + ink(top, left + 1) * across;
        const below = ink(top + 1, left) * (1 - across) + ink(top + 1, left + 1) * across;
        return above * (1 - down) + below * down;
    }
}

/* Where a centre must be so that what reaches from it is inside 0 to size, as near to the wanted place as can be. */
function inside(wanted, before, after, size) {
    const [least, most] = [-before, size - after];
    return least > most ? (least + most) / 2 : clip(wanted, least, most);
}

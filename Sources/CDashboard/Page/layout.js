// Places the nodes of a graph: they push each other away, far ones together as Barnes and Hut do it, and edges pull.

/** How far away a group of nodes counts as one, in the square of its width by its distance. */
const NEAR = 0.8;
const PUSH = 60, LENGTH = 34, CENTER = 0.04, FRICTION = 0.6, COOLING = 0.0228, COLD = 0.003;
/** Nodes at one place are not told apart beyond this depth. */
const DEEPEST = 24;

export class Layout {
    #speedX; #speedY; #heat = 1;
    /** The node that is next in this round. */
    #next = 0;
    /** The tree: a square's bodies with their centre, its four quarters, or the node that is alone in it. */
    #weight; #sumX; #sumY; #quarter; #only; #size = 0;

    /** `edges` are pairs of places in the list of nodes. */
    constructor(count, edges) {
        this.count = count;
        this.edges = edges;
        this.x = new Float64Array(count);
        this.y = new Float64Array(count);
        this.#speedX = new Float64Array(count);
        this.#speedY = new Float64Array(count);
        this.degree = new Int32Array(count);
        for (const [from, to] of edges) { this.degree[from]++; this.degree[to]++; }
        // A spiral in which no two nodes meet, the same each time.
        for (let node = 0; node < count; node++) {
            const radius = 12 * Math.sqrt(0.5 + node), angle = node * Math.PI * (3 - Math.sqrt(5));
            this.x[node] = radius * Math.cos(angle);
            this.y[node] = radius * Math.sin(angle);
        }
    }

    get isDone() { return this.count === 0 || (this.#heat < COLD && this.#next === 0); }

    /** Goes on until a moment, as `performance.now()` tells it: each round moves every node a little, and less each time. */
    advance(until) {
        while (!this.isDone) {
            if (this.#next === 0) {
                this.#heat *= 1 - COOLING;
                this.#pull();
                this.#plant();
            }
            while (this.#next < this.count) {
                this.#push(this.#next++);
                if (this.#next % 64 === 0 && performance.now() > until) return;
            }
            this.#next = 0;
            this.#move();
            if (performance.now() > until) return;
        }
    }

    #move() {
        const {x, y, count} = this, speedX = this.#speedX, speedY = this.#speedY, home = CENTER * this.#heat;
        for (let node = 0; node < count; node++) {
            x[node] += speedX[node] = (speedX[node] - x[node] * home) * FRICTION;
            y[node] += speedY[node] = (speedY[node] - y[node] * home) * FRICTION;
        }
    }

    #pull() {
        const {x, y, degree} = this;
        for (const [from, to] of this.edges) {
            if (from === to) continue;
            const dx = x[to] - x[from], dy = y[to] - y[from];
            const distance = Math.hypot(dx, dy) || 1;
            const force = (distance - LENGTH) / distance * this.#heat / Math.min(degree[from], degree[to]);
            // The one with fewer edges moves further.
            const share = degree[from] / (degree[from] + degree[to]);
            this.#speedX[to] -= dx * force * share;
            this.#speedY[to] -= dy * force * share;
            this.#speedX[from] += dx * force * (1 - share);
            this.#speedY[from] += dy * force * (1 - share);
        }
    }

    /** Makes the tree of squares for the places of now. */
    #plant() {
        const {x, y, count} = this;
        let reach = 1;
        for (let node = 0; node < count; node++) reach = Math.max(reach, Math.abs(x[node]), Math.abs(y[node]));
        this.reach = reach;
        // The width of a square that has no quarters, however many nodes are in it.
        this.leaf = reach * 2 / 2 ** (DEEPEST - 0.5);
        const room = count * 8 + 64;
        if (!this.#weight || this.#weight.length < room) this.#grow(room);
        this.#size = 0;
        this.#square();
        for (let node = 0; node < count; node++) this.#insert(node);
    }

    #grow(room) {
        const longer = (old, make) => { const next = make(room); if (old) next.set(old); return next; };
        this.#weight = longer(this.#weight, length => new Float64Array(length));
        this.#sumX = longer(this.#sumX, length => new Float64Array(length));
        this.#sumY = longer(this.#sumY, length => new Float64Array(length));
        this.#only = longer(this.#only, length => new Int32Array(length));
        const quarter = new Int32Array(room * 4);
        if (this.#quarter) quarter.set(this.#quarter);
        this.#quarter = quarter;
    }

    #square() {
        const square = this.#size++;
        if (square >= this.#weight.length) this.#grow(square * 2);
        this.#weight[square] = this.#sumX[square] = this.#sumY[square] = 0;
        this.#only[square] = -1;
        this.#quarter.fill(0, square * 4, square * 4 + 4);
        return square;
    }

    #insert(node) {
        let square = 0, middleX = 0, middleY = 0, half = this.reach;
        for (let depth = 0; ; depth++) {
            const isEmpty = this.#weight[square] === 0;
            this.#weight[square]++;
            this.#sumX[square] += this.x[node];
            this.#sumY[square] += this.y[node];
            if (isEmpty) { this.#only[square] = node; return; }
            if (depth === DEEPEST) { this.#only[square] = -1; return; }
            const moved = this.#only[square];
            half /= 2;
            if (moved >= 0) {
                // The one that was alone here goes down a quarter.
                this.#only[square] = -1;
                const below = this.#below(square, moved, middleX, middleY);
                this.#weight[below] = 1;
                this.#sumX[below] = this.x[moved];
                this.#sumY[below] = this.y[moved];
                this.#only[below] = moved;
            }
            const next = this.#below(square, node, middleX, middleY);
            middleX += this.x[node] < middleX ? -half : half;
            middleY += this.y[node] < middleY ? -half : half;
            square = next;
        }
    }

    /** The quarter of a square in which a node lies. */
    #below(square, node, middleX, middleY) {
        const place = square * 4 + (this.x[node] < middleX ? 0 : 1) + (this.y[node] < middleY ? 0 : 2);
        if (this.#quarter[place] === 0) {
            const made = this.#square();
            this.#quarter[place] = made;
        }
        return this.#quarter[place];
    }

    #stack = new Int32Array(4 * (DEEPEST + 2));
    #widths = new Float64Array(4 * (DEEPEST + 2));

    /** Pushes a node away from all others. */
    #push(node) {
        const stack = this.#stack, widths = this.#widths, quarter = this.#quarter;
        const weights = this.#weight, sumX = this.#sumX, sumY = this.#sumY, only = this.#only;
        const x = this.x[node], y = this.y[node], heat = this.#heat * PUSH;
        let top = 1, pushX = 0, pushY = 0;
        stack[0] = 0;
        widths[0] = this.reach * 2;
        while (top > 0) {
            const square = stack[--top], width = widths[top], weight = weights[square], first = square * 4;
            if (only[square] === node) continue;
            let dx = sumX[square] / weight - x, dy = sumY[square] / weight - y;
            const distance = dx * dx + dy * dy;
            if (only[square] < 0 && width * width > NEAR * distance && width > this.leaf) {
                for (let each = first; each < first + 4; each++) {
                    if (quarter[each] === 0) continue;
                    stack[top] = quarter[each];
                    widths[top++] = width / 2;
                }
                continue;
            }
            // Nodes at one place go apart in directions of their own.
            if (distance < 0.01) { dx = Math.cos(node); dy = Math.sin(node); }
            const force = heat * weight / Math.max(distance, 1);
            pushX -= dx * force;
            pushY -= dy * force;
        }
        this.#speedX[node] += pushX;
        this.#speedY[node] += pushY;
    }
}

/* Pictures: shares of ink, from 0 (paper) to 1, row by row. */

/* Draws shares as squares that fill the canvas. */
function drawCells(context, shares, rows, columns, width, height) {
    const [paper, ink] = [colour("paper"), colour("pen")];
    context.fillStyle = paper;
    context.fillRect(0, 0, width, height);
    context.fillStyle = ink;
    for (let r = 0; r < rows; ++r) {
        const [top, bottom] = [Math.round((r * height) / rows), Math.round(((r + 1) * height) / rows)];
        for (let c = 0; c < columns; ++c) {
            const [left, right] = [Math.round((c * width) / columns), Math.round(((c + 1) * width) / columns)];
            context.globalAlpha = clip(shares[r * columns + c], 0, 1);
            context.fillRect(left, top, right - left, bottom - top);
        }
    }
    context.globalAlpha = 1;
}

function sharesOf(row, drawing) {
    return Array.from(row, (value) => (Number.isNaN(value) ? 0 : (value - drawing.paper) / (drawing.ink - drawing.paper)));
}

/* A small picture of a row. */
function thumbnail(row, drawing, size) {
    const scale = size / Math.max(drawing.rows, drawing.columns);
    const [width, height] = [drawing.columns * scale, drawing.rows * scale];
    const canvas = make("canvas", { "aria-hidden": "true" });
    function draw() {
        drawCells(sharpen(canvas, width, height), sharesOf(row, drawing), drawing.rows, drawing.columns, width, height);
    }
    draw();
    redrawnOnTheme(draw);
    return { element: canvas, show(given) { row = given; draw(); } };
}

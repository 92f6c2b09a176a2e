/* Pictures: shares of ink, from 0 (paper) to 1, row by row. */

/* Draws shares over a whole canvas, as squares or softly. */
function drawShares(context, shares, rows, columns, width, height, isSoft) {
    const mask = make("canvas", { width: columns, height: rows });
    const pixels = new ImageData(columns, rows);
    shares.forEach((share, at) => {
        pixels.data[4 * at + 3] = Math.round(255 * clip(share, 0, 1)); /* how opaque */
    });
    const ink = mask.getContext("2d");
    ink.putImageData(pixels, 0, 0);
    ink.globalCompositeOperation = "source-in";
    ink.fillStyle = colour("pen");
    ink.fillRect(0, 0, columns, rows);
    context.fillStyle = colour("sheet");
    context.fillRect(0, 0, width, height);
    context.imageSmoothingEnabled = isSoft;
    context.drawImage(mask, 0, 0, width, height);
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
        const context = sharpen(canvas, width, height);
        drawShares(context, sharesOf(row, drawing), drawing.rows, drawing.columns, width, height, false);
    }
    draw();
    redrawnOnTheme(draw);
    return { element: canvas, show(given) { row = given; draw(); } };
}

// Draws the icon as SVG and as PNG in two sizes from one list of shapes: a quote with the narrowing stages of a
// pipeline.
import { mkdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { crc32, deflateSync } from 'node:zlib';

const folder = new URL('../icons/', import.meta.url);
const edge = 256;

const rounded = (x, y, width, height, radius, fill) => ({ x, y, width, height, radius, fill });
const shapes = [
  rounded(0, 0, 256, 256, 56, '#14532d'),
  rounded(52, 36, 152, 184, 16, '#f8fafc'),
  rounded(72, 64, 112, 20, 10, '#94a3b8'),
  rounded(84, 98, 88, 20, 10, '#64748b'),
  rounded(98, 132, 60, 20, 10, '#475569'),
  rounded(111, 166, 34, 34, 17, '#16a34a'),
];

const toSvg = () => {
  const drawn = shapes.map(
    ({ x, y, width, height, radius, fill }) =>
      `  <rect x="${x}" y="${y}" width="${width}" height="${height}" rx="${radius}" fill="${fill}"/>\n`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${edge} ${edge}">\n${drawn.join('')}</svg>\n`;
};

/** The share of a pixel that the shape covers: antialiases edges over one pixel. */
const coverage = ({ x, y, width, height, radius }, px, py, pixel) => {
  const dx = Math.abs(px - x - width / 2) - width / 2 + radius;
  const dy = Math.abs(py - y - height / 2) - height / 2 + radius;
  const distance =
    Math.hypot(Math.max(dx, 0), Math.max(dy, 0)) + Math.min(Math.max(dx, dy), 0) - radius;
  return Math.min(1, Math.max(0, 0.5 - distance / pixel));
};

const colour = (hex) => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Red, green, blue and opacity of one pixel, with the shapes painted in order. */
const pixelAt = (column, line, pixel) =>
  shapes.reduce(
    ([red, green, blue, alpha], shape) => {
      const over = coverage(shape, (column + 0.5) * pixel, (line + 0.5) * pixel, pixel);
      const all = over + alpha * (1 - over);
      const mix = (under, top) => (all === 0 ? 0 : (top * over + under * alpha * (1 - over)) / all);
      const [r, g, b] = colour(shape.fill);
      return [mix(red, r), mix(green, g), mix(blue, b), all];
    },
    [0, 0, 0, 0],
  );

const part = (type, data) => {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, check] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  check.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, check]);
};

/** PNG of 8 bits a channel with opacity (colour type 6), every line unfiltered. */
const png = (size) => {
  const lines = Array.from({ length: size }, (_, line) => {
    const pixels = Array.from({ length: size }, (_, column) => {
      const [red, green, blue, alpha] = pixelAt(column, line, edge / size);
      return [red, green, blue, alpha * 255].map(Math.round);
    });
    return Buffer.from([0, ...pixels.flat()]);
  });
  const header = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, 6, 0, 0, 0]);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const data = deflateSync(Buffer.concat(lines), { level: 9 });
  return Buffer.concat([
    signature,
    part('IHDR', header),
    part('IDAT', data),
    part('IEND', Buffer.alloc(0)),
  ]);
};

await mkdir(fileURLToPath(folder), { recursive: true });
await writeFile(new URL('icon.svg', folder), toSvg());
for (const size of [64, 512]) await writeFile(new URL(`icon-${size}.png`, folder), png(size));

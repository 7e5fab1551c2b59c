import assert from 'node:assert/strict';
import { test } from 'node:test';
import { agentInPage, useDemo } from '../support/demo.mjs';

const demo = useDemo();

/** Runs in the page. Draws a picture of 240 × 120 whose left half is red and right half is blue. */
async function halves() {
  const canvas = new OffscreenCanvas(240, 120);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
  context.fillStyle = '#ff0000';
  context.fillRect(0, 0, 120, 120);
  context.fillStyle = '#0000ff';
  context.fillRect(120, 0, 120, 120);
  const bytes = new Uint8Array(await (await canvas.convertToBlob({ type: 'image/png' })).arrayBuffer());
  return btoa(String.fromCharCode(...bytes));
}

/** Runs in the page. Decodes a file with the browser's own decoder. @param {{ image: string, mimeType: string }} file */
async function decoded({ image, mimeType }) {
  const bytes = Uint8Array.from(atob(image), (letter) => letter.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: mimeType }));
  const { width, height } = bitmap;
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (new OffscreenCanvas(width, height).getContext('2d'));
  context.drawImage(bitmap, 0, 0);
  const pixel = (/** @type {number} */ x) => [...context.getImageData(Math.floor(x * width), height >> 1, 1, 1).data.slice(0, 3)];
  return { width, height, left: pixel(0.1), middle: pixel(0.5), right: pixel(0.9), start: [...bytes.slice(0, 12)] };
}

/** @type {string} */
let picture;

/** @param {object} operations @param {object} [options] */
async function processed(operations, options = {}) {
  picture ??= await demo.page.evaluate(halves);
  const response = await demo.agent.call('image.process', { image: picture, operations, options });
  assert.equal(response.success, true, JSON.stringify(response.error));
  const { data } = response;
  assert.equal(data.encoding, 'base64');
  assert.equal(data.size, Buffer.from(data.image, 'base64').length);
  const seen = await demo.page.evaluate(decoded, data);
  assert.deepEqual([seen.width, seen.height], [data.width, data.height]);
  return { ...data, seen };
}

/** @param {number[]} actual @param {number[]} wanted @param {number} [tolerance] */
function near(actual, wanted, tolerance = 3) {
  assert.ok(actual.every((value, i) => Math.abs(value - Number(wanted[i])) <= tolerance), `${actual} instead of ${wanted}`);
}

const red = [255, 0, 0];
const blue = [0, 0, 255];

test('image.process without operations gives the image back in its own format', async () => {
  const { seen, mimeType } = await processed({});
  assert.equal(mimeType, 'image/png');
  assert.deepEqual([seen.width, seen.height], [240, 120]);
  assert.deepEqual([seen.left, seen.right], [red, blue]);
});

for (const [resize, size] of /** @type {const} */ ([
  [{ width: 60 }, [60, 30]],
  [{ height: 240 }, [480, 240]],
  [{ width: 100, height: 100 }, [100, 50]],
  [{ width: 100, height: 100, fit: 'contain' }, [100, 50]],
  [{ width: 100, height: 100, fit: 'cover' }, [100, 100]],
  [{ width: 30, height: 90, fit: 'fill' }, [30, 90]],
])) {
  test(`image.process resizes to ${JSON.stringify(resize)}`, async () => {
    const { seen } = await processed({ resize });
    assert.deepEqual([seen.width, seen.height], size);
    near(seen.left, red);
    near(seen.right, blue);
  });
}

test('image.process removes the colour, and keeps how bright it was', async () => {
  const { seen } = await processed({ grayscale: true });
  for (const [r, g, b] of [seen.left, seen.right]) assert.ok(r === g && g === b, `${r} ${g} ${b}`);
  assert.ok(Number(seen.left[0]) > Number(seen.right[0]) + 20, 'red is brighter than blue');
});

for (const blur of [8, { sigma: 8 }]) {
  test(`image.process blurs by ${JSON.stringify(blur)}: the edge becomes a slope, the rest stays`, async () => {
    const { seen } = await processed({ blur });
    near(seen.left, red);
    near(seen.right, blue);
    const [r = 0, g = 0, b = 0] = seen.middle;
    assert.ok(r > 90 && b > 90 && g < 10, `${seen.middle}`);
  });
}

for (const [format, start] of Object.entries({ png: [0x89, 0x50, 0x4e, 0x47], jpeg: [0xff, 0xd8, 0xff], webp: [0x52, 0x49, 0x46, 0x46] })) {
  test(`image.process writes ${format}`, async () => {
    const { seen, mimeType } = await processed({ resize: { width: 120 } }, { format, quality: 95 });
    assert.equal(mimeType, `image/${format}`);
    assert.deepEqual(seen.start.slice(0, start.length), start);
    near(seen.left, red, 6);
    near(seen.right, blue, 6);
  });
}

test('image.process reads what it wrote, in each format, as a data: URL too', async () => {
  for (const format of ['jpeg', 'webp']) {
    const { image, mimeType } = await processed({}, { format });
    const again = await demo.agent.call('image.process', { image: `data:${mimeType};base64,${image}`, options: { format: 'png' } });
    assert.equal(again.success, true, JSON.stringify(again.error));
    near((await demo.page.evaluate(decoded, again.data)).left, red, 6);
  }
});

test('image.process takes and gives bytes where the transport carries them', async () => {
  await agentInPage(demo.page);
  picture ??= await demo.page.evaluate(halves);
  const size = await demo.page.evaluate(async (base64) => {
    const image = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0)).buffer;
    const { data, error } = await /** @type {any} */ (globalThis).agent.call(
      'image.process',
      { image, operations: { resize: { width: 24 } }, options: { encoding: 'arraybuffer', format: 'jpeg' } },
      { transfer: [image] },
    );
    if (error) return error;
    const bitmap = await createImageBitmap(new Blob([data.image]));
    return { moved: image.byteLength === 0, isBuffer: data.image instanceof ArrayBuffer, width: bitmap.width, height: bitmap.height };
  }, picture);
  assert.deepEqual(size, { moved: true, isBuffer: true, width: 24, height: 12 });
});


import { markdown, prose } from './demo.mjs';

/**
 * Work of the demo that takes seconds, and its progress in percent at which it is stopped: well under
 * way, with much left to do if a cancel arrives late on a busy machine.
 *
 * @type {Record<string, { params: () => object, stopAt: number }>}
 */
export const largeJobs = {
  'export.pdf': { params: () => ({ markdown: markdown(4_000) }), stopAt: 20 },
  'ai.summarize': { params: () => ({ text: prose(2_000), sentences: 7 }), stopAt: 20 },
  'image.process': {
    // The image is drawn in the page: see drawLarge.
    params: () => ({ operations: { resize: { width: 3600 }, blur: 20, grayscale: true }, options: { format: 'png' } }),
    stopAt: 20,
  },
  'export.archive': { params: () => ({ megabytes: 100, files: 4 }), stopAt: 20 },
};

/** Runs in a page. Draws an image of twelve megapixels, as base64. */
export async function drawLarge() {
  const canvas = new OffscreenCanvas(4000, 3000);
  const context = /** @type {OffscreenCanvasRenderingContext2D} */ (canvas.getContext('2d'));
  const sky = context.createLinearGradient(0, 0, 4000, 3000);
  sky.addColorStop(0, '#123456');
  sky.addColorStop(1, '#fedcba');
  context.fillStyle = sky;
  context.fillRect(0, 0, 4000, 3000);
  for (let i = 0; i < 2000; i += 1) {
    context.fillStyle = `hsl(${i % 360} 60% 50%)`;
    context.fillRect((i * 733) % 4000, (i * 379) % 3000, 40, 25);
  }
  const blob = await canvas.convertToBlob({ type: 'image/jpeg', quality: 0.9 });
  const url = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(blob);
  });
  return String(url);
}

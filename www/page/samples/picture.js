import { random } from './random.js';

/**
 * Draws a harbour at dusk with gradients, hard edges and fine grain, so that resizing, blurring and
 * compressing all have work to do.
 * @param {HTMLCanvasElement} canvas
 * @param {number} width pixels
 * @param {number} height pixels
 */
export function drawPicture(canvas, width, height) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext('2d');
  if (!context) throw new Error('this browser gave no canvas to draw on');
  const source = random(23);
  const horizon = height * 0.58;

  const sky = context.createLinearGradient(0, 0, 0, horizon);
  sky.addColorStop(0, '#16324a');
  sky.addColorStop(0.6, '#7b6a86');
  sky.addColorStop(1, '#f0b27a');
  context.fillStyle = sky;
  context.fillRect(0, 0, width, horizon);

  context.fillStyle = '#fbe3b4';
  context.beginPath();
  context.arc(width * 0.68, horizon * 0.86, height * 0.07, 0, Math.PI * 2);
  context.fill();

  const sea = context.createLinearGradient(0, horizon, 0, height);
  sea.addColorStop(0, '#b9836f');
  sea.addColorStop(0.25, '#3c566b');
  sea.addColorStop(1, '#0c1d2b');
  context.fillStyle = sea;
  context.fillRect(0, horizon, width, height - horizon);

  for (let wave = 0; wave < 900; wave++) {
    const depth = source.next();
    context.fillStyle = `rgb(255 236 200 / ${0.05 + 0.2 * source.next()})`;
    const length = width * (0.01 + 0.05 * depth);
    context.fillRect(source.next() * width, horizon + depth * depth * (height - horizon), length, Math.max(1, height * 0.003 * depth));
  }

  drawLighthouse(context, width * 0.2, horizon, height);
  drawBoat(context, width * 0.5, horizon + height * 0.12, height * 0.16);
  drawBoat(context, width * 0.82, horizon + height * 0.05, height * 0.07);
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} base
 * @param {number} height of the picture
 */
function drawLighthouse(context, x, base, height) {
  const tall = height * 0.38;
  const half = tall * 0.1;
  context.fillStyle = '#101c26';
  context.beginPath();
  context.ellipse(x, base + tall * 0.05, tall * 0.6, tall * 0.1, 0, Math.PI, 0);
  context.fill();
  for (let band = 0; band < 6; band++) {
    context.fillStyle = band % 2 ? '#c9472f' : '#f4ece0';
    const from = half * (1 - band * 0.08);
    const to = half * (1 - (band + 1) * 0.08);
    const y = base - (tall * band) / 7;
    context.beginPath();
    context.moveTo(x - from, y);
    context.lineTo(x + from, y);
    context.lineTo(x + to, y - tall / 7);
    context.lineTo(x - to, y - tall / 7);
    context.fill();
  }
  context.fillStyle = '#ffe9a8';
  context.fillRect(x - half * 0.4, base - tall, half * 0.8, tall / 7);
  const beam = context.createLinearGradient(x, 0, x + tall * 2, 0);
  beam.addColorStop(0, 'rgb(255 233 168 / 0.45)');
  beam.addColorStop(1, 'rgb(255 233 168 / 0)');
  context.fillStyle = beam;
  context.beginPath();
  context.moveTo(x, base - tall * 0.95);
  context.lineTo(x + tall * 2, base - tall * 1.25);
  context.lineTo(x + tall * 2, base - tall * 0.75);
  context.fill();
}

/**
 * @param {CanvasRenderingContext2D} context
 * @param {number} x
 * @param {number} y
 * @param {number} size
 */
function drawBoat(context, x, y, size) {
  context.fillStyle = '#15222d';
  context.beginPath();
  context.moveTo(x - size * 0.7, y);
  context.lineTo(x + size * 0.7, y);
  context.lineTo(x + size * 0.45, y + size * 0.22);
  context.lineTo(x - size * 0.5, y + size * 0.22);
  context.fill();
  context.fillStyle = '#efe4d2';
  context.beginPath();
  context.moveTo(x, y - size * 0.05);
  context.lineTo(x, y - size);
  context.lineTo(x + size * 0.55, y - size * 0.05);
  context.fill();
  context.fillStyle = '#d9c3a5';
  context.beginPath();
  context.moveTo(x - size * 0.05, y - size * 0.05);
  context.lineTo(x - size * 0.05, y - size * 0.85);
  context.lineTo(x - size * 0.45, y - size * 0.05);
  context.fill();
}

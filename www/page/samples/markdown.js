/** @import { Random } from './random.js' */
import { paragraph, sentence } from './prose.js';
import { random } from './random.js';

/**
 * A harbour almanac with headings, tables, lists, quotations and code.
 * @param {number} kilobytes
 */
export function sampleMarkdown(kilobytes) {
  const source = random(11);
  const parts = [
    '# Harbour almanac',
    'Tides, traffic and remarks of the season, *as entered in the log*. Depths are in **metres** above chart datum.',
    'Links: [tide tables](#tides), [traffic](#traffic). Struck out entries were ~~withdrawn~~ later.',
  ];
  let length = 0;
  for (let day = 1; length < kilobytes * 1000; day++) {
    const entry = dayOf(source, day);
    parts.push(entry);
    length += entry.length + 2;
  }
  return parts.join('\n\n');
}

/**
 * @param {Random} source
 * @param {number} day
 */
function dayOf(source, day) {
  const blocks = [`## Day ${day}`, paragraph(source, source.between(2, 5))];
  const kind = day % 4;
  if (kind === 1) blocks.push(`### Tides\n\n${tides(source)}`);
  if (kind === 2) blocks.push(`### Traffic\n\n${traffic(source)}`);
  if (kind === 3) blocks.push(`> ${sentence(source)}\n>\n> ${sentence(source)}`);
  if (kind === 0) blocks.push(`\`\`\`\n${reading(source, day)}\n\`\`\``);
  return blocks.join('\n\n');
}

/** @param {Random} source */
function tides({ between }) {
  const rows = ['High', 'Low', 'High', 'Low'].map((name, index) => {
    const hour = String((index * 6 + between(0, 5)) % 24).padStart(2, '0');
    return `| ${name} | ${hour}:${between(10, 59)} | ${between(1, 5)}.${between(10, 99)} | ${between(20, 110)} |`;
  });
  return ['| Water | Time | Height | Coefficient |', '|:------|-----:|-------:|------------:|', ...rows].join('\n');
}

/** @param {Random} source */
function traffic(source) {
  const done = source.between(1, 3);
  return [0, 1, 2, 3].map((index) => `- [${index < done ? 'x' : ' '}] ${sentence(source)}`).join('\n');
}

/**
 * @param {Random} source
 * @param {number} day
 */
function reading({ between }, day) {
  return `gauge ${String(day).padStart(4, '0')}  level ${between(1, 9)}.${between(100, 999)}  pressure ${between(985, 1034)} hPa`;
}

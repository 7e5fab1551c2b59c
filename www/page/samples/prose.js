/** @import { Random } from './random.js' */

/** @typedef {readonly [string, ...string[]]} Words */

/** @type {Words} */
const VESSELS = ['the pilot cutter', 'the ferry from Ardmore', 'a survey launch', 'the dredger', 'the grain barge Halcyon',
  'the mail boat', 'a trawler with nets out', 'the lifeboat', 'the tug Constance', 'a three-masted training ship'];
/** @type {Words} */
const PLACES = ['the north mole', 'the old customs quay', 'Lantern Point', 'the inner basin', 'the swing bridge',
  'the tide gauge', 'buoy number seven', 'the drying grounds', 'the slipway', 'the outer roads'];
/** @type {Words} */
const ACTS = ['made fast at', 'waited for the flood off', 'was turned back from', 'took on water and coal at',
  'was seen rounding', 'ran a line ashore at', 'dragged her anchor near', 'passed within a cable of', 'put two hands ashore at'];
/** @type {Words} */
const WEATHER = ['with the wind backing to the south-west', 'under a low and even cloud', 'in fog that came and went all morning',
  'while the glass was still falling', 'after a night of steady rain', 'in the first clear weather of the month',
  'against a short steep sea', 'with frost on every rail'];
/** @type {Words} */
const PEOPLE = ['The harbour master', 'The keeper on watch', 'Her mate', 'The clerk of the quay', 'The gauge reader', 'The older of the two pilots'];
/** @type {Words} */
const REMARKS = ['noted that the current was setting harder than the tables allow',
  'had the depth sounded twice and found the same figure', 'asked that the light be shown an hour before dusk',
  'entered the damage in the book and sent for the carpenter', 'would not have the bridge opened until the stream slackened',
  'compared the reading with the one from last spring', 'held that the bank had moved again since the survey',
  'gave the order to double the moorings'];
/** @type {Words} */
const LINKS = ['By noon', 'At slack water', 'Towards evening', 'Within the hour', 'On the second tide', 'Before the watch changed'];

/** @param {Random} random */
export function sentence(random) {
  const { pick, between, next } = random;
  const kind = next();
  if (kind < 0.4) return `${pick(LINKS)} ${pick(VESSELS)} ${pick(ACTS)} ${pick(PLACES)}, ${pick(WEATHER)}.`;
  if (kind < 0.75) return `${pick(PEOPLE)} ${pick(REMARKS)}.`;
  const depth = `${between(3, 14)}.${between(0, 9)}`;
  if (kind < 0.9) return `The gauge at ${pick(PLACES)} stood at ${depth} metres, ${between(2, 60)} centimetres above the table for the day.`;
  return `It was the ${between(2, 9)}th such entry of the season: ${pick(VESSELS)} ${pick(ACTS)} ${pick(PLACES)}.`;
}

/**
 * @param {Random} random
 * @param {number} sentences
 */
export function paragraph(random, sentences) {
  const lines = [];
  for (let i = 0; i < sentences; i++) lines.push(sentence(random));
  return lines.join(' ');
}

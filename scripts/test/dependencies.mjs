import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ask, must, run, which } from '../command.mjs';
import { root } from '../paths.mjs';
import { isAllowed } from './licenses.mjs';

const minute = 60_000;
const day = 24 * 60 * minute;
/** The age in days at which the copy of the advisories may lack many. */
const OLD = 90;

/**
 * Checks the dependencies: the licenses, sources and bans of crates by deny.toml, and the known
 * advisories against crates and npm packages, where these can be looked up.
 *
 * @returns {Promise<import('./counts.mjs').Counts>} one for each check
 */
export async function checkDependencies() {
  const outcomes = [...await crates(), await npmPackages()];
  const count = (/** @type {boolean | undefined} */ wanted) => outcomes.filter((it) => it === wanted).length;
  return { passed: count(true), failed: count(false), skipped: count(undefined) };
}

/** @returns {Promise<boolean[]>} */
async function crates() {
  if (which('cargo-deny') === undefined) {
    const wrong = await againstDenyToml();
    for (const line of wrong) console.error(line);
    return [wrong.length === 0, await againstAdvisories('cargo-deny is not installed (`cargo install --locked cargo-deny`)')];
  }
  const deny = (/** @type {string[]} */ ...checks) => run('cargo', ['deny', '--locked', 'check', ...checks], { timeoutMs: 5 * minute });
  const rules = await deny('licenses', 'bans', 'sources');
  const advisories = await deny('advisories');
  if (advisories.code !== 0 && /failed to (fetch|load|update) advisory database|advisory database.*(fetch|clone)/i.test(advisories.output)) {
    return [rules.code === 0, await againstAdvisories('their database cannot be fetched here')];
  }
  return [rules.code === 0, advisories.code === 0];
}

/** Checks the crates against the copy of the advisories. @param {string} why the reason for not using the database itself @returns {Promise<boolean>} whether no advisory applies */
async function againstAdvisories(why) {
  // Imported here because its package is missing on a fresh machine when this file is loaded.
  const { checkLockedCrates } = await import('./advisories.mjs');
  const { date, known } = checkLockedCrates();
  for (const line of known) console.error(line);
  console.log(`advisories on crates: as of ${date}, from the copy in scripts/test/advisories.json, because ${why}; it does not know yanked versions`);
  const days = Math.floor((Date.now() - Date.parse(date)) / day);
  if (days > OLD) console.warn(`warning: the copy of advisories is ${days} days old: make a new one with scripts/advisories.mjs`);
  return known.length === 0;
}

/** @typedef {{ name: string, version: string, license: string | null, source: string | null, dependencies: { name: string, req: string, source: string | null }[] }} Package */

/** Checks the rules of deny.toml that can be checked without cargo-deny, for this machine and for the browser. @returns {Promise<string[]>} the violations */
async function againstDenyToml() {
  const rules = readFileSync(join(root, 'deny.toml'), 'utf8');
  const list = /^allow = \[([^\]]*)\]/m.exec(rules)?.[1] ?? '';
  const allowed = new Set([...list.matchAll(/"([^"]+)"/g)].map(([, name]) => String(name)));
  const banned = new Set([...rules.matchAll(/\{ crate = "([^"]+)"/g)].map(([, name]) => name));
  const host = /^host: (.*)$/m.exec(ask('rustc', ['-vV']) ?? '')?.[1] ?? '';
  const platforms = [host, 'wasm32-unknown-unknown'].flatMap((it) => ['--filter-platform', it]);
  const metadata = JSON.parse(await must('cargo', ['metadata', '--locked', '--quiet', '--format-version', '1', ...platforms], { quiet: true, timeoutMs: 5 * minute }));

  return /** @type {Package[]} */ (metadata.packages).flatMap((it) => {
    const wrong = [];
    if (!isAllowed(it.license ?? '', allowed)) wrong.push(`has the license ${it.license}, which deny.toml does not allow`);
    if (it.source !== null && it.source !== 'registry+https://github.com/rust-lang/crates.io-index') wrong.push(`comes from ${it.source}`);
    if (banned.has(it.name)) wrong.push('is banned by deny.toml');
    const ours = it.source === null;
    for (const { name } of it.dependencies.filter(({ req, source }) => ours && req === '*' && source !== null)) wrong.push(`takes any version of ${name}`);
    return wrong.map((what) => `${it.name} ${it.version} ${what}`);
  });
}

/** @returns {Promise<boolean | undefined>} */
async function npmPackages() {
  const { output } = await run('npm', ['audit', '--json', '--fetch-retries=0', '--fetch-timeout=10000'], { quiet: true, timeoutMs: minute });
  const report = parsed(output.slice(output.indexOf('{')));
  if (report?.auditReportVersion === undefined) {
    console.log('skipped: npm audit, because the registry does not answer');
    return undefined;
  }
  for (const [name, { severity, via }] of Object.entries(report.vulnerabilities)) {
    console.error(`${name}: ${severity}: ${via.map((/** @type {any} */ it) => it.title ?? it).join('; ')}`);
  }
  return Object.keys(report.vulnerabilities).length === 0;
}

/** @param {string} text @returns {any} undefined if the text is no JSON */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

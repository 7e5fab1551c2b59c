/**
 * Measures within one page, group by group. The page that the benchmark opens loads this module.
 * The groups of cancels, and of other pages, are in modules beside this one.
 */
import { inTurns } from '../sampling.mjs';
import { calls, cancels, fullCalls } from './abp-calls.mjs';
import { inPage, load, newHost } from './caphost.mjs';
import { abortWithListener, asyncFunction, echoes, postAndWait, rawPort, shortPort } from './floors.mjs';
import { attentive, echo, forever, hold } from './handlers.mjs';
import { bursts, crowds, manyCancels } from './growth.mjs';
import { jsonRpcPeers } from './json-rpc-peers.mjs';
import { plainAgent, plainHost } from './plain-abp.mjs';
import { portPeers } from './port-peers.mjs';
import { publishedSample } from './sample.mjs';
import { connectedCancels, rustCalls } from './special.mjs';
import { browserTools, hasTools } from './webmcp.mjs';

/**
 * @typedef {import('../sampling.mjs').Contender} Contender
 *
 * @typedef {object} Setting
 * @property {{ name: string, at: string }[]} builds of this package: the paths at which they are served
 * @property {string[]} peers the peers that are installed
 * @property {string | undefined} rust the path of the Rust app
 * @property {{ inFlight: number, capabilities: number, cancels: number[] }} crowd
 */

const handlers = { echo, attentive, hold, forever };

/** @param {Setting} setting */
async function inPageCallers({ builds }) {
  const sample = publishedSample(handlers);
  await sample.initialize();
  const ours = [];
  for (const { name, at } of builds) ours.push({ name, caller: await inPage(await newHost(await load(at))) });
  return [{ name: 'published sample', caller: sample }, ...ours];
}

/** @type {Record<string, (setting: Setting) => Promise<Contender[]>>} */
const groups = {
  async inPage(setting) {
    const callers = await inPageCallers(setting);
    const tools = hasTools() ? [echoes('native WebMCP', (await browserTools()).call)] : [];
    return [asyncFunction(), ...callers.map(({ name, caller }) => calls(name, caller)), ...tools];
  },
  async inPageFull(setting) {
    return (await inPageCallers(setting)).map(({ name, caller }) => fullCalls(name, caller));
  },
  async inPageRust({ rust }) {
    return rust === undefined ? [] : rustCalls(rust);
  },
  async port({ builds, peers }) {
    const list = [rawPort(), shortPort()];
    const plain = new MessageChannel();
    plainHost(plain.port1, handlers);
    list.push(calls('ABP by hand, both ends', await plainAgent(plain.port2)));
    for (const { name, at } of builds) {
      const build = await load(at);
      const host = await newHost(build);
      const [forPlain, forAgent] = [new MessageChannel(), new MessageChannel()];
      host.acceptPort(forPlain.port1);
      host.acceptPort(forAgent.port1);
      list.push(calls(`${name}: a plain agent, our host`, await plainAgent(forPlain.port2)));
      list.push(calls(`${name}: our agent, our host`, await build.connectPort(forAgent.port2)));
    }
    for (const { name, connected } of await connectPeers(peers)) list.push(echoes(name, connected.call));
    return list;
  },
  async worker({ builds }) {
    const raw = new Worker(URL.createObjectURL(new Blob(['onmessage = ({ data }) => postMessage(data)'])));
    const list = [echoes('raw worker', postAndWait(raw))];
    for (const { name, at } of builds) {
      const host = await newHost(await load(at));
      // An earlier build has no `registerWorker`.
      if (!host.registerWorker) continue;
      host.registerWorker('echoInWorker', {}, 'data:text/javascript,export default (given) => given');
      list.push(calls(name, await inPage(host), 'echoInWorker'));
    }
    return list;
  },
  async cancelInPage(setting) {
    const tools = hasTools() ? [(await browserTools()).cancels] : [];
    return [abortWithListener(), ...(await inPageCallers(setting)).map(({ name, caller }) => cancels(name, caller)), ...tools];
  },
  async cancelPort({ builds, peers }) {
    const plain = new MessageChannel();
    plainHost(plain.port1, handlers);
    const list = [cancels('ABP by hand, both ends', await plainAgent(plain.port2))];
    for (const { name, at } of builds) {
      const build = await load(at);
      const { port1, port2 } = new MessageChannel();
      (await newHost(build)).acceptPort(port1);
      list.push(cancels(`${name}: our agent, our host`, await build.connectPort(port2)));
    }
    for (const { name, connected } of await connectPeers(peers)) {
      if (connected.hold) list.push(connectedCancels(name, connected));
    }
    return list;
  },
  manyCancels: ({ builds, crowd }) => manyCancels(builds, crowd.cancels),
  crowds: ({ builds, crowd }) => crowds(builds, crowd),
  bursts: ({ builds }) => bursts(builds),
  async iframe({ builds, peers }) {
    const frame = async (/** @type {string} */ kind) => {
      const element = document.createElement('iframe');
      element.src = `/bench/in-page/frame.html?${kind}`;
      document.body.append(element);
      await new Promise((resolve) => addEventListener('message', function ready({ source, data }) {
        if (source !== element.contentWindow || data !== 'ready') return;
        removeEventListener('message', ready);
        resolve(undefined);
      }));
      return /** @type {Window} */ (element.contentWindow);
    };
    const raw = await frame('raw');
    const target = { onmessage: /** @type {any} */ (undefined), postMessage: (/** @type {any} */ message) => raw.postMessage(message, location.origin) };
    addEventListener('message', (event) => event.source === raw && target.onmessage?.(event));
    const list = [echoes('raw iframe', postAndWait(target))];
    for (const { name, at } of builds) {
      const agent = await (await load(at)).connectWindow(await frame(`caphost=${at}`));
      list.push({ ...calls(name, agent), note: 'over a MessagePort of its own' });
    }
    if (peers.includes('comlink')) {
      const { windowEndpoint, wrap } = await import(/** @type {any} */ ('/peers/comlink.js'));
      const remote = wrap(windowEndpoint(await frame('comlink')));
      list.push(echoes('comlink', (given) => remote.echo(given)));
    }
    if (peers.includes('penpal')) {
      const { connect, WindowMessenger } = await import(/** @type {any} */ ('/peers/penpal.js'));
      const remote = await connect({ messenger: new WindowMessenger({ remoteWindow: await frame('penpal') }) }).promise;
      list.push(echoes('penpal', (given) => remote.echo(given), 'over a MessagePort of its own'));
    }
    return list;
  },
};

/** @param {string[]} peers @returns {Promise<{ name: string, connected: { call: (given: any) => Promise<any>, hold?: () => { stop: () => Promise<void> } } }[]>} */
async function connectPeers(peers) {
  const list = [];
  for (const name of peers) {
    const library = await import(/** @type {any} */ (`/peers/${name}.js`));
    const { port1, port2 } = new MessageChannel();
    const plain = /** @type {Record<string, import('./port-peers.mjs').Connect>} */ (portPeers)[name];
    const json = /** @type {Record<string, import('./json-rpc-peers.mjs').Connect>} */ (jsonRpcPeers)[name];
    if (plain) list.push({ name, connected: { call: await plain(library, port1, port2) } });
    else if (json) list.push({ name, connected: await json(library, port1, port2) });
    else throw new Error(`there is no adapter for ${name}`);
  }
  return list;
}

/**
 * @param {string} group
 * @param {Setting} setting
 * @param {import('../sampling.mjs').Sampling} sampling
 */
export async function measureGroup(group, setting, sampling) {
  const contenders = await groups[group]?.(setting);
  if (contenders === undefined) throw new Error(`there is no group ${group}`);
  return inTurns(contenders, sampling);
}

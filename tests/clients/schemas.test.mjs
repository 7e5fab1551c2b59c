/**
 * Apps with careless schemas of every kind. A client compiles the output schemas of all tools when it lists them,
 * and loses all tools if it cannot compile one.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createHost } from 'caphost';
import { silentApp } from '../e2e/gateway-runs/silent-app.mjs';
import { startGateway } from '../e2e/support/gateway.mjs';
import { oddSchemas } from './odd-schemas.mjs';

/** The SDKs that check schemas. */
const SDKS = ['sdk-1.17', 'sdk-1.23', 'sdk-1', 'client-2.0', 'client-2'];

/** The validators of the SDKs. Only the tests in this folder install these packages. */
const VALIDATORS = ['sdk-1/validation/ajv-provider.js', 'client-2/validators/ajv'];

/** @param {string} name @param {(load: any) => any} transport */
async function toolsFor(name, transport) {
  const files = name.startsWith('client-2') ? [name] : ['index', 'streamableHttp'].map((file) => `${name}/client/${file}.js`);
  const sdk = Object.assign({}, ...await Promise.all(files.map((file) => import(file))));
  const client = new sdk.Client({ name: 'tried', version: '1' }, { capabilities: {}, versionNegotiation: { mode: 'auto' } });
  await client.connect(transport(sdk));
  const { tools } = await client.listTools();
  // Version 2 compiles a schema when its tool is called.
  const called = await client.callTool({ name: tools[0].name, arguments: {} });
  await client.close();
  assert.notEqual(called.isError, true, JSON.stringify(called));
  return tools;
}

/** Each listed schema by the validator that a client has by default. @param {any[]} tools */
async function compileAll(tools) {
  const validators = await Promise.all(VALIDATORS.map((file) => import(file)));
  for (const { name, inputSchema, outputSchema } of tools) {
    for (const schema of [inputSchema, outputSchema]) {
      for (const { AjvJsonSchemaValidator: Validator } of validators) {
        if (schema) assert.doesNotThrow(() => new Validator().getValidator(structuredClone(schema)), `${name}: ${JSON.stringify(schema)}`);
      }
    }
  }
}

/** A connection of MCP's SDKs over a port. */
class PortTransport {
  /** @type {(message: any) => void} */
  onmessage = () => {};
  onclose = () => {};
  /** @param {MessagePort} port */
  constructor(port) {
    this.port = port;
  }
  async start() {
    this.port.onmessage = ({ data }) => this.onmessage(data);
  }
  /** @param {any} message */
  async send(message) {
    this.port.postMessage(message);
  }
  async close() {
    this.port.close();
    this.onclose();
  }
}

describe('schemas of every kind, over a port', () => {
  /** @type {import('caphost').Host} */
  let host;
  let refused = 0;
  let listed = 0;
  before(async () => {
    console.warn = () => {};
    host = await createHost({ app: { id: 'odd', name: 'Odd', version: '1' } });
    host.register('a', {}, () => 1);
    for (const [at, schema] of oddSchemas().entries()) {
      try {
        host.register(`odd-${at}`, { inputSchema: schema, outputSchema: schema }, () => ({}));
        listed += 1;
      } catch (error) {
        assert.equal(/** @type {any} */ (error).code, 'INVALID_PARAMS');
        refused += 1;
      }
    }
  });
  after(() => host.close());

  for (const name of SDKS) {
    test(`${name} lists every tool that the host has registered`, async () => {
      const { port1, port2 } = new MessageChannel();
      host.acceptPort(/** @type {any} */ (port1));
      const tools = await toolsFor(name, () => new PortTransport(/** @type {any} */ (port2)));
      assert.equal(tools.length, listed + 1);
      assert.ok(listed > 1_000 && refused > 1_000, `${listed} are listed, ${refused} are refused`);
      if (name === 'client-2') await compileAll(tools);
    });
  }
});

describe('schemas of every kind, of an app that registers all', () => {
  /** @type {Awaited<ReturnType<typeof startGateway>>} */
  let gateway;
  /** @type {Awaited<ReturnType<typeof silentApp>>} */
  let app;
  const schemas = oddSchemas();
  before(async () => {
    gateway = await startGateway();
    app = await silentApp(gateway, { capabilities: [{ name: 'a' }, ...schemas.map((schema, at) => ({ name: `odd-${at}`, inputSchema: schema, outputSchema: schema }))] });
  });
  after(async () => {
    app.close();
    await gateway.stop();
  });

  for (const name of SDKS) {
    test(`${name} lists every tool`, async () => {
      const answered = app.next('capabilities/call').then((call) => app.answer(call, { success: true, data: 'ran' }));
      const tools = await toolsFor(name, ({ StreamableHTTPClientTransport }) => new StreamableHTTPClientTransport(new URL(`${gateway.url}/mcp`)));
      await answered;
      assert.equal(tools.length, schemas.length + 1);
      if (name === 'client-2') await compileAll(tools);
    });
  }
});

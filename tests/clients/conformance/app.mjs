/** An app in Node, behind a gateway, with the tools that the MCP conformance suite asks for by name. */
import { createHost } from 'caphost';
import { PIXEL, serve } from '../app.mjs';

/** How many bytes of results the gateway keeps for tasks. */
const TASK_BYTES = 100_000;
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const picture = { content: PIXEL, encoding: 'base64', mimeType: 'image/png' };
// A file that no client shows as text or as an image.
const archive = { content: 'UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==', encoding: 'base64', mimeType: 'application/zip' };
const form = (/** @type {string} */ message, /** @type {Record<string, object>} */ properties) => ({
  message, requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
});
const name = form('What is your name?', { name: { type: 'string' } });
const choices = (/** @type {string} */ word) => ['First', 'Second', 'Third'].map((title, at) => ({ const: `value${at + 1}`, title: `${title} ${word}` }));
const options = ['option1', 'option2', 'option3'];
/** What the client has answered. @param {any} context @param {object} request */
const asked = async ({ elicit }, request) => {
  const { data, error, cancelled } = await elicit(request);
  if (error) throw Object.assign(new Error(error.message), { code: error.code });
  return cancelled ? { action: 'cancel' } : { action: 'accept', content: data };
};
const pause = (ms = 50) => new Promise((resolve) => setTimeout(resolve, ms));
/** Longer than the gateway waits before a call becomes a task. */
const LONG = 700;

/** @type {Record<string, [object, (params: any, context: any) => any]>} */
const tools = {
  test_simple_text: [{}, () => 'This is a simple text response for testing.'],
  test_image_content: [{}, () => picture],
  test_audio_content: [{}, () => ({ content: SILENCE, encoding: 'base64', mimeType: 'audio/wav' })],
  test_embedded_resource: [{}, () => archive],
  test_multiple_content_types: [{}, () => ({
    text: 'Multiple content types test:',
    picture,
    archive,
  })],
  test_error_handling: [{}, () => { throw new Error('This tool intentionally returns an error for testing'); }],
  test_tool_with_progress: [{}, async (_, { progress }) => {
    for (const done of [0, 50, 100]) {
      progress({ progress: done, total: 100 });
      await pause();
    }
    return 'done';
  }],
  test_elicitation: [{ inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] } }, async ({ message }, context) => {
    const answer = await asked(context, form(message, { username: { type: 'string' }, email: { type: 'string' } }));
    return `User response: ${JSON.stringify(answer)}`;
  }],
  test_elicitation_sep1034_defaults: [{}, async (_, context) => {
    const answer = await asked(context, form('Who are you?', {
      name: { type: 'string', default: 'John Doe' },
      age: { type: 'integer', default: 30 },
      score: { type: 'number', default: 95.5 },
      status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
      verified: { type: 'boolean', default: true },
    }));
    return `Elicitation completed: ${JSON.stringify(answer)}`;
  }],
  test_elicitation_sep1330_enums: [{}, async (_, context) => {
    const answer = await asked(context, form('Which ones?', {
      untitledSingle: { type: 'string', enum: options },
      titledSingle: { type: 'string', oneOf: choices('Option') },
      legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['Option One', 'Option Two', 'Option Three'] },
      untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
      titledMulti: { type: 'array', items: { anyOf: choices('Choice') } },
    }));
    return `Elicitation completed: ${JSON.stringify(answer)}`;
  }],
  test_input_required_result_elicitation: [{}, async (_, context) => `Hello, ${(await asked(context, name)).content?.name}!`],
  test_input_required_result_request_state: [{}, async (_, context) => {
    await asked(context, form('Please confirm', { ok: { type: 'boolean' } }));
    return 'state-ok';
  }],
  test_input_required_result_tampered_state: [{}, async (_, context) => JSON.stringify(await asked(context, name))],
  test_input_required_result_multi_round: [{}, async (_, context) => {
    const first = await asked(context, form('Step 1: What is your name?', { name: { type: 'string' } }));
    const second = await asked(context, form('Step 2: What is your favorite color?', { color: { type: 'string' } }));
    return JSON.stringify([first, second]);
  }],
  test_input_required_result_capabilities: [{}, async (_, { elicit }) => (await elicit(name)).success],
  greet: [{}, ({ name: whom }) => `Hello, ${whom}!`],
  slow_compute: [{}, async ({ seconds }, { signal }) => {
    const end = Date.now() + seconds * 1_000;
    while (Date.now() < end) {
      await pause(20);
      signal.throwIfAborted();
    }
    return 'computed';
  }],
  failing_job: [{}, async () => {
    await pause(LONG);
    throw new Error('This job fails');
  }],
  // An app has no errors of the protocol. The gateway has one for a result that it cannot keep.
  protocol_error_job: [{}, async () => {
    await pause(LONG);
    return 'x'.repeat(TASK_BYTES);
  }],
  confirm_delete: [{}, async (_, context) => {
    await pause(LONG);
    return JSON.stringify(await asked(context, form('Delete it?', { confirm: { type: 'boolean' } })));
  }],
  multi_input: [{}, async (_, context) => {
    await pause(LONG);
    return JSON.stringify(await Promise.all(['First', 'Second'].map((message) => asked(context, form(message, { name: { type: 'string' } })))));
  }],
  test_tool_with_task: [{}, async (_, context) => {
    const { content } = await asked(context, name);
    await pause(LONG);
    return `Hello, ${content?.name}!`;
  }],
  json_schema_2020_12_tool: [{
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: { address: { $anchor: 'addressDef', type: 'object', properties: { street: { type: 'string' }, city: { type: 'string' } } } },
      properties: {
        name: { type: 'string' },
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: { type: 'string' },
        email: { type: 'string' },
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  }, (params) => params],
};

/** Starts the gateway, and connects the app to it. */
export async function startApp() {
  const host = await createHost({ app: { id: 'conformance', name: 'Conformance', version: '1.0.0' } });
  for (const [name, [descriptor, handler]] of Object.entries(tools)) host.register(name, { description: name, ...descriptor }, handler);
  let changes = 0;
  host.register('test_trigger_tool_change', { description: 'Adds a tool' }, () => {
    host.register(`added_${changes += 1}`, { description: 'Added' }, () => 'added');
    return 'changed';
  });
  return serve(host, ['--mcp-max-task-bytes', `${TASK_BYTES}`]);
}

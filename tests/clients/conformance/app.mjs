/** An app in Node, behind a gateway, with the tools that the MCP conformance suite asks for by name. */
import { createHost } from 'caphost';
import { PIXEL, serve } from '../app.mjs';

const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=';
const picture = { content: PIXEL, encoding: 'base64', mimeType: 'image/png' };
// A file that no client shows as text or as an image.
const archive = { content: 'UEsFBgAAAAAAAAAAAAAAAAAAAAAAAA==', encoding: 'base64', mimeType: 'application/zip' };
const pause = () => new Promise((resolve) => setTimeout(resolve, 50));

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
  return serve(host);
}

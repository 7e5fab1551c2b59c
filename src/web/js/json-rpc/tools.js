/**
 * The capabilities of an app as tools of MCP.
 */
import { plain, toolNames } from './tool-names.js';
import { inputSchema, outputSchema } from './tool-schemas.js';

/** The number of characters of a name that an error repeats. */
const MAX_NAME = 128;

/**
 * The capabilities as tools. If a capability has no title and its tool has another name, the title of the
 * tool is the capability's own name.
 *
 * @param {any[]} documents
 * @param {{ audio: boolean, structure: boolean }} version
 */
export function tools(documents, { audio, structure }) {
  const names = toolNames(documents.map(({ name }) => name));
  return documents.map(({ name: own, title, description: said, annotations, confirm, inputSchema: input, outputSchema: output }, at) => {
    const name = names[at];
    const shown = seen(title) ?? (name === own ? undefined : own);
    const { schema, rule } = inputSchema(input);
    // Some model interfaces refuse an empty description.
    const description = [seen(said), rule].filter(Boolean).join('\n\n');
    const promised = structure ? outputSchema(output) : undefined;
    return {
      name,
      ...(structure && shown && { title: shown }),
      ...(description && { description }),
      ...(audio && annotations && { annotations }),
      ...(structure && confirm && { _meta: { 'caphost/confirm': confirm } }),
      inputSchema: schema,
      ...(promised && { outputSchema: promised }),
    };
  });
}

/** The text, unless a reader sees nothing of it. @param {string | undefined} text */
const seen = (text) => (text?.trim() ? text : undefined);

/**
 * The capability that a client means: by its own name, or by the name of its tool.
 *
 * @param {any[]} documents
 * @param {string} wanted
 * @param {any} rust the functions of the wasm half
 * @returns {any} the capability, or, if there is none, the error
 */
export function findTool(documents, wanted, rust) {
  const own = documents.find(({ name }) => name === wanted);
  if (own) return own;
  const listed = toolNames(documents.map(({ name }) => name));
  const at = listed.indexOf(wanted);
  if (at >= 0) return documents[at];
  const characters = [...wanted];
  const meant = (rust.near(plain(wanted), listed) ?? []).join(', ');
  return `Unknown tool: ${characters.length > MAX_NAME ? `${characters.slice(0, MAX_NAME).join('')}…` : wanted}${meant && `. Did you mean: ${meant}?`}`;
}

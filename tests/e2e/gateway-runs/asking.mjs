/**
 * Sends an HTTP request to a gateway. Returns the status and the JSON of the answer.
 *
 * @param {{ url: string }} gateway
 * @param {string} path
 * @param {object} [options]
 * @param {unknown} [options.body] posted as JSON
 * @param {string} [options.token]
 */
export async function ask(gateway, path, { body, token } = {}) {
  const response = await fetch(new URL(path, gateway.url), {
    method: body === undefined ? 'GET' : 'POST',
    headers: {
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(token === undefined ? {} : { Authorization: `Bearer ${token}` }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  return { status: response.status, json: /** @type {any} */ (await response.json()) };
}

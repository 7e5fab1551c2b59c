// Cancels a call as an operator, through ContextForge's cancellation API. Any worker may be asked.
// node operator.mjs <worker> <request id> [reason]     CAPHOST_TOKEN: a token of the role admin, if tokens are used

const [worker = 'http://127.0.0.1:8788', requestId, reason = null] = process.argv.slice(2);
const { CAPHOST_TOKEN: token } = process.env;

/** @param {string} path @param {object} [body] */
async function ask(path, body) {
  const response = await fetch(new URL(`/v1/cancellation/${path}`, worker), {
    method: body ? 'POST' : 'GET',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${response.status}: ${JSON.stringify(answer.detail)}`);
  return answer;
}

const { name, state } = await ask(`status/${encodeURIComponent(requestId)}`);
console.log(`${name} is ${state}`);

// `cancelled` only if the app has confirmed the cancel. `stop` says how far the work was seen to stop.
const { status, stop } = await ask('cancel', { requestId, reason });
console.log(stop ? `${status}, ${stop}` : status);

const ended = await ask(`status/${encodeURIComponent(requestId)}`);
console.log(`${ended.name} is ${ended.state}${ended.cancel_reason ? `: ${ended.cancel_reason}` : ''}`);

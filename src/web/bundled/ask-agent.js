// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/consent/visible.js
var HIDDEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2000-\u200f\u2028-\u202f\u205f-\u206f\u3000\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|[\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]/gu;
var visible = (text) => text.replace(HIDDEN, (it) => `\\u{${it.codePointAt(0)?.toString(16)}}`);
function shown(value, most) {
  let text = typeof value;
  try {
    text = JSON.stringify(value, (_, it) => typeof it === "bigint" ? `${it}n` : it) ?? text;
  } catch {
  }
  const characters = visible(text.slice(0, most));
  return text.length > most ? `${characters}… (${text.length - most} more characters)` : characters;
}

// src/web/js/consent/ask-agent.js
var MOST = 1e3;
async function askAgent(shell, key, { callId, capability }, params) {
  const { title = capability } = shell.capabilities.find(capability) ?? {};
  const request = {
    method: "elicitation/confirm",
    message: `Allow "${title}" in ${shell.app.name}?
${shown(params, MOST)}`,
    callId,
    capability,
    requestedSchema: { type: "object", properties: { confirmed: { type: "boolean", title: `Allow "${title}"`, default: true } }, required: ["confirmed"] }
  };
  const answer = await shell.asks.agent(request, shell.rust.elicit, key);
  shell.rust.consent(shell.number, key, verdict(answer));
}
function verdict({ success, data, cancelled, error }) {
  if (success && (data === true || data?.confirmed === true)) return 1;
  return success || cancelled || error?.code === "PERMISSION_DENIED" ? 2 : 0;
}
export {
  askAgent
};

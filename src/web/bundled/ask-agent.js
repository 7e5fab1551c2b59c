// Made of ../js by `npm run build`, and to be changed there.

// src/web/js/consent/visible.js
var HIDDEN = /(?! )[\p{C}\p{Z}\p{Default_Ignorable_Code_Point}]/gu;
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

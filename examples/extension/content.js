import { connectWindow } from 'caphost/inline';

/** The agent of this tab. It connects when it is first used. */
let opening;

function connected() {
  opening ??= connectWindow(window, { agent: { name: 'Example extension', version: '1.0.0' }, connectTimeout: 3_000 }).then((agent) => {
    // When the app has closed its host or made another, the next call connects again.
    agent.closed.then(() => (opening = undefined));
    return agent;
  }, (error) => {
    opening = undefined;
    throw error;
  });
  return opening;
}

/** The questions of the popup. @type {Record<string, (agent: import('caphost/agent').Agent, asked: any, options: object) => Promise<unknown>>} */
const answers = {
  list: async (agent) => ({ app: agent.app, capabilities: await agent.listCapabilities() }),
  call: (agent, { capability, params }, options) => agent.call(capability, params, options),
};

// Each question has its own port. When the popup closes, its ports close, and their calls are cancelled.
chrome.runtime.onConnect.addListener((port) => {
  const controller = new AbortController();
  let open = true;
  const post = (message) => void (open && port.postMessage(message));
  port.onDisconnect.addListener(() => {
    open = false;
    controller.abort('The popup was closed');
  });
  port.onMessage.addListener(async (asked) => {
    if (asked.type === 'stop') return controller.abort('The user pressed Stop');
    try {
      const onProgress = (progress) => post({ progress });
      post({ answer: await answers[asked.type](await connected(), asked, { signal: controller.signal, onProgress }) });
    } catch ({ code, message }) {
      post({ error: { code, message } });
    }
  });
});

const [app, form, capability, params, stop, progress, said] = ['app', 'form', 'capability', 'params', 'stop', 'progress', 'said'].map((id) => document.getElementById(id));
const [active] = await chrome.tabs.query({ active: true, currentWindow: true });
// `?tab=…` is for a popup that is opened as a page.
const tab = Number(new URLSearchParams(location.search).get('tab') ?? active.id);

/** Asks the content script of the tab. Returns the promise of the answer, and a function that stops the work. */
function ask(question, onProgress = () => {}) {
  const port = chrome.tabs.connect(tab, { frameId: 0 });
  const answer = new Promise((resolve, reject) => {
    port.onMessage.addListener((message) => {
      if (message.progress) return onProgress(message.progress);
      port.disconnect();
      return message.error ? reject(message.error) : resolve(message.answer);
    });
    port.onDisconnect.addListener(() => reject({ message: chrome.runtime.lastError?.message ?? 'The page has gone' }));
  });
  port.postMessage(question);
  return { answer, stop: () => port.postMessage({ type: 'stop' }) };
}

form.onsubmit = async (event) => {
  event.preventDefault();
  said.textContent = '';
  try {
    const running = ask({ type: 'call', capability: capability.value, params: JSON.parse(params.value) }, ({ percentage = 0 }) => {
      progress.value = percentage;
    });
    stop.onclick = running.stop;
    stop.disabled = progress.hidden = false;
    const { success, data, cancelled, metadata, error } = await running.answer;
    if (success) said.textContent = JSON.stringify(data, undefined, 2);
    else said.textContent = cancelled ? `Stopped: ${metadata.stop}` : `${error.code}: ${error.message}`;
  } catch (error) {
    said.textContent = error.message;
  }
  progress.hidden = stop.disabled = true;
};

try {
  const offered = await ask({ type: 'list' }).answer;
  app.textContent = offered.app.name;
  capability.append(...offered.capabilities.map(({ name, description }) => Object.assign(new Option(name), { title: description })));
  form.hidden = false;
} catch ({ code, message }) {
  app.textContent = code === 'TIMEOUT' ? 'This page offers nothing' : message;
}

import { activityOf } from 'caphost/activity';
import { onScopeDispose, shallowRef } from 'vue';

/** Offers a capability while the component is mounted. */
export function useCapability(host, name, options, handler) {
  // A hot reload may set up the new component before it removes the old one.
  onScopeDispose(host.register(name, { ...options, replace: true }, handler));
}

/** An agent while the component is mounted, once the agent is connected. */
export function useAgent(connect) {
  const agent = shallowRef();
  let left = false;
  const opening = connect();
  opening.then((it) => left || (agent.value = it), console.error);
  onScopeDispose(() => {
    left = true;
    agent.value = undefined;
    opening.then((it) => it.shutdown(), () => {});
  });
  return agent;
}

/** Calls when the component is mounted. Returns the response when it has arrived. */
export function useCall(agent, name, params = {}) {
  const response = shallowRef();
  const controller = new AbortController();
  const { signal } = controller;
  agent.call(name, params, { signal }).then((it) => signal.aborted || (response.value = it));
  onScopeDispose(() => controller.abort('The component has gone'));
  return response;
}

/** A call that the user starts, follows and stops. */
export function useAction(agent, name) {
  const state = shallowRef({});
  let current;
  const start = async (params = {}) => {
    current?.abort('It was started again');
    const controller = (current = new AbortController());
    const show = (it) => current === controller && (state.value = it);
    show({ running: true });
    const response = await agent.call(name, params, {
      signal: controller.signal,
      onProgress: (progress) => show({ running: true, progress }),
    });
    show({ response });
  };
  onScopeDispose(() => current?.abort('The component has gone'));
  return { state, start, stop: () => current?.abort('The user pressed Stop') };
}

/** The calls of agents, for a component of your own. */
export function useActivity(host) {
  const { subscribe, calls } = activityOf(host);
  const shown = shallowRef(calls());
  onScopeDispose(subscribe(() => (shown.value = calls())));
  return shown;
}

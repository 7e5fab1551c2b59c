import type { ABPResponse, CallParams, CapabilityOptions, DataOf, Handler, Host, NameOf, ParamsOf, ProgressInfo } from 'caphost';
import { activityOf } from 'caphost/activity';
import type { Agent } from 'caphost/agent';
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react';

/** Offers a capability while the component is mounted. Its handler sees the latest props and state. */
export function useCapability<Caps, Name extends NameOf<Caps>>(
  host: Host<Caps>,
  name: Name,
  options: CapabilityOptions,
  handler: Handler<ParamsOf<Caps, Name>, DataOf<Caps, Name>, Caps>,
) {
  const latest = useRef({ options, handler });
  useLayoutEffect(() => void (latest.current = { options, handler }));
  useEffect(() => {
    const unregister = host.register(name, latest.current.options, (params, context) => latest.current.handler(params, context));
    return () => void unregister();
  }, [host, name]);
}

/** An agent while the component is mounted, once the agent is connected. `connect` must stay the same function. */
export function useAgent<Caps>(connect: () => Promise<Agent<Caps>>) {
  const [agent, setAgent] = useState<Agent<Caps>>();
  useEffect(() => {
    let left = false;
    const opening = connect();
    opening.then((it) => left || setAgent(it), console.error);
    return () => {
      left = true;
      setAgent(undefined);
      opening.then((it) => it.shutdown(), () => {});
    };
  }, [connect]);
  return agent;
}

/** Calls when the component is mounted, and again when the parameters change. Returns the response when it has arrived. */
export function useCall<Caps, Name extends NameOf<Caps>>(agent: Agent<Caps>, name: Name, params?: CallParams<Caps, Name>) {
  const [response, setResponse] = useState<ABPResponse<DataOf<Caps, Name>>>();
  const given = JSON.stringify(params ?? {});
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    agent.call(name, JSON.parse(given), { signal }).then((it) => signal.aborted || setResponse(it));
    // StrictMode cleans up at once, and a call that is aborted at once is never sent.
    return () => controller.abort('The component has gone');
  }, [agent, name, given]);
  return response;
}

/** The state of a call. */
export interface Action<Data> {
  running?: boolean;
  progress?: ProgressInfo;
  response?: ABPResponse<Data>;
}

/** A call that the user starts, follows and stops. */
export function useAction<Caps, Name extends NameOf<Caps>>(agent: Agent<Caps>, name: Name) {
  const [state, setState] = useState<Action<DataOf<Caps, Name>>>({});
  const current = useRef<AbortController>(undefined);
  useEffect(() => () => current.current?.abort('The component has gone'), []);
  const start = async (...[params]: {} extends CallParams<Caps, Name> ? [CallParams<Caps, Name>?] : [CallParams<Caps, Name>]) => {
    current.current?.abort('It was started again');
    const controller = (current.current = new AbortController());
    const show = (it: Action<DataOf<Caps, Name>>) => current.current === controller && setState(it);
    show({ running: true });
    const response = await agent.call(name, params ?? ({} as CallParams<Caps, Name>), {
      signal: controller.signal,
      onProgress: (progress) => show({ running: true, progress }),
    });
    show({ response });
  };
  return { ...state, start, stop: () => current.current?.abort('The user pressed Stop') };
}

/** The calls of agents, for a component of your own. */
export function useActivity(host: Host) {
  const { subscribe, calls } = activityOf(host);
  return useSyncExternalStore(subscribe, calls);
}

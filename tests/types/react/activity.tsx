import type { Host } from 'caphost';
import { activityOf, type CapActivityElement } from 'caphost/react';
import { useRef, useState } from 'react';

type Caps = { 'text.words': (params: { urls: string[] }) => { words: number } };

export function Activity({ host, later }: { host: Host<Caps>; later: Host | undefined }) {
  const [keep, setKeep] = useState(3);
  const element = useRef<CapActivityElement>(null);
  return (
    <>
      <cap-activity host={host}></cap-activity>
      <cap-activity host={later} keep={keep} ref={element} className="wide" style={{ maxWidth: 400 }} texts={{ stop: 'Anhalten', cancelled: { abandoned: 'Vielleicht' } }} />
      <cap-activity keep="5" key="other" id="other" aria-label="What agents do" hidden />
      <button onClick={() => setKeep(activityOf(host).calls().length)}>{element.current?.host?.stats().calls}</button>
    </>
  );
}

export function wrong(host: Host) {
  return (
    <>
      {/* @ts-expect-error that is no host */}
      <cap-activity host="host" />
      {/* @ts-expect-error there is no such text */}
      <cap-activity host={host} texts={{ halt: 'Anhalten' }} />
      {/* @ts-expect-error there is no such property */}
      <cap-activity host={host} keeps={3} />
      {/* @ts-expect-error there is no such element */}
      <cap-activities host={host} />
    </>
  );
}

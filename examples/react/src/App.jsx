import 'caphost/activity';
import { Assistant } from './Assistant.jsx';
import { useActivity } from './hooks.ts';
import { host } from './host.js';
import { Notes } from './Notes.jsx';

export function App() {
  const running = useActivity(host).filter(({ state }) => state === 'running').length;
  return (
    <main>
      <h1>Notes</h1>
      <Notes host={host} />
      <Assistant host={host} />
      <h2>What agents do: <output id="running">{running}</output> running</h2>
      <cap-activity host={host}></cap-activity>
    </main>
  );
}

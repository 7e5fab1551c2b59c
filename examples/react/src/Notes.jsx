import { useState } from 'react';
import { flushSync } from 'react-dom';
import { useCapability } from './hooks.ts';
import { pause } from './pause.js';

/** The list of notes. People write notes here, and agents may write notes too. */
export function Notes({ host }) {
  const [notes, setNotes] = useState(['Buy milk']);

  useCapability(host, 'notes.add', {
    description: 'Adds a note',
    inputSchema: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  }, ({ text }) => {
    // Agents make several calls at once. Each call renders before the next one, so that the next one sees the new note.
    flushSync(() => setNotes((notes) => [...notes, text]));
    return { count: notes.length + 1 };
  });

  useCapability(host, 'notes.count', { description: 'Counts the notes' }, () => {
    performance.mark('notes.count');
    return `${notes.length} notes`;
  });

  useCapability(host, 'notes.export', { description: 'Exports the notes, slowly' }, async (_params, { signal, progress }) => {
    for (let page = 1; page <= 100; page += 1) {
      progress({ progress: page, total: 100, stage: `Page ${page}` });
      await pause(100, signal);
    }
    return { pages: 100 };
  });

  return <ul id="notes">{notes.map((text, index) => <li key={index}>{text}</li>)}</ul>;
}

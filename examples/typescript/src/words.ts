import type { Host } from 'caphost';
import { words, type Caps } from './capabilities.ts';

/** Offers `text.words`. The host is a parameter, so that a test can pass its own. */
export function offerWords(host: Host<Caps>): void {
  host.register('text.words', {
    description: 'Counts the words of some texts',
    inputSchema: words.input,
    outputSchema: words.output,
  }, async ({ texts, pause }, { signal, progress }) => {
    const all: string[] = [];
    for (const [done, text] of texts.entries()) {
      progress({ progress: done, total: texts.length });
      await new Promise((resolve) => setTimeout(resolve, pause));
      signal.throwIfAborted();
      all.push(...text.split(/\s+/).filter(Boolean));
    }
    const longest = all.toSorted((one, other) => other.length - one.length)[0];
    return { words: all.length, longest };
  });
}

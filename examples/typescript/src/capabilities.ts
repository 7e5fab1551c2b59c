import { z } from 'zod';

/** What the app offers: the schemas that check parameters, and that agents are told. */
export const words = {
  input: z.object({ texts: z.array(z.string()), pause: z.number().min(0).default(20) }),
  output: z.object({ words: z.number(), longest: z.string().optional() }),
};
export const primes = {
  input: z.object({ below: z.number().int().min(2).default(1_000_000) }),
  output: z.object({ primes: z.number() }),
};

/** The same for agents, as a type: `z.input` has what they may leave out, `z.output` what they get. */
export type Caps = {
  'text.words': (params: z.input<typeof words.input>) => z.output<typeof words.output>;
  'primes.count': (params: z.input<typeof primes.input>) => z.output<typeof primes.output>;
};

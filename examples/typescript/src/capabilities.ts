import { z } from 'zod';

/** The schemas of the app's capabilities. They check parameters, and agents can read them. */
export const words = {
  input: z.object({ texts: z.array(z.string()), pause: z.number().min(0).default(20) }),
  output: z.object({ words: z.number(), longest: z.string().optional() }),
};
export const primes = {
  input: z.object({ below: z.number().int().min(2).default(1_000_000) }),
  output: z.object({ primes: z.number() }),
};

/** The capabilities as a type for agents: `z.input` has the parameters that they send, `z.output` the data that they get. */
export type Caps = {
  'text.words': (params: z.input<typeof words.input>) => z.output<typeof words.output>;
  'primes.count': (params: z.input<typeof primes.input>) => z.output<typeof primes.output>;
};

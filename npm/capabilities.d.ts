/**
 * Capabilities as types. An app describes what it offers by a map: each name with a function of its
 * parameters to its data.
 *
 * ```ts
 * type Caps = {
 *   'text.words': (params: { urls: string[] }) => { words: number };
 *   'app.reset': () => void;
 * };
 * const host = await createHost<Caps>({ app });
 * const agent = await connectPort<Caps>(port);
 * ```
 *
 * Without a map every name is accepted, and parameters and data are `any`.
 */
import type { ABPResponse } from './types.js';

/** Whether it is `any`: there is no map. */
type IsAny<T> = 0 extends 1 & T ? true : false;

/** The names in a map of capabilities. */
export type NameOf<Caps> = IsAny<Caps> extends true ? string : keyof Caps & string;

/** The parameters of a capability in a map. */
export type ParamsOf<Caps, Name extends NameOf<Caps>> = IsAny<Caps> extends true
  ? any
  : Name extends keyof Caps
    ? Caps[Name] extends (...given: infer Given) => any
      ? Given extends [] ? Record<string, never> : NonNullable<Given[0]>
      : never
    : never;

/** The data of a capability in a map. */
export type DataOf<Caps, Name extends NameOf<Caps>> = IsAny<Caps> extends true
  ? any
  : Name extends keyof Caps
    ? Caps[Name] extends (...given: any[]) => infer Data ? Awaited<Data> : never
    : never;

/** What a call takes after its name. Parameters may be left out if none of them is required. */
export type CallArguments<Caps, Name extends NameOf<Caps>, Options> = {} extends ParamsOf<Caps, Name>
  ? [params?: ParamsOf<Caps, Name>, options?: Options]
  : [params: ParamsOf<Caps, Name>, options?: Options];

/** `call`, with its names, parameters and data from a map. */
interface TypedCall<Caps, Options> {
  <Name extends NameOf<Caps>>(capability: Name, ...given: CallArguments<Caps, Name, Options>): Promise<ABPResponse<DataOf<Caps, Name>>>;
}

/** `call` without a map: the data may be named. */
interface UntypedCall<Options> {
  <Data = any>(capability: string, params?: object, options?: Options): Promise<ABPResponse<Data>>;
}

/** A function that calls capabilities, and gives an ABPResponse. */
export type Call<Caps, Options> = IsAny<Caps> extends true ? UntypedCall<Options> : TypedCall<Caps, Options>;

/** A schema of [Standard Schema](https://standardschema.dev), version 1: of zod, valibot, arktype and others. */
export interface StandardSchema<Input = any, Output = any> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, options?: any) => unknown;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A JSON Schema (2020-12), or a value of a library that speaks Standard Schema. */
export type Schema = StandardSchema | object | boolean;

/** What a handler is given whose parameters have this schema. */
export type ParamsOfSchema<Input> = Input extends StandardSchema<any, infer Output> ? Output : any;

/** What a handler returns whose data has this schema. */
export type DataOfSchema<Output> = Output extends StandardSchema<infer Input, any> ? Input : unknown;

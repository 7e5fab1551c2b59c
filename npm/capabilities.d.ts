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

/** What there is besides where there is no map. Where nobody knows yet, in generic code, nothing is. */
export type WithoutMap<Caps, Type> = IsAny<Caps> extends true ? Type : unknown;

/** The names in a map of capabilities. */
export type NameOf<Caps> = keyof Caps & string;

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

/** The parameters that a call is given: those in the map, or any object where there is none. */
export type CallParams<Caps, Name extends NameOf<Caps>> = IsAny<Caps> extends true ? object : ParamsOf<Caps, Name>;

/** What a call takes after its name. Parameters may be left out if none of them is required. */
export type CallArguments<Caps, Name extends NameOf<Caps>, Options> = {} extends CallParams<Caps, Name>
  ? [params?: CallParams<Caps, Name>, options?: Options]
  : [params: CallParams<Caps, Name>, options?: Options];

/** `call`, with its names, parameters and data from a map. Generic code gives parameters always. */
interface TypedCall<Caps, Options> {
  <Name extends NameOf<Caps>>(capability: Name, params: CallParams<Caps, Name>, options?: Options): Promise<ABPResponse<DataOf<Caps, Name>>>;
  <Name extends NameOf<Caps>>(capability: Name, ...given: CallArguments<Caps, Name, Options>): Promise<ABPResponse<DataOf<Caps, Name>>>;
}

/** `call` without a map: the data may be named. */
interface UntypedCall<Options> {
  <Data = any>(capability: string, params?: object, options?: Options): Promise<ABPResponse<Data>>;
}

/** A function that calls capabilities, and gives an ABPResponse. */
export type Call<Caps, Options> = WithoutMap<Caps, UntypedCall<Options>> & TypedCall<Caps, Options>;

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

/** What a handler is given: what a schema makes of the parameters, if it has types, else what the map says. */
export type ParamsGiven<Caps, Name extends NameOf<Caps>, Input> = Input extends StandardSchema<any, infer Output> ? Output : ParamsOf<Caps, Name>;

/** What a handler returns: what has the schema of the data, if that has types, else what the map says. */
export type DataGiven<Caps, Name extends NameOf<Caps>, Output> = Output extends StandardSchema<infer Input, any> ? Input : DataOf<Caps, Name>;

/** What no schema is: the error names it, and the type in the map. */
interface Differs<Type> {
  'its type differs from the map of capabilities': Type;
}

/** An error where the map has parameters that the schema of them does not take, or data that are none of its schema. */
export type AgreesWith<Caps, Name extends NameOf<Caps>, Input, Output> =
  & (Input extends StandardSchema<infer Taken, any>
    ? ParamsOf<Caps, Name> extends Taken ? unknown : { inputSchema: Differs<ParamsOf<Caps, Name>> }
    : unknown)
  & (Output extends StandardSchema<infer Given, any>
    ? unknown extends Given ? unknown : Given extends DataOf<Caps, Name> ? unknown : { outputSchema: Differs<DataOf<Caps, Name>> }
    : unknown);

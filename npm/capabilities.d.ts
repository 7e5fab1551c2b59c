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

/** The names in a map of capabilities. Signatures spell it out: an error then lists the names. */
export type NameOf<Caps> = keyof Caps & string;

/** The parameters of a capability in a map. Where they may be left out altogether, each of them may. */
export type ParamsOf<Caps, Name extends keyof Caps & string> = IsAny<Caps> extends true
  ? any
  : Name extends keyof Caps
    ? Caps[Name] extends (...given: infer Given) => any
      ? Given extends [] ? Record<string, never> : [] extends Given ? Partial<NonNullable<Given[0]>> : NonNullable<Given[0]>
      : never
    : never;

/** The data of a capability in a map. */
export type DataOf<Caps, Name extends keyof Caps & string> = IsAny<Caps> extends true
  ? any
  : Name extends keyof Caps
    ? Caps[Name] extends (...given: any[]) => infer Data ? Awaited<Data> : never
    : never;

/** The parameters that a call is given: those in the map, or any object where there is none. */
export type CallParams<Caps, Name extends keyof Caps & string> = IsAny<Caps> extends true ? object : ParamsOf<Caps, Name>;

/** What a call takes after its name. Parameters may be left out if none of them is required. */
export type CallArguments<Caps, Name extends keyof Caps & string, Options> = {} extends CallParams<Caps, Name>
  ? [params?: CallParams<Caps, Name>, options?: Options]
  : [params: CallParams<Caps, Name>, options?: Options];

/** `call`, with its names, parameters and data from a map. Generic code gives parameters always. */
interface TypedCall<Caps, Options> {
  <Name extends keyof Caps & string>(capability: Name, params: CallParams<Caps, Name>, options?: Options): Promise<ABPResponse<DataOf<Caps, Name>>>;
  <Name extends keyof Caps & string>(capability: Name, ...given: CallArguments<Caps, Name, Options>): Promise<ABPResponse<DataOf<Caps, Name>>>;
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
export type ParamsGiven<Caps, Name extends keyof Caps & string, Input> = Input extends StandardSchema<any, infer Output> ? Output : ParamsOf<Caps, Name>;

/** What a handler returns: what has the schema of the data, if that has types, else what the map says. */
export type DataGiven<Caps, Name extends keyof Caps & string, Output> = Output extends StandardSchema<infer Input, any> ? Input : DataOf<Caps, Name>;

/** What no schema is: an error names it, with the type of the schema and that in the map. */
interface SchemaDiffersFromMap<InSchema, InMap> {
  'the type of the schema, and that in the map of capabilities': [InSchema, InMap];
}

/** With `undefined` wherever something is optional: some libraries say so, and some do not. */
type Loose<Type> = IsAny<Type> extends true
  ? Type
  : Type extends string | number | bigint | boolean | symbol | null | undefined | ((...given: any[]) => unknown)
    ? Type
    : Type extends readonly unknown[]
      ? { [Key in keyof Type]: Loose<Type[Key]> }
      : Type extends object
        ? { [Key in keyof Type]: {} extends Pick<Type, Key> ? Loose<Type[Key]> | undefined : Loose<Type[Key]> }
        : Type;

/** Whether whatever is of one type is of the other, but for what optional members may be. */
type Fits<Type, Other> = [Type] extends [Other] ? true : [Loose<Type>] extends [Loose<Other>] ? true : false;

/** An error where the map has parameters that the schema of them does not take, or data that are none of its schema. */
export type AgreesWith<Caps, Name extends keyof Caps & string, Input, Output> =
  & (Input extends StandardSchema<infer Taken, any>
    ? Fits<ParamsOf<Caps, Name>, Taken> extends true ? unknown : { inputSchema: SchemaDiffersFromMap<Taken, ParamsOf<Caps, Name>> }
    : unknown)
  & (Output extends StandardSchema<infer Given, any>
    ? unknown extends Given ? unknown : Fits<Given, DataOf<Caps, Name>> extends true ? unknown : { outputSchema: SchemaDiffersFromMap<Given, DataOf<Caps, Name>> }
    : unknown);

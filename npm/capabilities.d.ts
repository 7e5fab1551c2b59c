/**
 * Capabilities as types. An app describes its capabilities by a map. The map has a function type for each
 * name, from the parameters to the data.
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
 * Without a map, every name is accepted, and parameters and data are `any`.
 */
import type { ABPResponse } from './types.js';

/** Whether the type is `any`, which means that there is no map. */
type IsAny<T> = 0 extends 1 & T ? true : false;

/** `Type` if there is no map, else nothing. In generic code, where it is not known yet, nothing. */
export type WithoutMap<Caps, Type> = IsAny<Caps> extends true ? Type : unknown;

/** The names in a map of capabilities. Signatures write this type out, so that an error lists the names. */
export type NameOf<Caps> = keyof Caps & string;

/** The parameters of a capability in a map. If all parameters together may be left out, each may be left out. */
export type ParamsOf<Caps, Name extends keyof Caps & string> = IsAny<Caps> extends true
  ? any
  : Name extends keyof Caps
    ? Caps[Name] extends (...given: infer Given) => any
      ? Given extends [] ? Record<string, never> : [] extends Given ? Partial<NonNullable<Given[0]>> : NonNullable<Given[0]>
      : never
    : never;

/** A function in parameters: of any kind, but not `any`. */
type IsFunction<Type> = IsAny<Type> extends true ? false : [NonNullable<Type>] extends [never] ? false : NonNullable<Type> extends (...given: any[]) => unknown ? true : false;

/** The names of the parameters that are functions. */
type FunctionsOf<Params> = { [Name in keyof Params]-?: IsFunction<Params[Name]> extends true ? Name : never }[keyof Params];

/** A function of the agent as a handler gets it: the function is async, and the handler has it until the end of the call. */
type LentFunction<Type> = Type extends (...given: infer Given) => infer Data ? (...given: Given) => Promise<Awaited<Data>> : Type;

/** Parameters as a handler gets them. */
type Lent<Params> = IsAny<Params> extends true
  ? Params
  : [FunctionsOf<Params>] extends [never]
    ? Params
    : { [Name in keyof Params]: IsFunction<Params[Name]> extends true ? LentFunction<Params[Name]> : Params[Name] };

/** The data of a capability in a map. */
export type DataOf<Caps, Name extends keyof Caps & string> = IsAny<Caps> extends true
  ? any
  : Name extends keyof Caps
    ? Caps[Name] extends (...given: any[]) => infer Data ? Awaited<Data> : never
    : never;

/** The parameters of a call: those in the map, or any object if there is no map. */
export type CallParams<Caps, Name extends keyof Caps & string> = IsAny<Caps> extends true ? object : ParamsOf<Caps, Name>;

/** The arguments of a call after the name. The parameters may be left out if none of them is required. */
export type CallArguments<Caps, Name extends keyof Caps & string, Options> = {} extends CallParams<Caps, Name>
  ? [params?: CallParams<Caps, Name>, options?: Options]
  : [params: CallParams<Caps, Name>, options?: Options];

/** `call`, with its names, parameters and data from a map. Generic code always passes parameters. */
interface TypedCall<Caps, Options> {
  <Name extends keyof Caps & string>(capability: Name, params: CallParams<Caps, Name>, options?: Options): Promise<ABPResponse<DataOf<Caps, Name>>>;
  <Name extends keyof Caps & string>(capability: Name, ...given: CallArguments<Caps, Name, Options>): Promise<ABPResponse<DataOf<Caps, Name>>>;
}

/** `call` without a map. A type argument may name the type of the data. */
interface UntypedCall<Options> {
  <Data = any>(capability: string, params?: object, options?: Options): Promise<ABPResponse<Data>>;
}

/** A function that calls a capability and returns an ABPResponse. */
export type Call<Caps, Options> = WithoutMap<Caps, UntypedCall<Options>> & TypedCall<Caps, Options>;

/** The next part of every name in a map of capabilities that begins with `Begin`. */
type PartAfter<Caps, Begin extends string> = keyof Caps & string extends infer Name
  ? Name extends `${Begin}${infer Rest}` ? Rest extends `${infer Part}.${string}` ? Part : Rest : never
  : never;

/** The method of a capability, which returns its data. */
type Method<Caps, Name, Options> = Name extends keyof Caps & string
  ? (...given: CallArguments<Caps, Name, Options>) => Promise<DataOf<Caps, Name>>
  : unknown;

/** The capabilities as methods, by the parts of their names. `any` if there is no map. */
export type Api<Caps, Options, Begin extends string = ''> = IsAny<Caps> extends true
  ? any
  : { readonly [Part in PartAfter<Caps, Begin>]: Method<Caps, `${Begin}${Part}`, Options> & Api<Caps, Options, `${Begin}${Part}.`> };

/** A [Standard Schema](https://standardschema.dev), version 1: a schema of zod, valibot, arktype and others. */
export interface StandardSchema<Input = any, Output = any> {
  readonly '~standard': {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown, options?: any) => unknown;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
  };
}

/** A JSON Schema (2020-12), or a schema of a library that implements Standard Schema. */
export type Schema = StandardSchema | object | boolean;

/** The type of a handler's parameters: the output of the schema, if it has types, else the parameters in the map, with async functions. */
export type ParamsGiven<Caps, Name extends keyof Caps & string, Input> = Input extends StandardSchema<any, infer Output> ? Output : Lent<ParamsOf<Caps, Name>>;

/** The type of a handler's data: the input of the output schema, if it has types, else the data in the map. */
export type DataGiven<Caps, Name extends keyof Caps & string, Output> = Output extends StandardSchema<infer Input, any> ? Input : DataOf<Caps, Name>;

/** A type that no schema has. The compiler's error shows this name, the type of the schema and the type in the map. */
interface SchemaDiffersFromMap<InSchema, InMap> {
  'the type of the schema, and that in the map of capabilities': [InSchema, InMap];
}

/** The type with `undefined` added wherever a member is optional: some libraries add it, some do not. */
type Loose<Type> = IsAny<Type> extends true
  ? Type
  : Type extends string | number | bigint | boolean | symbol | null | undefined | ((...given: any[]) => unknown)
    ? Type
    : Type extends readonly unknown[]
      ? { [Key in keyof Type]: Loose<Type[Key]> }
      : Type extends object
        ? { [Key in keyof Type]: {} extends Pick<Type, Key> ? Loose<Type[Key]> | undefined : Loose<Type[Key]> }
        : Type;

/** Whether every value of one type is also of the other type, except for `undefined` in optional members. */
type Fits<Type, Other> = [Type] extends [Other] ? true : [Loose<Type>] extends [Loose<Other>] ? true : false;

/** An error if the schema does not accept the map's parameters, or if the map's data differ from the schema's data. */
export type AgreesWith<Caps, Name extends keyof Caps & string, Input, Output> =
  & (Input extends StandardSchema<infer Taken, any>
    ? Fits<ParamsOf<Caps, Name>, Taken> extends true ? unknown : { inputSchema: SchemaDiffersFromMap<Taken, ParamsOf<Caps, Name>> }
    : unknown)
  & (Output extends StandardSchema<infer Given, any>
    ? unknown extends Given ? unknown : Fits<Given, DataOf<Caps, Name>> extends true ? unknown : { outputSchema: SchemaDiffersFromMap<Given, DataOf<Caps, Name>> }
    : unknown);

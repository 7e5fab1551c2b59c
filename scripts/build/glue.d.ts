/** A module as an object of its exports, which the build makes: `as-object.mjs`. */
declare module 'object:*' {
  const all: any;
  export default all;
}

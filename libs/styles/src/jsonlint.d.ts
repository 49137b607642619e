declare module '@mapbox/jsonlint-lines-primitives' {
  /** Parses JSON; each object of the result has its line in `__line__`, which is not enumerable. Throws at the first fault. */
  export function parse(text: string): unknown
}

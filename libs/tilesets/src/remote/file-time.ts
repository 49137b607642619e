/**
 * Converts microseconds since 1970 for `utimes`, so that they are read back unchanged. `utimes` takes seconds as a double, whose resolution
 * is a quarter of a microsecond today, and Node truncates the rest to microseconds or nanoseconds, depending on its version. Adding a quarter
 * keeps both from falling into the previous microsecond. Valid until 2038, when doubles become coarser.
 */
export function secondsFor(microseconds: bigint): number {
  return (Number(microseconds) + 0.25) / 1e6
}

export function microsecondsOf(mtimeNs: bigint): bigint {
  return (mtimeNs + 500n) / 1000n
}

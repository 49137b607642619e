/**
 * A file's time as microseconds since 1970, and what `utimes` must be given for it to be read back as that. `utimes` takes seconds as a double, which
 * is a quarter of a microsecond coarse today, and Node cuts what is left to whole microseconds or to nanoseconds, depending on its version: a quarter
 * more keeps both from falling into the microsecond before. Until 2038, when a double becomes coarser.
 */
export function secondsFor(microseconds: bigint): number {
  return (Number(microseconds) + 0.25) / 1e6
}

export function microsecondsOf(mtimeNs: bigint): bigint {
  return (mtimeNs + 500n) / 1000n
}

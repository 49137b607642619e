/**
 * What to add to `performance.now()` for the clock that all processes of this machine share (CLOCK_MONOTONIC on Linux), in milliseconds.
 * It is never set, and it stands still while the machine is suspended.
 */
export const HOST_CLOCK_OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now()

/**
 * Offset in ms from `performance.now()` to the clock that all processes of this machine share (CLOCK_MONOTONIC on Linux). That clock is
 * never set, and it stops while the machine is suspended.
 */
export const HOST_CLOCK_OFFSET = Number(process.hrtime.bigint()) / 1e6 - performance.now()

import type { Queryable, Transaction } from './connect.js'

/** The trace of the request that caused a job or a delivery. It continues there, perhaps in another process and later. */
export interface KeptTrace {
  /** W3C Trace Context */
  readonly traceparent: string
  /** `X-Request-Id` of the caller */
  readonly request_id?: string
}

/** Returns the value for an INSERT. */
export function traceColumn(sql: Queryable, trace: KeptTrace | null | undefined) {
  return trace ? sql.json({ ...trace }) : sql`NULL::jsonb`
}

/** Assigns deliveries that triggers insert to this trace, until the transaction ends. */
export async function causeDeliveries(tx: Transaction, trace: KeptTrace | null): Promise<void> {
  if (trace !== null) await tx`SELECT set_config('gateway.trace', ${JSON.stringify(trace)}, true)`
}

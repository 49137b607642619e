import type { Queryable, Transaction } from './connect.js'

/** The trace of the request that caused a job or a delivery: it goes on in there, perhaps in another process and later. */
export interface KeptTrace {
  /** W3C Trace Context */
  readonly traceparent: string
  /** the `X-Request-Id` that the caller sent */
  readonly request_id?: string
}

/** For an INSERT. */
export function traceColumn(sql: Queryable, trace: KeptTrace | null | undefined) {
  return trace ? sql.json({ ...trace }) : sql`NULL::jsonb`
}

/** Until the transaction ends, deliveries that triggers insert belong to this trace. */
export async function causeDeliveries(tx: Transaction, trace: KeptTrace | null): Promise<void> {
  if (trace !== null) await tx`SELECT set_config('gateway.trace', ${JSON.stringify(trace)}, true)`
}

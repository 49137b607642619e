/** The example of an operation. */
export interface Example {
  /** path parameters by name; `{code}` and `{id}` have defaults */
  readonly parameters?: Readonly<Record<string, string | number>>
  /** the body of the request */
  readonly request?: unknown
  /** body of the success response */
  readonly answer?: unknown
  /** the body by media type, if a successful response has one of several */
  readonly answers?: Readonly<Record<string, unknown>>
  /** the same as text, if the response may be JSON or text */
  readonly text?: string
}

export const list = (...items: readonly unknown[]) => ({ items, total: items.length })
/** The result of an action on many items of which one does not exist. */
export const bulkResult = (done: number, error: string, message: string) => ({
  matched: done + 1,
  done,
  failed: [{ id: ID, code: 'not_found', error, details: [{ code: message, params: {} }] }],
})
export const ID = '0b9d3a52-5c1e-4b5f-9f57-2f1f4f3c7d10'
export const EARLIER = '2026-03-01T08:00:00.000Z'
export const LATER = '2026-03-01T08:00:02.500Z'

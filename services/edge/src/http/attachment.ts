import { create } from 'content-disposition'

/** `attachment; filename=name`, where the name needs no quotes. What needs them begins with one, and is left alone. */
const UNQUOTED = /^attachment; filename=([^";]+)/

/**
 * The value of Content-Disposition (RFC 6266) that offers a download under `fileName`, whatever that holds: what ASCII cannot say is in
 * `filename*` (RFC 8187). Always quoted (either form is allowed): scripts that take the name out by a pattern expect the quotes.
 */
export function attachment(fileName: string): string {
  // Half of a surrogate pair has no UTF-8, and the library throws at it.
  const encodable = Buffer.from(fileName).toString()
  return create(encodable).replace(UNQUOTED, 'attachment; filename="$1"')
}

import { create } from 'content-disposition'

/** `attachment; filename=name`, where the name needs no quotes. What needs them begins with one, and is left alone. */
const UNQUOTED = /^attachment; filename=([^";]+)/
const ASCII = /^[ -~]*$/

/**
 * The value of Content-Disposition (RFC 6266) that offers a download under `fileName`, whatever that holds: what ASCII cannot say is in
 * `filename*` (RFC 8187). Always quoted (either form is allowed): scripts that take the name out by a pattern expect the quotes.
 * @param code of what is downloaded, in ASCII: its name, before the extension, for clients that do not read `filename*`
 */
export function attachment(fileName: string, code: string): string {
  // Half of a surrogate pair has no UTF-8, and the library throws at it.
  const encodable = Buffer.from(fileName).toString()
  const [extension = ''] = /\.[a-z0-9]{1,10}$/i.exec(encodable) ?? []
  const fallback = ASCII.test(encodable) || !ASCII.test(code) || `${code}${extension}`
  return create(encodable, { fallback }).replace(UNQUOTED, 'attachment; filename="$1"')
}

import { create } from 'content-disposition'

/** Matches `attachment; filename=name` with a name that needs no quotes. A name that needs quotes already has them. */
const UNQUOTED = /^attachment; filename=([^";]+)/
const ASCII = /^[ -~]*$/

/**
 * Returns a Content-Disposition value (RFC 6266) that offers a download as `fileName`. Characters beyond ASCII are in `filename*` (RFC 8187).
 * The name is always quoted, although both forms are allowed: scripts that extract the name by a pattern expect quotes.
 * @param code name in ASCII, before the extension, for clients that do not read `filename*`
 */
export function attachment(fileName: string, code: string): string {
  // An unpaired surrogate has no UTF-8 form, and the library throws for it.
  const encodable = Buffer.from(fileName).toString()
  const [extension = ''] = /\.[a-z0-9]{1,10}$/i.exec(encodable) ?? []
  const fallback = ASCII.test(encodable) || !ASCII.test(code) || `${code}${extension}`
  return create(encodable, { fallback }).replace(UNQUOTED, 'attachment; filename="$1"')
}

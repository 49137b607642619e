import { readFile } from 'node:fs/promises'
import { serve } from '@gateway/core/processes/serve.js'
import { withGatewayAddresses } from '@gateway/styles/gateway-addresses.js'
import type { StyleProblem } from '@gateway/styles/style-json.js'
import { checkStyle } from '@gateway/styles/validate.js'

export interface CheckTask {
  readonly file: string
  /** code under which the style is imported */
  readonly code: string
  /** base URLs of this gateway */
  readonly bases: { readonly tileBase: string; readonly vectorBase: string }
}

/** `document`: the text to store instead, with `gateway://` URLs; null: the file stays as it is. */
export type CheckAnswer =
  | { readonly ok: true; readonly document: string | null }
  | { readonly ok: false; readonly problems: readonly StyleProblem[] }

serve<CheckTask, CheckAnswer>(async ({ file, code, bases }) => {
  const checked = checkStyle((await readFile(file, 'utf8')).replace(/^\uFEFF/, ''))
  if (!checked.ok) return checked
  const style = withGatewayAddresses(checked.style, bases, code)
  const isChanged = JSON.stringify(style) !== JSON.stringify(checked.style)
  return { ok: true, document: isChanged ? `${JSON.stringify(style, null, 2)}\n` : null }
})

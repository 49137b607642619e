import { withGatewayAddresses } from '@gateway/styles/gateway-addresses.js'
import { rewriteStyle } from '@gateway/styles/rewrite.js'
import { isAbsolute, type StyleJson } from '@gateway/styles/style-json.js'

/** Public addresses of this gateway without a trailing slash: of tiles and styles, and of vectors if they have another one. */
type Bases = readonly string[]

const basesOf = ([tileBase = '', vectorBase = tileBase]: Bases) => ({ tileBase, vectorBase })

/** Returns a document for readers as it is stored: with `gateway://` addresses, and without addresses of this gateway. */
export function storedForm(document: StyleJson, bases: Bases, code: string): StyleJson {
  return withGatewayAddresses(document, basesOf(bases), code)
}

/** Returns a stored document for readers, without a credential. */
export function servedForm(style: StyleJson, bases: Bases, code: string): StyleJson {
  const { tileBase, vectorBase } = basesOf(bases)
  return rewriteStyle(style, { code, tileBase, vectorBase, styleBase: tileBase, credential: '', fontRevision: '' })
}

/** Returns a stored document for another code. It has no folder, so that it uses the sprite of the style that it is a copy of. */
export function copiedForm(style: StyleJson, bases: Bases, from: string, to: string): StyleJson {
  const { sprite } = style
  const isOwn = typeof sprite === 'string' && !isAbsolute(sprite)
  const named = isOwn ? { ...style, sprite: `gateway://sprites/${encodeURIComponent(from)}` } : style
  return storedForm(servedForm(named, bases, from), bases, to)
}

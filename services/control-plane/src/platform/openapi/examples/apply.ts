import type { Operation } from '../document.js'
import { ADMINISTRATION } from './administration.js'
import { CATALOG } from './catalog.js'
import { DATA_PLANE } from './data-plane.js'
import { DELIVERIES } from './deliveries.js'
import type { Example } from './example.js'
import { SLICING } from './slicing.js'
import { STYLES } from './styles.js'

/** By operation id. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  ...CATALOG,
  ...STYLES,
  ...ADMINISTRATION,
  ...DELIVERIES,
  ...SLICING,
  ...DATA_PLANE,
}

interface Body {
  content?: Record<string, { example?: unknown }>
}

/** Adds the example of an operation to the schemas of its parameters, its body and its success response. */
export function applyExample(operation: Operation): void {
  const example = EXAMPLES[operation.operationId ?? '']
  if (example === undefined) return
  // Copies, because operations share the objects of their common parameters.
  operation.parameters = (operation.parameters ?? []).map((parameter) => {
    const value = example.parameters?.[(parameter as { name: string }).name]
    return value === undefined ? parameter : { ...(parameter as object), example: value }
  })
  setExample(operation.requestBody as Body | undefined, example.request, undefined)
  for (const [status, response] of Object.entries(operation.responses ?? {})) {
    if (!status.startsWith('2')) continue
    setExample(response as Body, example.answer, example.text)
    for (const [type, answer] of Object.entries(example.answers ?? {})) {
      const media = (response as Body).content?.[type]
      if (media !== undefined) media.example = answer
    }
  }
}

/** An example of an image or an archive would be meaningless. */
export const READABLE = /^text|json$|xml$|form-data$/

function setExample(body: Body | undefined, example: unknown, text: string | undefined): void {
  if (example === undefined) return
  for (const [type, media] of Object.entries(body?.content ?? {})) {
    const isText = type.startsWith('text/') && typeof example !== 'string'
    if (READABLE.test(type)) media.example = isText ? text : example
  }
}

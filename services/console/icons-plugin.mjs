import { createRequire } from 'node:module'
import { join } from 'node:path'

const PREFIX = '~icons/'
const GENERATED = `\0${PREFIX}`

/**
 * Makes a component of each imported icon (`import IconKey from '~icons/key'`) from the one file of all Tabler icons. The package of components has
 * two files for each of its 5,900 icons, and would be the largest part of the packages that serving needs.
 * @returns {import('vite').Plugin}
 */
export function icons() {
  const require = createRequire(import.meta.url)
  /** @type {Record<string, {body: string}> | undefined} */
  let known
  return {
    name: 'icons',
    resolveId: (id) => (id.startsWith(PREFIX) ? `\0${id}` : null),
    load(id) {
      if (!id.startsWith(GENERATED)) return null
      known ??= require('@iconify-json/tabler/icons.json').icons
      const name = id.slice(GENERATED.length)
      const component = JSON.stringify(join(import.meta.dirname, 'src/ui/icon.tsx'))
      return `import { icon } from ${component}\nexport default /* @__PURE__ */ icon(${JSON.stringify(linesOf(known[name]?.body, name))})`
    },
  }
}

/** Throws if the icon does not exist or has other elements than paths. */
function linesOf(body = '', name) {
  const lines = [...body.matchAll(/<path [^<>]*?\bd="([^"<]+)"/g)].map(([, line]) => line)
  if (lines.length === 0 || lines.length !== body.match(/<(?!g\b|\/)/g)?.length)
    throw new Error(`@iconify-json/tabler has no icon "${name}" that consists of lines.`)
  return lines
}

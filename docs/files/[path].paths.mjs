/** Pages of Markdown files outside of docs, such as deploy/README.md, for the documentation site. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { linkedFiles } from '../../services/tools/docs/linked-files.mjs'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

export default {
  paths: () =>
    linkedFiles(ROOT).pages.map((path) => ({
      params: { path: path.replace(/\.md$/, '') },
      content: readFileSync(`${ROOT}${path}`, 'utf8'),
    })),
}

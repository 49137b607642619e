/** `npm run build` of the console: the same build as a start makes, and its stamp, so that the next start finds it done. */
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildConsole } from './console.mjs'

const result = await buildConsole(join(dirname(fileURLToPath(import.meta.url)), '../../..'))
if (!result.ok) {
  process.stderr.write(`${result.output}\n`)
  process.exitCode = 1
}

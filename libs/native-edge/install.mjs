// Builds the native addon. Never fails, because bodies are copied without the addon, so an installation must not fail
// for it.
import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

function giveUp(why) {
  console.log(
    `The native addon was not built (${why}): tiles are served without it, slower. ` +
      'Once g++, make and python3 are there: npm run install --workspace=@gateway/native-edge',
  )
  process.exit(0)
}

if (process.platform !== 'linux') giveUp(`it is for Linux, this is ${process.platform}`)

// Headers that are installed with this Node save node-gyp the download; without them node-gyp downloads them from
// nodejs.org.
const prefix = dirname(dirname(process.execPath))
const headers = existsSync(join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : []

// npm puts its own node-gyp on the PATH of install scripts. `configure build` compiles only what has changed.
const build = spawnSync('node-gyp', ['configure', 'build', '--jobs=max', '--loglevel=error', ...headers], {
  cwd: import.meta.dirname,
  encoding: 'utf8',
  stdio: ['ignore', 'pipe', 'pipe'],
})
if (build.error) giveUp(`node-gyp: ${build.error.message}`)
if (build.status !== 0) {
  const missing = ['g++', 'make', 'python3'].filter((tool) => spawnSync(tool, ['--version']).error)
  if (missing.length > 0) giveUp(`not found: ${missing.join(', ')}`)
  const lines = build.stderr.split('\n').filter((line) => /not found|error|ERR!/i.test(line))
  giveUp(lines[0]?.replace('gyp ERR! ', '').trim() ?? `node-gyp ended with ${build.status ?? build.signal}`)
}
// `loadAddon` detects an addon that is older than its sources by this digest.
const { BUILT_FROM, digestOfSources } = createRequire(import.meta.url)('./sources.cjs')
writeFileSync(BUILT_FROM, digestOfSources())

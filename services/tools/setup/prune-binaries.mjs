/** npm's postinstall: removes the binaries for other platforms from packages that have binaries for all of them (250 MB). */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'

const { platform, arch } = process

/** Folders below node_modules, the pattern of their binaries, and the prefix of this platform's binaries. */
const BINARIES = [
  { folder: 'uWebSockets.js', of: /\.node$/, own: `uws_${platform}_${arch}_` },
  { folder: 'uWebSockets.js-older/dist/bin', of: /\.node$/, own: `uws_${platform}_${arch}_` },
  { folder: '@photostructure/sqlite/prebuilds', of: /-/, own: `${platform}-${arch}` },
]

for (const { folder, of, own } of BINARIES) {
  const path = join('node_modules', folder)
  const names = existsSync(path) ? readdirSync(path).filter((name) => of.test(name)) : []
  for (const name of names.filter((name) => !name.startsWith(own))) rmSync(join(path, name), { recursive: true })
}

// The sources from which the addon is built.
const { createHash } = require('node:crypto')
const { readdirSync, readFileSync } = require('node:fs')
const { join } = require('node:path')

const SOURCES = join(__dirname, 'native')
exports.BUILT_FROM = join(__dirname, 'build/Release/sources')

exports.digestOfSources = () => {
  const hash = createHash('sha256')
  const files = readdirSync(SOURCES, { recursive: true, encoding: 'utf8' }).filter((name) => /\.(cc|h)$/.test(name))
  for (const name of files.sort()) hash.update(name).update(readFileSync(join(SOURCES, name)))
  return hash.digest('hex')
}

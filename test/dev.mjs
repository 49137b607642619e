/**
 * Runs the gateway, and compiles, bundles and restarts it when files change: `npm run dev`. With `--sample` it runs on sample data of an
 * organisation, in a separate data directory (var/sample). Delete that directory to create the data again.
 */
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { runnerImport } from 'vite'

const root = fileURLToPath(new URL('..', import.meta.url))

const [option, ...others] = process.argv.slice(2)
if (others.length > 0 || (option !== undefined && option !== '--sample')) {
  process.stderr.write('npm run dev takes one option: --sample\n')
  process.exit(2)
}
if (option === '--sample') {
  process.env.DATA_DIR = join(root, 'var/sample')
  process.env.DEMO = 'false'
  process.env.SLICE_SOURCE_ROOTS ??= join(process.env.DATA_DIR, 'sample/imagery')
  // This package is only type-checked, so its module is compiled here.
  const { module } = await runnerImport(join(root, 'test/harness/sample/make.ts'), { configFile: false, root })
  await module.makeSample(process.env.DATA_DIR)
  // Vite sets it, and the console would be bundled for development with a runtime that the bundle does not have.
  delete process.env.NODE_ENV
}
process.argv.splice(
  2,
  1,
  ...['--kill-others', '--names', 'types,console,gateway', 'tsc -b --watch --preserveWatchOutput'],
  ...[
    'npm run --workspace=@gateway/console watch',
    'nodemon --config config/nodemon.json services/tools/dist/launcher/main.js',
  ],
)
await import(pathToFileURL(join(root, 'node_modules/concurrently/dist/bin/index.js')).href)

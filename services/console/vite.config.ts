import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Smaller files gain nothing that a packet would notice. */
const MIN_COMPRESSED_BYTES = 1024

/** What is loaded before anything is seen: a twelfth less of it is worth two seconds of a build. */
const FIRST = /^(libraries|shared|en|zh)-/

/**
 * What nearly every page needs is in two files, one of which stays in the browser's cache over most upgrades: left to itself the bundler
 * makes a hundred small ones, and a browser fetches six at a time.
 */
const SHARED = [
  {
    name: 'libraries',
    test: /node_modules\/(?!maplibre-gl|recharts|@mantine\/charts|shpjs|proj4|mgrs|wkt-parser|d3-|victory|@reduxjs|redux|immer|reselect|es-toolkit|decimal|eventemitter3|react-redux|react-smooth|parsedbf|but-unzip)/,
  },
  { name: 'shared', test: /src\/(app|api|ui)\// },
]

export default defineConfig({
  // Whose address the control plane serves it at.
  base: '/admin/',
  root: import.meta.dirname,
  plugins: [react(), mapPage(), compressed()],
  build: {
    target: 'es2022',
    // These know light-dark(): rewritten for older ones it would look for a colour scheme that the component library sets in its own way.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The map library alone is more; it is loaded when a map is shown.
    chunkSizeWarningLimit: 1200,
    // A data: address would need another exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { output: { codeSplitting: { groups: [...SHARED] } } },
  },
  worker: { format: 'es' },
})

/** The page at /map/, with the map library as it was published, by fixed names: other pages load it from there. */
function mapPage(): Plugin {
  return {
    name: 'map-page',
    apply: 'build',
    writeBundle({ dir }) {
      const library = dirname(createRequire(import.meta.url).resolve('maplibre-gl/dist/maplibre-gl.mjs'))
      const to = (name: string) => join(dir as string, 'map', name)
      cpSync(join(import.meta.dirname, 'src/map-page'), to(''), { recursive: true })
      cpSync(join(import.meta.dirname, 'public/favicon.svg'), to('favicon.svg'))
      for (const name of ['maplibre-gl.mjs', 'maplibre-gl-worker.mjs', 'maplibre-gl.css'])
        cpSync(join(library, name), to(name))
    },
  }
}

/** Lays a .br and a .gz beside each file that compresses, for the control plane to send as they are. */
function compressed(): Plugin {
  return {
    name: 'compressed',
    apply: 'build',
    enforce: 'post',
    writeBundle: {
      sequential: true,
      order: 'post',
      handler: ({ dir }) => ['assets', 'map'].forEach((folder) => void compressIn(join(dir as string, folder))),
    },
  }
}

function compressIn(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = join(folder, name)
    const bytes = readFileSync(file)
    if (!/\.(js|mjs|css|svg)$/.test(name) || bytes.length < MIN_COMPRESSED_BYTES) continue
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    const quality = FIRST.test(name) ? constants.BROTLI_MAX_QUALITY : 9
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  }
}

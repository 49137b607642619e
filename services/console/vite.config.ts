import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Smaller files gain nothing that a packet would notice. */
const MIN_COMPRESSED_BYTES = 1024

/** What is loaded before anything is seen: a twelfth less of it is worth two seconds of a build. */
const FIRST = /^(boot|first|en|zh)-/

/** Loaded only where a map, a chart or a file of shapes is shown. */
const HEAVY =
  /node_modules\/(maplibre-gl|recharts|@mantine\/charts|shpjs|proj4|mgrs|wkt-parser|d3-|victory|@reduxjs|redux|immer|reselect|es-toolkit|decimal|eventemitter3|react-redux|react-smooth|parsedbf|but-unzip)/

/** Beside the application: what begins to load the page and its language while that still comes; and lists, which most people open first. */
const EARLY = [
  'src/boot.ts',
  'src/pages/overview/overview-page.tsx',
  'src/pages/basemaps/basemaps-page.tsx',
  'src/pages/tokens/tokens-page.tsx',
]

const GROUPS = [
  // Without the application, which it must not wait for.
  {
    name: 'boot',
    test: /src\/(boot|app\/pages|texts\/language)\.ts|preload-helper/,
    priority: 2,
    includeDependenciesRecursively: false,
  },
  { name: 'first', tags: ['$initial' as const], test: (id: string) => !HEAVY.test(id), priority: 1 },
  {
    name: 'libraries',
    test: (id: string) => id.includes('node_modules') && !HEAVY.test(id),
  },
  { name: 'shared', test: /src\/(app|api|ui)\// },
]

export default defineConfig({
  // Whose address the control plane serves it at.
  base: '/admin/',
  root: import.meta.dirname,
  plugins: [react(), early(), mapPage(), compressed()],
  build: {
    target: 'es2022',
    // These know light-dark(): rewritten for older ones it would look for a colour scheme that the component library sets in its own way.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The map library alone is more; it is loaded when a map is shown.
    chunkSizeWarningLimit: 1200,
    // A data: address would need another exception in the content security policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: {
      output: {
        codeSplitting: { groups: GROUPS },
      },
    },
  },
  worker: { format: 'es' },
})

/** Makes what is early entries of their own, so that it is in the first files, and has the page start the first of them. */
function early(): Plugin {
  return {
    name: 'early',
    apply: 'build',
    buildStart() {
      for (const id of EARLY) this.emitFile({ type: 'chunk', id: join(import.meta.dirname, id) })
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) => {
        const script = Object.values(bundle ?? {}).find(
          (file) => file.type === 'chunk' && file.facadeModuleId?.endsWith('/src/boot.ts'),
        )
        const attrs = { type: 'module', crossorigin: true, src: `/admin/${script?.fileName}` }
        return [{ tag: 'script', attrs, injectTo: 'head-prepend' }]
      },
    },
  }
}

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

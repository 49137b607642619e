import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'

/** Minimum size of compressed files: smaller files save no packet. */
const MIN_COMPRESSED_BYTES = 1024

/** Files loaded before anything is visible: saving a twelfth of their size is worth two seconds of a build. */
const FIRST = /^(boot|first|en|zh)-/

/** Files loaded only with a map, a chart or a shapefile. */
const HEAVY =
  /node_modules\/(maplibre-gl|recharts|@mantine\/charts|shpjs|proj4|mgrs|wkt-parser|d3-|victory|@reduxjs|redux|immer|reselect|es-toolkit|decimal|eventemitter3|react-redux|react-smooth|parsedbf|but-unzip)/

/** Modules loaded in parallel with the application: the start of the page and its language, and the lists, which most users open first. */
const EARLY = [
  'src/boot.ts',
  'src/pages/overview/overview-page.tsx',
  'src/pages/basemaps/basemaps-page.tsx',
  'src/pages/tokens/tokens-page.tsx',
]

const GROUPS = [
  // A separate chunk, because it must not wait for the application.
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
  // The path at which the control plane serves the console.
  base: '/admin/',
  root: import.meta.dirname,
  plugins: [react(), early(), mapPage(), compressed()],
  build: {
    target: 'es2022',
    // These browsers support light-dark(): the fallback for older ones would look for a colour scheme that the component library sets differently.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The map library alone exceeds the default; it is loaded with the first map.
    chunkSizeWarningLimit: 1200,
    // A data: URL would need another exception in the content security policy.
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

/** Makes separate entries of the early modules, so that the first files contain them, and makes the page start the first one. */
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

/** Builds the page at /map/ with the published map library under fixed names, from which other pages load it. */
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

/** Writes a .br and a .gz beside each compressible file, which the control plane sends unchanged. */
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

import { createHash } from 'node:crypto'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import react from '@vitejs/plugin-react'
import postcss from 'postcss'
import { defineConfig, type Plugin } from 'vite'
import { icons } from './icons-plugin.mjs'

/** Minimum size of compressed files: smaller files save no packet. */
const MIN_COMPRESSED_BYTES = 1024

/** Files loaded before anything is visible: saving a twelfth of their size is worth two seconds of a build. */
const FIRST = /^(boot|first|en|zh|map-pages)-/

/** Files loaded only with a map, a chart, a shapefile or the checks of a style. */
const HEAVY =
  /node_modules\/(maplibre-gl|recharts|@mantine\/charts|shpjs|proj4|mgrs|wkt-parser|d3-|victory|@reduxjs|redux|immer|reselect|es-toolkit|decimal|eventemitter3|react-redux|react-smooth|parsedbf|but-unzip|@maplibre\/maplibre-gl-style-spec|@mapbox\/jsonlint|jsonc-parser|fastest-levenshtein)/

/** Files of the map pages and of their maps, and the ones among them that belong to the map library. */
const MAP_PAGES = /src\/(pages\/map-pages|map\/[\w-]+)\.tsx?$/
const MAP_LIBRARY = /src\/map\/(library|version-map|map-view|style-map|style-picture)/

/** Begins to load the page and its language while the application is still being transferred. */
const BOOT = 'src/boot.ts'

const GROUPS = [
  // A separate chunk, because it must not wait for the application.
  {
    name: 'boot',
    test: /src\/(boot|app\/pages|router\/match|texts\/language)\.ts|preload-helper/,
    priority: 4,
    includeDependenciesRecursively: false,
  },
  { name: 'first', tags: ['$initial' as const], test: (id: string) => !HEAVY.test(id), priority: 3 },
  // Only what stands above the tabs of a map's page, with its part of the libraries.
  {
    name: 'map-pages',
    test: (id: string) => MAP_PAGES.test(id) && !MAP_LIBRARY.test(id),
    priority: 2,
  },
  {
    name: 'map-library',
    test: /src\/map\/(version-map|map-view|library)\.tsx?|node_modules\/maplibre-gl/,
    priority: 1,
    // Other pages use some of its dependencies, and must not load the library for them.
    includeDependenciesRecursively: false,
  },
  {
    name: 'libraries',
    test: (id: string) => id.includes('node_modules') && !HEAVY.test(id),
  },
  { name: 'shared', test: /src\/(app|api|ui)\// },
]

/** Preact in place of React: the bundle is 44 KB smaller, compressed. Libraries would find another release of it next to them. */
const preact = (part: string) => fileURLToPath(import.meta.resolve(`preact${part}`))
const PREACT = [
  { find: /^react$/, replacement: join(import.meta.dirname, 'src/app/react.mjs') },
  { find: /^react-dom$/, replacement: preact('/compat') },
  { find: /^react-dom\/client$/, replacement: preact('/compat/client') },
  { find: /^react\/jsx-runtime$/, replacement: preact('/jsx-runtime') },
  // Parts that no page has. The first brings what places tooltips and menus into the first file.
  {
    find: /^.*\/(TableScrollContainer|AppShellAside|AppShellFooter|AppShellResizeHandle|Collapse)\.mjs$/,
    replacement: join(import.meta.dirname, 'src/app/no-component.mjs'),
  },
  { find: /^preact$/, replacement: preact('') },
  { find: /^preact\/hooks$/, replacement: preact('/hooks') },
]

/** Coasts and borders below maps that show a part of the world: the countries of the demo's data, to a hundredth of a degree. */
const REFERENCE = (() => {
  const file = join(import.meta.dirname, '../tools/demo-data/vectors/natural-earth/countries.geojson')
  const { features } = JSON.parse(readFileSync(file, 'utf8')) as { features: readonly { geometry: Geometry }[] }
  const rings = features.flatMap(({ geometry: { type, coordinates } }) =>
    (type === 'Polygon' ? [coordinates as Rings] : (coordinates as Rings[])).map((polygon) => polygon.map(rounded)),
  )
  const polygons = rings.map((polygon) => polygon.filter((ring) => ring.length > 3)).filter(({ length }) => length > 0)
  const text = JSON.stringify({
    type: 'FeatureCollection',
    features: polygons.map((coordinates) => ({
      type: 'Feature',
      properties: {},
      geometry: { type: 'Polygon', coordinates },
    })),
  })
  const hash = createHash('sha256').update(text).digest('base64url').slice(0, 8)
  return { name: `assets/reference-map-${hash}.json`, text }
})()

type Rings = number[][][]
interface Geometry {
  readonly type: string
  readonly coordinates: Rings | Rings[]
}

function rounded(ring: number[][]): number[][] {
  const points = ring.map(([lon = 0, lat = 0]) => [Math.round(lon * 100) / 100, Math.round(lat * 100) / 100])
  return points.filter(([lon, lat], i) => i === 0 || lon !== points[i - 1]?.[0] || lat !== points[i - 1]?.[1])
}

export default defineConfig({
  resolve: { alias: PREACT },
  define: { __REFERENCE_MAP__: JSON.stringify(`/admin/${REFERENCE.name}`) },
  // Whose address the control plane serves it at.
  base: '/admin/',
  root: import.meta.dirname,
  plugins: [react(), icons(), frameScroll(), early(), usedStyles(), referenceMap(), mapPage(), compressed()],
  build: {
    target: 'es2022',
    // These browsers support light-dark(): the fallback for older ones would look for a colour scheme that the component library sets differently.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    // The map library by itself exceeds the default; it is loaded with the first map.
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

/** Makes the boot a separate entry, which runs as soon as it is loaded, because a stylesheet delays other scripts. */
function early(): Plugin {
  return {
    name: 'early',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'chunk', id: join(import.meta.dirname, BOOT) })
    },
    transformIndexHtml: {
      order: 'post',
      handler: (_html, { bundle }) => {
        const script = Object.values(bundle ?? {}).find(
          (file) => file.type === 'chunk' && file.moduleIds.some((id) => id.endsWith(BOOT)),
        )
        const attrs = { type: 'module', async: true, crossorigin: true, src: `/admin/${script?.fileName}` }
        return [{ tag: 'script', attrs, injectTo: 'head-prepend' }]
      },
    },
  }
}

/** Keeps the library that locks scrolling behind dialogs out of the first file. */
function frameScroll(): Plugin {
  return {
    name: 'frame-scroll',
    enforce: 'pre',
    resolveId: (source, importer = '') =>
      source === 'react-remove-scroll' && importer.includes('/AppShell/')
        ? join(import.meta.dirname, 'src/app/scroll-classes.mjs')
        : null,
  }
}

/** A class of the component library, as its styles and its scripts name it. */
const LIBRARY_CLASS = /\bm_[0-9a-f]{6,8}\b/g

/** Leaves out the rules of components that no script names: half of the library's styles. */
function usedStyles(): Plugin {
  return {
    name: 'used-styles',
    apply: 'build',
    generateBundle: {
      order: 'post',
      handler(_options, bundle) {
        const files = Object.values(bundle)
        const scripts = files.map((file) => (file.type === 'chunk' ? file.code : '')).join()
        const used = new Set(scripts.match(LIBRARY_CLASS))
        const isUsed = (selector: string) => (selector.match(LIBRARY_CLASS) ?? []).every((name) => used.has(name))
        for (const file of files) {
          if (file.type !== 'asset' || !file.fileName.endsWith('.css')) continue
          const styles = postcss.parse(String(file.source))
          styles.walkRules((rule) => {
            const kept = rule.selectors.filter(isUsed)
            if (kept.length === 0) rule.remove()
            else if (kept.length < rule.selectors.length) rule.selectors = kept
          })
          styles.walkAtRules(/^(media|supports|container)$/, (rule) => {
            if (rule.nodes?.length === 0) rule.remove()
          })
          file.source = styles.toString()
        }
      },
    },
  }
}

/** Puts the reference map next to the application's files; it is read when a map is shown. */
function referenceMap(): Plugin {
  return {
    name: 'reference-map',
    apply: 'build',
    buildStart() {
      this.emitFile({ type: 'asset', fileName: REFERENCE.name, source: REFERENCE.text })
    },
  }
}

/** The page at /map/, with the unchanged map library under fixed names, because other pages load it from there. */
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

/** Writes a .br and a .gz next to each compressible file, which the control plane sends unchanged. */
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
    if (!/\.(js|mjs|css|svg|json)$/.test(name) || bytes.length < MIN_COMPRESSED_BYTES) continue
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    const quality = FIRST.test(name) ? constants.BROTLI_MAX_QUALITY : 9
    const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  }
}

import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { defineConfig, type Plugin } from 'vitepress'
import { linkedFiles } from '../linked-files.mjs'
import { chineseWords } from './chinese-words'
import { drawMermaid, linkFiles, showNotRun } from './markdown'
import { sidebar } from './sidebar'

/** Minimum bytes: compressing a smaller file would not save a packet. */
const MIN_COMPRESSED_BYTES = 1024

/** Writes a .br and a .gz next to each compressible file, which the control plane sends unchanged. */
function compressIn(folder: string): void {
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    if (!entry.isFile() || !/\.(html|js|css|svg|json|txt)$/.test(entry.name)) continue
    const bytes = readFileSync(file)
    if (bytes.length < MIN_COMPRESSED_BYTES) continue
    writeFileSync(`${file}.gz`, gzipSync(bytes, { level: 9 }))
    const params = { [constants.BROTLI_PARAM_QUALITY]: 9, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
    writeFileSync(`${file}.br`, brotliCompressSync(bytes, { params }))
  }
}

const REPOSITORY = new URL('../../../../', import.meta.url).pathname

/** The pages are those of docs/ in the repository, where they are also read as Markdown; the control plane serves the built site at /docs/. */
export default defineConfig({
  title: 'Map asset gateway',
  description: 'Tiles and vector data behind service tokens',
  base: '/docs/',
  srcDir: `${REPOSITORY}docs`,
  outDir: `${REPOSITORY}services/tools/docs/dist`,
  cacheDir: `${REPOSITORY}node_modules/.cache/vitepress`,
  // A link to a missing page of the site stops the build.
  ignoreDeadLinks: [/^https:\/\/localhost/],
  // Otherwise each page has a script with the names of all others, and the content security policy would need an entry for each script.
  metaChunk: true,
  // It would add a style element on each change of the colour scheme, which the policy forbids.
  appearance: { disableTransition: false },
  head: [['link', { rel: 'icon', type: 'image/svg+xml', href: '/docs/favicon.svg' }]],
  locales: {
    root: { label: 'English', lang: 'en', themeConfig: { sidebar: sidebar.en } },
    zh: {
      label: '简体中文',
      lang: 'zh-CN',
      title: '地图资产网关',
      description: '凭服务令牌访问的瓦片与矢量数据',
      themeConfig: {
        sidebar: sidebar.zh,
        outline: { label: '本页内容' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '外观',
        lightModeSwitchTitle: '切换到浅色',
        darkModeSwitchTitle: '切换到深色',
        sidebarMenuLabel: '目录',
        returnToTopLabel: '回到顶部',
        langMenuLabel: '语言',
        skipToContentLabel: '跳到正文',
        notFound: {
          title: '没有这个页面',
          quote: '地址可能写错了，或者页面已经移动。可以从首页或搜索中查找。',
          linkLabel: '回到首页',
          linkText: '回到首页',
        },
      },
    },
  },
  themeConfig: {
    notFound: {
      title: 'There is no such page',
      quote: 'The address may be mistyped, or the page has moved. The search and the home page lead to every page.',
      linkLabel: 'Go to the home page',
      linkText: 'Home page',
    },
    // A language need not have every page of the other one.
    i18nRouting: false,
    externalLinkIcon: false,
    search: {
      provider: 'local',
      options: {
        _render: (source, env, markdown) => {
          const html = markdown.render(source, env)
          return env.frontmatter?.search === false ? '' : chineseWords(html)
        },
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                noResultsText: '没有结果：',
                resetButtonTitle: '清除',
                footer: { selectText: '选择', navigateText: '移动', closeText: '关闭' },
              },
            },
          },
        },
      },
    },
  },
  markdown: {
    // Those of the default theme have too little contrast (WCAG 2, 1.4.3).
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    config: (markdown) => {
      showNotRun(markdown)
      drawMermaid(markdown)
      linkFiles(markdown)
    },
  },
  buildEnd: ({ outDir }) => {
    for (const path of linkedFiles(REPOSITORY).copies)
      cpSync(`${REPOSITORY}${path}`, join(outDir, 'files', `${path}.txt`))
    compressIn(outDir)
  },
  vite: {
    plugins: [searchInChinese()],
    // Assets in data: addresses would need an exception in the content security policy.
    build: { assetsInlineLimit: 0 },
  },
})

function searchInChinese(): Plugin {
  const search = fileURLToPath(new URL('theme/search.ts', import.meta.url))
  return {
    name: 'search-in-chinese',
    enforce: 'pre',
    resolveId: (source, importer) => (source === 'minisearch' && importer !== search ? search : null),
  }
}

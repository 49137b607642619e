import { expect, test } from 'vitest'
import { HELP, helpFor, IN_CHINESE } from './help.js'

const pages = import.meta.glob<string>('../../../../docs/**/*.md', { query: '?raw', import: 'default', eager: true })

test.each(Object.entries(HELP))('the help of /%s leads to %s, which is a page with that section', (_part, address) => {
  const [path = '', section] = address.split('#')
  const page = pages[`../../../../docs/${path.replace(/html$/, 'md')}`] ?? ''
  expect(page).toMatch(/^# /m)
  const sections = Array.from(page.matchAll(/^#+ (.+)$/gm), ([, title = '']) =>
    title.toLowerCase().replaceAll(' ', '-'),
  )
  if (section !== undefined) expect(sections).toContain(section)
})

test('a page below a part uses the help of that part, and any other page the start of the documentation', () => {
  expect(helpFor('/slicing/new', '/docs/')).toBe('/docs/reference/slicing.html')
  expect(helpFor('/slicing/new', '/docs/zh/')).toBe('/docs/zh/reference/slicing.html')
  expect(helpFor('/tokens', '/docs/zh/')).toBe('/docs/reference/administration.html#tokens')
  expect(helpFor('/', '/docs/zh/')).toBe('/docs/zh/')
})

test('the help is in Chinese for every page that exists in Chinese', () => {
  const translated = Object.values(HELP).filter(
    (address) => `../../../../docs/zh/${address.replace(/html(#.*)?$/, 'md')}` in pages,
  )
  expect([...new Set(translated)].sort()).toEqual(IN_CHINESE)
})

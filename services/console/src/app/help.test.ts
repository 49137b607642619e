import { expect, test } from 'vitest'
import { HELP, helpFor } from './help.js'

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

test('a page below a part has the help of that part, and any other the first page of the documentation', () => {
  expect(helpFor('/slicing/new', '/docs/zh/')).toBe('/docs/reference/slicing.html')
  expect(helpFor('/', '/docs/zh/')).toBe('/docs/zh/')
})

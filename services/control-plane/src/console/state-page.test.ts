import { expect, test } from 'vitest'
import { statePage } from './state-page.js'

test('names that come from files are text in the page, never markup', () => {
  const hostile = `<script>alert("1")</script>&'`
  const page = statePage({
    version: '1',
    ledger: { basemaps: 1, versions: 1, versions_unavailable: 0, vectors: 0, vectors_unavailable: 0 },
    edges: [],
    basemaps: [
      {
        code: hostile,
        name: hostile,
        default_version: hostile,
        versions: [],
        url_template: hostile,
        source_code: 's',
        created_at: '2026-01-01T00:00:00Z',
        updated_at: '2026-01-01T00:00:00Z',
      },
    ],
  })
  expect(page).not.toContain('<script')
  expect(page.split('&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt;&amp;&#39;')).toHaveLength(5)
})

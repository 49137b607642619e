import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { changesOf } from '../../deploy/release/release-notes.mjs'

const at = (path: string) => new URL(`../../${path}`, import.meta.url)

test('the notes of a release are only its section of the changelog', () => {
  const changelog = '# Changelog\n\n## [2.0.0] - today\n\n### Added\n\n- b\n\n## [1.0.0]\n\n- a\n'
  expect(changesOf(changelog, '2.0.0')).toBe('## [2.0.0] - today\n\n### Added\n\n- b\n')
  expect(() => changesOf(changelog, '3.0.0')).toThrow('no section ## [3.0.0]')
})

test('the version of this checkout has notes', () => {
  const { version } = JSON.parse(readFileSync(at('package.json'), 'utf8'))
  expect(changesOf(readFileSync(at('CHANGELOG.md'), 'utf8'), version).length).toBeGreaterThan(100)
})

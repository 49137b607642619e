import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const { packages } = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  packages: Record<string, { cpu?: string[]; dev?: boolean }>
}

test('every package with a binary for x86-64 that runs on servers has one for arm64', () => {
  const forX64 = Object.keys(packages).filter((path) => packages[path]?.cpu?.includes('x64') && !packages[path].dev)
  const linux = forX64.filter((path) => path.includes('linux'))
  expect(linux.length).toBeGreaterThan(2)
  expect(linux.filter((path) => packages[path.replace('x64', 'arm64')] === undefined)).toEqual([])
})

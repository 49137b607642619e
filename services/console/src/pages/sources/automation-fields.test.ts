import type { ScanSource } from '@gateway/contracts/scan-source.js'
import { expect, test } from 'vitest'
import { automationBody, automationOf } from './automation-fields.js'

test.each([
  { schedule: null, watch: true, publish: 'approval' },
  { schedule: { every_seconds: 5400 }, watch: false, publish: 'automatic' },
  { schedule: { cron: '0 3 * * *', time_zone: 'Asia/Shanghai' }, watch: false, publish: 'automatic' },
] as const)('%j is saved as it was read', (stored) => {
  expect(automationBody(automationOf(stored as unknown as ScanSource))).toEqual(stored)
})

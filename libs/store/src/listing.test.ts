import { expect, test } from 'vitest'
import { type Listing, orderBy } from './listing.js'

const LISTING: Listing = {
  searched: { name: 'name' },
  sortable: { name: 'lower(name)', used: 'used_at' },
  nullable: ['used'],
  order: '-name',
  key: 'id',
  filters: {},
}

test('the order depends only on the listing, with its key for otherwise equal rows', () => {
  expect(orderBy(LISTING)).toBe('lower(name) DESC, id DESC')
  expect(orderBy(LISTING, 'name')).toBe('lower(name) ASC, id ASC')
  expect(orderBy(LISTING, '-used')).toBe('used_at DESC NULLS LAST, id DESC')
  for (const field of ['id', '--name', 'name; DROP TABLE tokens', 'constructor', '__proto__', '']) {
    expect(() => orderBy(LISTING, field)).toThrow(RangeError)
  }
})

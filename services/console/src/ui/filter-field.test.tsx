// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from '@testing-library/react'
import { useState } from 'react'
import { expect, test } from 'vitest'
import { show } from '../testing/render.js'
import { FilterField } from './filter-field.js'

function Field({ isMoment, kept }: { readonly isMoment: boolean; readonly kept: string[] }) {
  const [value, setValue] = useState('')
  const keep = (value: string) => {
    kept.push(value)
    setValue(value)
  }
  return <FilterField filter={{ name: 'from', label: 'From', isMoment }} value={value} onChange={keep} />
}

test('a time that was picked takes effect while the focus stays in its field', async () => {
  const kept: string[] = []
  show(<Field isMoment kept={kept} />)
  const field = screen.getByLabelText('From')
  fireEvent.change(field, { target: { value: '2026-11-26T05:00' } })
  await waitFor(() => expect(kept).toEqual([new Date('2026-11-26T05:00').toISOString()]))
  expect(field).toHaveProperty('value', '2026-11-26T05:00')
})

test('a year of which some digits are missing does not take effect', async () => {
  const kept: string[] = []
  show(<Field isMoment kept={kept} />)
  const field = screen.getByLabelText('From')
  fireEvent.change(field, { target: { value: '0002-11-26T05:00' } })
  fireEvent.blur(field)
  expect(kept).toEqual([])
  fireEvent.change(field, { target: { value: '2026-11-26T05:00' } })
  fireEvent.blur(field)
  expect(kept).toEqual([new Date('2026-11-26T05:00').toISOString()])
})

test('a text takes effect only when it is entered', async () => {
  const kept: string[] = []
  show(<Field isMoment={false} kept={kept} />)
  const field = screen.getByLabelText('From')
  fireEvent.change(field, { target: { value: 'adm' } })
  fireEvent.change(field, { target: { value: 'admin' } })
  fireEvent.keyDown(field, { key: 'Enter' })
  expect(kept).toEqual(['admin'])
})

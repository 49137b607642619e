// @vitest-environment happy-dom
import { screen, waitFor } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { show, stubService } from '../../testing/render.js'
import { Storage } from './source-storage.js'

const source = {
  code: 'bucket',
  name: 'Bucket',
  kind: 'basemap' as const,
  path: 's3://maps/all',
  enabled: true,
  publish: 'automatic' as const,
  schedule: null,
  next_scan_at: null,
  watch: false,
  watch_problem: null,
  last_scan: null,
  queued_at: null,
}

test('the page of a remote source shows its endpoint and its response, and can test it again', async () => {
  const endpoint = 'https://minio.example.org'
  let storage = { endpoint, state: 'refuses', message: 'SignatureDoesNotMatch', milliseconds: 12 }
  const sent = stubService(() => storage)
  show(<Storage source={source} />)
  await screen.findByText('Access denied')
  for (const text of ['s3://maps/all', endpoint, 'SignatureDoesNotMatch']) expect(screen.getByText(text)).toBeTruthy()
  storage = { endpoint, state: 'answers', message: '', milliseconds: 12 }
  await userEvent.click(screen.getByRole('button', { name: 'Check again' }))
  await screen.findByText('Reachable')
  await waitFor(() => expect(screen.queryByText('SignatureDoesNotMatch')).toBeNull())
  expect(sent.map(({ path }) => path)).toEqual(Array(2).fill('/api/v1/admin/scan-sources/bucket/storage'))
})

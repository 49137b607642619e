// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import userEvent from '@testing-library/user-event'
import { expect, test } from 'vitest'
import { call } from '../../api/client.js'
import { show, stubService } from '../../testing/render.js'
import { SourceForm } from './source-form.js'

const TRIED = {
  ...{ problem: 'it is not there', problem_code: null, problem_params: null },
  ...{ added: 0, updated: 0, missing: 0, warnings: 0, coded_messages: [], found: [] },
}

test('the result of a test disappears when another path is entered', async () => {
  stubService(() => TRIED)
  const commandOf = () => call('get', '/api/v1/admin/scan-sources')
  show(<SourceForm pending={false} error={null} commandOf={commandOf as never} onSave={() => undefined} />)
  const path = screen.getByRole('textbox', { name: /Path/ })
  await userEvent.type(path, '/data/old')
  await userEvent.click(screen.getByRole('button', { name: 'Test' }))
  await screen.findByText('This path cannot be scanned')
  await userEvent.type(path, 'er')
  expect(screen.queryByText('This path cannot be scanned')).toBeNull()
})

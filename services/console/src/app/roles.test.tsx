// @vitest-environment happy-dom
import { screen } from '@testing-library/react'
import { expect, test } from 'vitest'
import { show } from '../testing/render.js'
import { ButtonLink } from '../ui/links.js'
import { WriteButton } from '../ui/write-button.js'
import { forRole } from './routes.js'

const OFFERED = (
  <>
    <WriteButton needs="operator">Scan</WriteButton>
    <WriteButton needs="admin">Disable</WriteButton>
    <ButtonLink to="/elsewhere" needs="operator">
      Push
    </ButtonLink>
    <ButtonLink to="/elsewhere">Look</ButtonLink>
  </>
)

test.each([
  ['viewer', ['Look']],
  ['operator', ['Scan', 'Push', 'Look']],
  ['admin', ['Scan', 'Disable', 'Push', 'Look']],
] as const)('a user with role %s is offered %j', (role, names) => {
  show(OFFERED, role)
  const offered = [...screen.queryAllByRole('button'), ...screen.queryAllByRole('link')].map((one) => one.textContent)
  expect(offered.toSorted()).toEqual(names.toSorted())
})

test('a page for another role names the role that it needs', () => {
  const Page = forRole('admin', () => <p>the form</p>)
  show(<Page />, 'operator')
  expect(screen.queryByText('the form')).toBeNull()
  expect(screen.getByText('This page requires the role administrator')).toBeDefined()
})

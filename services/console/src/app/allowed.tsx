import type { Role } from '@gateway/contracts/operator.js'
import type { ComponentType } from 'react'
import IconLock from '~icons/lock'
import { useAllowed } from '../api/session.js'
import { useTexts } from '../texts/texts.js'
import { Empty } from '../ui/empty.js'
import { ButtonLink } from '../ui/links.js'
import { Page } from '../ui/page.js'

/** Wraps a page that needs a role. Users with a lower role see which one it needs. */
export function forRole(needed: Role, Content: ComponentType): ComponentType {
  return function Allowed() {
    const t = useTexts()
    if (useAllowed(needed)) return <Content />
    return (
      <Page title={t.account.forbidden}>
        <Empty
          title={t.account.needed(t.account.roles[needed])}
          icon={IconLock}
          action={<ButtonLink to="/">{t.nav.overview}</ButtonLink>}
        >
          {t.account.forbiddenAdvice}
        </Empty>
      </Page>
    )
  }
}

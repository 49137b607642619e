import { IconCircleCheck } from '@tabler/icons-react'
import { useEffect } from 'react'
import { useTexts } from '../../texts/texts.js'
import { Empty } from '../../ui/empty.js'
import { Page as Frame } from '../../ui/page.js'

/** The end of a sign-in in a window of its own: the page that opened it goes on by itself. */
export function Page() {
  const t = useTexts().account
  // Browsers let a window close itself that a page opened, and no other.
  useEffect(() => window.close(), [])
  return (
    <Frame title={t.signedIn}>
      <Empty title={t.signedIn} icon={IconCircleCheck}>
        {t.signedInAdvice}
      </Empty>
    </Frame>
  )
}

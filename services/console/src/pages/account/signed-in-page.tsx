import { useEffect } from 'react'
import IconCircleCheck from '~icons/circle-check'
import { useTexts } from '../../texts/texts.js'
import { Empty } from '../../ui/empty.js'
import { Page as Frame } from '../../ui/page.js'

/** The last page of a sign-in in a separate window. The page that opened the window continues by itself. */
export function Page() {
  const t = useTexts().account
  // Browsers let a script close only a window that a script opened.
  useEffect(() => window.close(), [])
  return (
    <Frame title={t.signedIn}>
      <Empty title={t.signedIn} icon={IconCircleCheck}>
        {t.signedInAdvice}
      </Empty>
    </Frame>
  )
}

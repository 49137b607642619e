import type { LiveState } from '../api/live-state.js'
import { useTexts } from '../texts/texts.js'
import { Hint } from '../ui/hint.js'

/** Shows whether the page is kept up to date. */
export function LiveMark({ state }: { state: LiveState }) {
  const t = useTexts()
  return (
    <Hint label={t.nav.liveWords[state]}>
      <span role="status" className="live" data-state={state}>
        <span className="live-dot" aria-hidden />
        <span className="live-word">{t.nav.live[state]}</span>
      </span>
    </Hint>
  )
}

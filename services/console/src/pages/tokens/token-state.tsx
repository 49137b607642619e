import type { Token } from '@gateway/contracts/token.js'
import { useTexts } from '../../texts/texts.js'
import { Status, type Tone } from '../../ui/status.js'
import { useNow } from '../../ui/time.js'

export type TokenState = 'active' | 'expired' | 'disabled'

const TONES: Record<TokenState, Tone> = { active: 'good', expired: 'waiting', disabled: 'off' }

export function stateOf(token: Token, now: number): TokenState {
  if (token.disabled_at !== null) return 'disabled'
  return token.expires_at !== null && Date.parse(token.expires_at) <= now ? 'expired' : 'active'
}

export function TokenStatus({ token }: { token: Token }) {
  const t = useTexts()
  const state = stateOf(token, useNow())
  return <Status tone={TONES[state]}>{t.tokens.states[state]}</Status>
}

import type { TokenBody } from '@gateway/contracts/token.js'
import { useQuery } from '@tanstack/react-query'
import { systemQuery } from '../../api/system.js'
import { useIssueToken } from '../../api/tokens.js'
import { useNavigate } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { IssuedDialog } from './issued-dialog.js'
import { TokenForm } from './token-form.js'

export function Page() {
  const t = useTexts()
  const go = useNavigate()
  const issue = useIssueToken()
  const system = useQuery(systemQuery)
  return (
    <Frame title={t.tokens.issue} lead={t.tokens.issueLead} above={[{ label: t.tokens.title, to: '/tokens' }]}>
      <Section title={t.tokens.issue} quiet>
        <TokenForm
          pending={issue.isPending}
          error={issue.error}
          saved={issue.isSuccess}
          commandOf={(body) => issue.commandOf(body as TokenBody)}
          onSave={(body) => issue.mutate(body as TokenBody)}
        />
      </Section>
      <IssuedDialog
        issued={issue.data ?? null}
        apiBase={system.data?.api_base_url ?? window.location.origin}
        onClose={() => {
          // The reset deletes the plaintext from memory.
          issue.reset()
          go('/tokens', SAVED)
        }}
      />
    </Frame>
  )
}

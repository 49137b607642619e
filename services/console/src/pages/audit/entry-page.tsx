import { useQuery } from '@tanstack/react-query'
import { type AuditEntry, auditEntryQuery } from '../../api/system.js'
import { useParams } from '../../router/hooks.js'
import { useTexts } from '../../texts/texts.js'
import { AuditDetail, AuditSubject, useActionName } from '../../ui/audit-entry.js'
import { Fact, Facts } from '../../ui/facts.js'
import { TextLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { Moment } from '../../ui/time.js'

/** One audit entry with all its details. */
export function Page() {
  const t = useTexts().audit
  const { id = '' } = useParams()
  const missing = { title: t.noSuch, back: { label: t.title, to: '/audit' } }
  return (
    <Loaded query={useQuery(auditEntryQuery(id))} what={t.what} missing={missing}>
      {(entry) => <Shown entry={entry} />}
    </Loaded>
  )
}

function Shown({ entry }: { entry: AuditEntry }) {
  const t = useTexts().audit
  const name = useActionName()(entry.action)
  return (
    <Frame title={name} above={[{ label: t.title, to: '/audit' }]}>
      <Section title={name} quiet>
        <Facts>
          <Fact name={t.at}>
            <Moment at={entry.at} />
          </Fact>
          <Fact name={t.actor}>{entry.actor}</Fact>
          <Fact name={t.address}>{entry.address || '–'}</Fact>
          <Fact name={t.action}>{entry.action}</Fact>
          <Fact name={t.subject}>
            <AuditSubject entry={entry} />
          </Fact>
          <Fact name={t.history}>
            <TextLink to={`/audit?subject=${encodeURIComponent(entry.subject)}`}>{entry.subject}</TextLink>
          </Fact>
        </Facts>
      </Section>
      <Section title={t.detail}>
        <AuditDetail action={entry.action} detail={entry.detail} />
      </Section>
    </Frame>
  )
}

import type { EdgePresence } from '@gateway/contracts/edge.js'
import { Button, Group, Text, ThemeIcon, VisuallyHidden } from '@mantine/core'
import { useLocalStorage } from '@mantine/hooks'
import IconCircle from '~icons/circle'
import IconCircleCheck from '~icons/circle-check'
import type { Dashboard } from '../../api/system.js'
import { useTexts } from '../../texts/texts.js'
import { ButtonLink } from '../../ui/links.js'
import { Section } from '../../ui/section.js'

interface FirstRunProps {
  readonly dashboard: Dashboard
  readonly edges: readonly EdgePresence[] | undefined
}

/** Sources and a token that a start made: the demo's, and the folder of sliced layers. They are no step that a person took. */
const MADE_SOURCE = /^(demo-|layers$)/
const DEMO_TOKEN = 'demo'

/** The first steps of operators with their own data. Renders nothing once all steps are done, or after the list was dismissed. */
export function FirstRun({ dashboard, edges }: FirstRunProps) {
  const t = useTexts()
  const [isDismissed, setDismissed] = useLocalStorage({
    key: 'first-steps.dismissed',
    defaultValue: false,
    getInitialValueInEffect: false,
  })
  const { ledger, tokens, scan_sources: sources } = dashboard
  const own = tokens.items.filter(({ name }) => name !== DEMO_TOKEN)
  // Only the newest tokens are listed. An operator who has more is no beginner.
  const isOlder = tokens.active + tokens.expired + tokens.disabled > tokens.items.length
  const noMaps = ledger.basemaps + ledger.vectors === 0
  const steps = [
    { name: t.overview.addSource, to: '/sources/new', done: sources.some(({ code }) => !MADE_SOURCE.test(code)) },
    { name: t.tokens.issue, to: '/tokens/new', done: own.length > 0 },
    {
      name: t.maps.openMap,
      to: ledger.basemaps > 0 ? '/basemaps' : '/vectors',
      done: isOlder || own.some((token) => token.last_used_at !== null),
    },
  ]
  const next = steps.find(({ done }) => !done)
  // Waits for the edges, as the sections around it do: a list that appears later would shift the page.
  if (next === undefined || edges === undefined || isDismissed) return null
  return (
    <Section
      title={noMaps ? t.overview.welcome : t.maps.firstSteps}
      note={noMaps && t.overview.welcomeAdvice}
      actions={
        <Button variant="subtle" size="compact-xs" color="gray" onClick={() => setDismissed(true)}>
          {t.maps.dismissSteps}
        </Button>
      }
    >
      <ol className="first-steps">
        {steps.map((step) => (
          <li key={step.to}>
            <Group gap="xs" wrap="nowrap">
              <ThemeIcon variant="transparent" color={step.done ? 'teal' : 'gray'} size="sm">
                {step.done ? <IconCircleCheck size={20} /> : <IconCircle size={20} />}
              </ThemeIcon>
              {step === next ? (
                <ButtonLink to={step.to} needs={step.to.endsWith('/new') ? 'admin' : 'viewer'} size="xs">
                  {step.name}
                </ButtonLink>
              ) : (
                <Text {...(step.done && { c: 'dimmed' })}>{step.name}</Text>
              )}
              {step.done && <VisuallyHidden>{t.maps.stepDone}</VisuallyHidden>}
            </Group>
          </li>
        ))}
      </ol>
    </Section>
  )
}

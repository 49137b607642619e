import type { EdgePresence } from '@gateway/contracts/edge.js'
import { Group, Text, ThemeIcon, VisuallyHidden } from '@mantine/core'
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

/** The first steps with a new gateway, derived from its current state. Renders nothing once all steps are done. */
export function FirstRun({ dashboard, edges }: FirstRunProps) {
  const t = useTexts()
  const { ledger, tokens } = dashboard
  const noMaps = ledger.basemaps + ledger.vectors === 0
  const steps = [
    // The settings may name folders, and slicing has its own folder, before there is a map.
    { name: t.overview.addSource, to: '/sources/new', done: !noMaps },
    { name: t.tokens.issue, to: '/tokens/new', done: tokens.active + tokens.expired + tokens.disabled > 0 },
    { name: t.maps.openMap, to: ledger.basemaps > 0 ? '/basemaps' : '/vectors', done: wasOpened(dashboard, edges) },
  ]
  const next = steps.find(({ done }) => !done)
  // Waits for the counters of the edges: a list that vanishes at once would only shift the page.
  if (next === undefined || edges === undefined) return null
  return (
    <Section title={noMaps ? t.overview.welcome : t.maps.firstSteps} note={noMaps && t.overview.welcomeAdvice}>
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

/** True if a map was opened. Edges count from their start; the last use of a token is stored for longer. */
function wasOpened({ tokens }: Dashboard, edges: readonly EdgePresence[] = []): boolean {
  return edges.some(({ traffic }) => (traffic?.tiles ?? 0) > 0) || tokens.items.some((token) => token.last_used_at)
}

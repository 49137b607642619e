import { Alert, Group, Radio, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { findTargets } from '../../api/catalog.js'
import { anyTargetQuery, firstTargetQuery, type NewPush, usePush } from '../../api/pushes.js'
import { useNavigate, useSearchParams } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { CodeSelect } from '../../ui/code-select.js'
import { Empty } from '../../ui/empty.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { WriteButton } from '../../ui/write-button.js'
import { PushedField } from './pushed-field.js'

export function Page() {
  const t = useTexts()
  const [any, first] = [useQuery(anyTargetQuery), useQuery(firstTargetQuery)]
  return (
    <Frame title={t.pushes.newPush} above={[{ label: t.pushes.title, to: '/pushes' }]}>
      <Section title={t.pushes.newPush} quiet>
        <Loaded query={any} what={t.pushes.whatTargets}>
          {({ total }) =>
            total === 0 ? (
              <Empty
                title={t.pushes.noTargets}
                action={
                  <ButtonLink to="/pushes/targets/new" needs="admin">
                    {t.pushes.addTarget}
                  </ButtonLink>
                }
              >
                {t.pushes.noTargetsAdvice}
              </Empty>
            ) : (
              <Loaded query={first} what={t.pushes.whatTargets}>
                {({ items }) => <PushForm first={items[0]?.code ?? ''} />}
              </Loaded>
            )
          }
        </Loaded>
      </Section>
    </Frame>
  )
}

/** The form for a new push. The page of a basemap or vector may preselect the subject in the URL. */
function PushForm({ first }: { first: string }) {
  const t = useTexts()
  const go = useNavigate()
  const parameters = useSearchParams()
  const push = usePush()
  const [kind, setKind] = useState(parameters.has('vector') ? 'vector' : 'basemap')
  const [target, setTarget] = useState(first)
  const [asked] = useState({
    basemap_code: parameters.get('basemap') ?? '',
    version: parameters.get('version') ?? '',
    vector_code: parameters.get('vector') ?? '',
  })
  const [pushed, setPushed] = useState(asked)
  const [incomplete, setIncomplete] = useState(false)
  const { basemap_code, version, vector_code } = pushed
  const body: NewPush =
    kind === 'vector' ? { target_code: target, vector_code } : { target_code: target, basemap_code, version }
  const submit = (event: FormEvent) => {
    event.preventDefault()
    const missing = target === '' || (kind === 'vector' ? vector_code === '' : basemap_code === '' || version === '')
    setIncomplete(missing)
    if (missing) return
    push.mutate(body, {
      onSuccess: ({ id }) => {
        notifyDone(t.pushes.sent)
        go(`/pushes/${kind}/${id}`, SAVED)
      },
    })
  }
  return (
    <form onSubmit={submit} noValidate>
      <FormGuard isDirty={() => target !== first || JSON.stringify(pushed) !== JSON.stringify(asked)} />
      <Stack maw={560}>
        <CodeSelect label={t.pushes.target} kind="targets" find={findTargets} value={target} onChange={setTarget} />
        <Radio.Group label={t.pushes.whatKind} value={kind} onChange={setKind}>
          <Group mt="xs">
            <Radio value="basemap" label={t.pushes.aBasemap} />
            <Radio value="vector" label={t.pushes.aVector} />
          </Group>
        </Radio.Group>
        <PushedField kind={kind} value={pushed} onChange={setPushed} />
        {incomplete && (
          <Alert color="orange" role="alert">
            {t.pushes.chooseNeeded}
          </Alert>
        )}
        {push.error !== null && <Problem title={t.pushes.sendFailed} error={push.error} />}
        <Group>
          <WriteButton needs="operator" type="submit" loading={push.isPending}>
            {t.pushes.send}
          </WriteButton>
        </Group>
        <AsCommand command={() => push.commandOf(body)} />
      </Stack>
    </form>
  )
}

import type { Target } from '@gateway/contracts/target.js'
import { useQuery } from '@tanstack/react-query'
import { deleteTarget, targetQuery, useSaveTarget, useTryTarget } from '../../api/pushes.js'
import { useNavigate, useParams } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { AsCommand } from '../../ui/as-command.js'
import { DeleteButton } from '../../ui/delete.js'
import { Loaded } from '../../ui/loaded.js'
import { MoreMenu } from '../../ui/more-menu.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { TargetForm } from './target-form.js'
import { TryButton } from './try-button.js'

const LIST = '/pushes?show=targets'

/** The page of a new or an existing target. */
export function Page() {
  const t = useTexts().pushes
  const { code } = useParams()
  return code === undefined ? <Edit title={t.addTarget} /> : <Existing code={code} />
}

function Existing({ code }: { code: string }) {
  const t = useTexts().pushes
  return (
    <Loaded
      query={useQuery(targetQuery(code))}
      what={t.whatTargets}
      missing={{ title: t.noSuchTarget(shortText(code)), back: { label: t.targets, to: LIST } }}
    >
      {(target) => <Edit title={t.editTarget(shortText(code))} target={target} />}
    </Loaded>
  )
}

function Edit({ title, target }: { title: string; target?: Target }) {
  const t = useTexts()
  const go = useNavigate()
  const save = useSaveTarget(target === undefined)
  const trial = useTryTarget(target?.code ?? '')
  const actions = target && (
    <>
      <MoreMenu needs="admin">
        <DeleteButton deletion={() => deleteTarget(target.code)} name={target.name} words={t.remove.target} to={LIST} />
      </MoreMenu>
      <TryButton code={target.code} />
    </>
  )
  return (
    <Frame
      title={title}
      above={[
        { label: t.pushes.title, to: '/pushes' },
        { label: t.pushes.targets, to: LIST },
      ]}
      actions={actions}
    >
      <Section title={title} quiet>
        <TargetForm
          {...(target && { target })}
          pending={save.isPending}
          error={save.error}
          commandOf={save.commandOf}
          onSave={(body) =>
            save.mutate(body, {
              onSuccess: () => {
                notifyDone(t.pushes.saved(shortText(body.code)))
                go(LIST, SAVED)
              },
            })
          }
        />
        {target && <AsCommand action={t.pushes.tryTarget} command={trial.commandOf} />}
      </Section>
    </Frame>
  )
}

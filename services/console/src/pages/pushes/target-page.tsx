import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from 'react-router'
import { targetsQuery, useSaveTarget } from '../../api/pushes.js'
import { useTexts } from '../../texts/texts.js'
import { Empty } from '../../ui/empty.js'
import { ButtonLink } from '../../ui/links.js'
import { Loaded } from '../../ui/loaded.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { TargetForm } from './target-form.js'
import { TryButton } from './try-button.js'

/** A new target, or one that is there. */
export function Page() {
  const t = useTexts()
  const go = useNavigate()
  const { code } = useParams()
  const query = useQuery(targetsQuery)
  const save = useSaveTarget()
  const target = query.data?.items.find((one) => one.code === code)
  const title = code === undefined ? t.pushes.addTarget : t.pushes.editTarget(code)
  return (
    <Frame
      title={title}
      above={[
        { label: t.pushes.title, to: '/pushes' },
        { label: t.pushes.targets, to: '/pushes?show=targets' },
      ]}
      actions={target && <TryButton code={target.code} />}
    >
      <Loaded query={query} what={t.pushes.whatTargets}>
        {() =>
          code !== undefined && target === undefined ? (
            <Empty
              title={t.pushes.noSuchTarget(code)}
              action={<ButtonLink to="/pushes?show=targets">{t.pushes.targets}</ButtonLink>}
            >
              {t.problem.notFound}
            </Empty>
          ) : (
            <Section title={title} quiet>
              <TargetForm
                key={JSON.stringify(target ?? null)}
                {...(target && { target })}
                pending={save.isPending}
                error={save.error}
                onSave={(body) =>
                  save.mutate(body, {
                    onSuccess: () => {
                      notifyDone(t.pushes.saved(body.code))
                      go('/pushes?show=targets')
                    },
                  })
                }
              />
            </Section>
          )
        }
      </Loaded>
    </Frame>
  )
}

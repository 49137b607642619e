import type { ListedSliceJob, SliceJob } from '@gateway/contracts/slice.js'
import { useQuery } from '@tanstack/react-query'
import { segment } from '../../api/client.js'
import { lastSliceQuery, sliceJobQuery, useSubmitSlice } from '../../api/slicing.js'
import { dashboardQuery } from '../../api/system.js'
import { useNavigate, useSearchParams } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { Loaded } from '../../ui/loaded.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { collator } from '../../ui/table-rows.js'
import { parentOf } from './paths.js'
import { type LayerSettings, SubmitForm } from './submit-form.js'

export function Page() {
  const again = useSearchParams().get('again')
  return again === null ? <Submit /> : <Again id={again} />
}

/** The form with the images and settings of an earlier job. */
function Again({ id }: { id: string }) {
  const t = useTexts().slicing
  const missing = { title: t.noSuch, back: { label: t.title, to: '/slicing' } }
  return (
    <Loaded query={useQuery(sliceJobQuery(id))} what={t.what} missing={missing}>
      {(job) => <Submit job={job} />}
    </Loaded>
  )
}

function Submit({ job }: { job?: SliceJob }) {
  const t = useTexts()
  const go = useNavigate()
  const parameters = useSearchParams()
  const rebuilt = parameters.get('rebuild')
  const dashboard = useQuery(dashboardQuery)
  const jobs = useQuery(lastSliceQuery(rebuilt ?? ''))
  const submit = useSubmitSlice()
  return (
    <Frame
      title={rebuilt === null ? t.slicing.submit : `${t.slicing.rebuild}: ${rebuilt}`}
      lead={rebuilt === null ? t.slicing.submitLead : t.slicing.rebuildHint}
      above={[{ label: t.slicing.title, to: '/slicing' }]}
    >
      <Loaded query={dashboard} what={t.slicing.what}>
        {({ layers }) => (
          <Loaded query={jobs} what={t.slicing.what}>
            {({ items }) => {
              const versions = layers.filter(({ code }) => code === rebuilt)
              const layer = versions.find(({ version }) => version === parameters.get('version')) ?? newest(versions)
              const last = job ?? items.find(({ target_code }) => target_code === rebuilt)
              return (
                <SubmitForm
                  targetCode={job?.target_code ?? rebuilt ?? ''}
                  sourcePaths={job?.source_paths ?? layer?.source_paths ?? []}
                  // New images probably lie in the directory of the newest layer's images.
                  start={parentOf(layers.at(-1)?.source_paths.at(-1))}
                  knownCodes={[...new Set(layers.map(({ code }) => code))]}
                  like={last === undefined ? null : settingsOf(last)}
                  pending={submit.isPending}
                  error={submit.error}
                  commandOf={submit.commandOf}
                  onSubmit={(body) =>
                    submit.mutate(body, {
                      onSuccess: (job) => {
                        notifyDone(t.slicing.sent)
                        go(`/slicing/jobs/${segment(job.id)}`, SAVED)
                      },
                    })
                  }
                />
              )
            }}
          </Loaded>
        )}
      </Loaded>
    </Frame>
  )
}

/** The last version in natural order, as the service chooses the version that a new image goes into. */
function newest<T extends { readonly version: string }>(versions: readonly T[]): T | undefined {
  return versions.toSorted((a, b) => collator.compare(a.version, b.version)).at(-1)
}

function settingsOf(job: ListedSliceJob): LayerSettings {
  const { zoom_min, zoom_max, tile_size, tile_format, tile_matrix_set, encoding, resampling } = job
  return { zoom_min, zoom_max, tile_size, tile_format, tile_matrix_set, encoding, resampling }
}

import type { ScanSourceBody, SourceKind } from '@gateway/contracts/scan-source.js'
import { segment } from '../../api/client.js'
import { useSaveScanSource } from '../../api/scan-sources.js'
import { useNavigate, useSearchParams } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { notifyDone } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Section } from '../../ui/section.js'
import { useScan } from './scan-button.js'
import { SourceForm } from './source-form.js'

export function Page() {
  const t = useTexts()
  const go = useNavigate()
  const parameters = useSearchParams()
  const save = useSaveScanSource(true)
  const { run } = useScan()
  const onSave = (body: ScanSourceBody, thenScan: boolean) =>
    save.mutate(body, {
      onSuccess: () => {
        notifyDone(t.sources.saved(body.code))
        if (thenScan && body.enabled !== false) run(body.code)
        go(`/sources/${segment(body.code)}`, SAVED)
      },
    })
  const kind = parameters.get('kind')
  return (
    <Frame title={t.sources.add} above={[{ label: t.sources.title, to: '/sources' }]}>
      <Section title={t.sources.add} quiet>
        <SourceForm
          {...((kind === 'basemap' || kind === 'vector' || kind === 'style') && { kind: kind as SourceKind })}
          pending={save.isPending}
          error={save.error}
          commandOf={save.commandOf}
          onSave={onSave}
        />
      </Section>
    </Frame>
  )
}

import { wrongInCode } from '@gateway/contracts/codes.js'
import { Alert, Button, FileButton, Group, Progress, Radio, Stack, Text, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import IconUpload from '~icons/upload'
import { segment } from '../../api/client.js'
import { refresh } from '../../api/live.js'
import { forgetUpload, type Uploaded, type UploadTarget, upload } from '../../api/uploads.js'
import { useNavigate } from '../../router/hooks.js'
import { SAVED } from '../../router/router.js'
import { useTexts } from '../../texts/texts.js'
import { codeProblem } from '../../ui/code-and-name.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { Name } from '../../ui/name.js'
import { notifyDone, notifyInfo, notifyWarning } from '../../ui/notify.js'
import { Page as Frame } from '../../ui/page.js'
import { Problem } from '../../ui/problem.js'
import { Section } from '../../ui/section.js'
import { useFormats } from '../../ui/use-formats.js'
import { WriteButton } from '../../ui/write-button.js'
import { MAX_CSV_BYTES, pointsOfCsv } from './csv-points.js'
import { ACCEPTED, codeFrom, extensionOf, type FileKind, kindsOf } from './file-kind.js'

interface Chosen {
  readonly file: File
  readonly kinds: readonly FileKind[]
}

/** Uploads one file, in parts, and imports it as a basemap, a vector or a style. */
export function Page() {
  const t = useTexts()
  const words = t.upload
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [refused, setRefused] = useState<string | null>(null)
  const choose = async (file: File | null) => {
    if (file === null) return
    const read = extensionOf(file.name) === 'csv' ? await fromCsv(file, words) : file
    if (typeof read === 'string') return setRefused(read)
    const kinds = await kindsOf(read)
    setRefused(kinds.length === 0 ? words.unknown(file.name) : null)
    if (kinds.length > 0) setChosen({ file: read, kinds })
  }
  return (
    <Frame title={words.title} above={[{ label: t.sources.title, to: '/sources' }]}>
      <Section title={words.title} quiet>
        <Stack maw={640}>
          {chosen === null ? (
            <DropZone onFile={(file) => void choose(file)} />
          ) : (
            <UploadForm key={chosen.file.name} {...chosen} onOther={() => setChosen(null)} />
          )}
          {refused !== null && <Alert color="orange">{refused}</Alert>}
        </Stack>
      </Section>
    </Frame>
  )
}

/** Returns a GeoJSON file, or the reason why the CSV cannot become one. */
async function fromCsv(file: File, words: ReturnType<typeof useTexts>['upload']): Promise<File | string> {
  if (file.size > MAX_CSV_BYTES) return words.csvTooLarge
  const made = pointsOfCsv(await file.text())
  if (made === null) return words.csvColumns
  if (made.skipped > 0) notifyInfo(words.csvSkipped(made.skipped), words.csvSkippedHint)
  return new File([made.geojson], file.name.replace(/\.csv$/i, '.geojson'), { lastModified: file.lastModified })
}

function DropZone({ onFile }: { onFile: (file: File | null) => void }) {
  const t = useTexts().upload
  const [isOver, setOver] = useState(false)
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same by keyboard
    <div
      className="drop-zone"
      data-over={isOver}
      onDragOver={(event) => {
        event.preventDefault()
        setOver(true)
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault()
        setOver(false)
        onFile(event.dataTransfer.files[0] ?? null)
      }}
    >
      <Stack align="center" gap="xs">
        <Text fw={550}>{t.drop}</Text>
        <FileButton accept={ACCEPTED} onChange={onFile}>
          {(props) => (
            <Button {...props} leftSection={<IconUpload size={18} />}>
              {t.pick}
            </Button>
          )}
        </FileButton>
        <Text size="sm" c="dimmed" ta="center">
          {t.formats}
        </Text>
      </Stack>
    </div>
  )
}

function UploadForm({ file, kinds, onOther }: Chosen & { readonly onOther: () => void }) {
  const t = useTexts()
  const words = t.upload
  const formats = useFormats()
  const go = useNavigate()
  const queries = useQueryClient()
  const [sent, setSent] = useState<number | null>(null)
  const [error, setError] = useState<unknown>(null)
  const running = useRef<AbortController | null>(null)
  useEffect(() => () => running.current?.abort(), [])
  const isZipOfStyle = (kind: FileKind) => kind === 'style' && extensionOf(file.name) === 'zip'
  const form = useForm({
    initialValues: { kind: kinds[0] as FileKind, code: codeFrom(file.name), version: today() },
    validate: {
      code: (code, { kind }) => (code === '' && isZipOfStyle(kind) ? null : codeProblem(code, wrongInCode, t)),
      version: (version, { kind }) => (kind === 'basemap' ? codeProblem(version, wrongInCode, t) : null),
    },
  })
  const { kind } = form.values
  const submit = form.onSubmit(async (values) => {
    if (running.current !== null) return
    running.current = new AbortController()
    const { signal } = running.current
    setError(null)
    setSent(0)
    try {
      const done = await upload(file, targetOf(file, values), setSent, signal)
      for (const warning of done.warnings ?? []) notifyWarning(t.warnings.other, warning)
      notifyDone(words.done(done.code))
      await refresh(queries, ['basemaps', 'versions', 'vectors', 'styles', 'scan-sources', 'dashboard'])
      go(pageOf(done), SAVED)
    } catch (problem) {
      if (!signal.aborted) setError(problem)
    } finally {
      running.current = null
      setSent(null)
    }
  })
  const isSending = sent !== null
  return (
    <form onSubmit={submit} noValidate>
      <FormGuard isDirty={() => true} />
      <Stack>
        <Group justify="space-between">
          <div>
            <Name>{file.name}</Name>
            <Text size="sm" c="dimmed">
              {formats.bytes(file.size)}
            </Text>
          </div>
          <Button
            variant="default"
            size="xs"
            disabled={isSending}
            onClick={() => {
              void forgetUpload(file)
              onOther()
            }}
          >
            {words.other}
          </Button>
        </Group>
        {kinds.length > 1 && (
          <Radio.Group label={words.as} {...form.getInputProps('kind')}>
            <Group mt="xs">
              {kinds.map((one) => (
                <Radio key={one} value={one} label={words.kinds[one]} disabled={isSending} />
              ))}
            </Group>
          </Radio.Group>
        )}
        <TextInput
          label={t.common.code}
          description={words.codeHint[kind]}
          required={!isZipOfStyle(kind)}
          disabled={isSending}
          {...form.getInputProps('code')}
        />
        {kind === 'basemap' && (
          <TextInput
            label={t.common.version}
            description={words.versionHint}
            required
            disabled={isSending}
            {...form.getInputProps('version')}
          />
        )}
        {isSending && (
          <div role="status">
            <Progress value={(100 * sent) / file.size} animated aria-label={words.progress} />
            <Text size="sm" mt={4}>
              {sent < file.size ? words.sent(formats.bytes(sent), formats.bytes(file.size)) : words.importing}
            </Text>
          </div>
        )}
        {error !== null && <Problem title={words.failed} error={error} />}
        <Group>
          <WriteButton needs="operator" type="submit" loading={isSending} icon={IconUpload}>
            {error === null ? words.action : words.again}
          </WriteButton>
          {isSending && (
            <Button variant="default" onClick={() => running.current?.abort()}>
              {words.pause}
            </Button>
          )}
        </Group>
      </Stack>
    </form>
  )
}

interface Values {
  readonly kind: FileKind
  readonly code: string
  readonly version: string
}

function targetOf(file: File, { kind, code, version }: Values): UploadTarget {
  const about = { file: file.name.replace(/\.tiff$/i, '.tif'), bytes: file.size }
  if (kind === 'basemap') return { kind, ...about, code: code.trim(), version: version.trim() }
  if (kind === 'vector') return { kind, ...about, code: code.trim() }
  return { kind, ...about, ...(code.trim() !== '' && { code: code.trim() }) }
}

function pageOf({ kind, code, version }: Uploaded): string {
  if (kind === 'basemap') return `/basemaps/${segment(code)}/versions/${segment(version ?? '')}`
  return kind === 'vector' ? `/vectors/${segment(code)}` : `/styles/${segment(code)}`
}

/** The date in the viewer's zone, a label that sorts. */
function today(): string {
  const now = new Date()
  return [now.getFullYear(), now.getMonth() + 1, now.getDate()].map((n) => String(n).padStart(2, '0')).join('-')
}

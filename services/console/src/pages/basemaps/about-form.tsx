import type { AdminBasemap } from '@gateway/contracts/basemap.js'
import { SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useUpdateBasemap } from '../../api/catalog.js'
import { useAllowed } from '../../api/session.js'
import { useTexts } from '../../texts/texts.js'
import { ChangedElsewhere } from '../../ui/changed-elsewhere.js'
import { FormGuard } from '../../ui/leave-guard.js'
import { notifyDone, notifyFailed } from '../../ui/notify.js'
import { Section } from '../../ui/section.js'
import { shortText } from '../../ui/shown-text.js'
import { WriteButton } from '../../ui/write-button.js'

const LINES = 3

/** The form for the name, owner, tags and description of a basemap. */
export function AboutForm({ basemap }: { basemap: AdminBasemap }) {
  const { maps: t, common } = useTexts()
  const mayChange = useAllowed('operator')
  const write = useUpdateBasemap(basemap.code)
  const stored = {
    name: basemap.name === basemap.scanned_name ? '' : basemap.name,
    owner: basemap.owner ?? '',
    tags: basemap.tags.join(', '),
    description: basemap.description ?? '',
  }
  const form = useForm({ initialValues: stored })
  const orNull = (text: string) => (text.trim() === '' ? null : text.trim())
  const save = form.onSubmit(({ name, owner, tags, description }) =>
    write.mutate(
      { name: orNull(name), owner: orNull(owner), tags: tagsOf(tags), description: orNull(description) },
      {
        onSuccess: () => {
          form.resetDirty()
          notifyDone(t.aboutDone(shortText(basemap.name)))
        },
        onError: (error) => notifyFailed(t.aboutFailed, error),
      },
    ),
  )
  return (
    <Section title={t.about} note={t.aboutLead}>
      <form onSubmit={save}>
        <FormGuard isDirty={() => form.isDirty()} />
        <Stack>
          <ChangedElsewhere form={form} stored={stored} saving={write.isPending} />
          <SimpleGrid cols={{ base: 1, sm: 3 }}>
            <TextInput
              label={t.displayName}
              description={t.displayNameHint(shortText(basemap.scanned_name))}
              disabled={!mayChange}
              {...form.getInputProps('name')}
            />
            <TextInput label={t.owner} description=" " disabled={!mayChange} {...form.getInputProps('owner')} />
            <TextInput label={t.tags} description={t.tagsHint} disabled={!mayChange} {...form.getInputProps('tags')} />
          </SimpleGrid>
          <Textarea
            label={t.description}
            minRows={LINES}
            autosize
            disabled={!mayChange}
            {...form.getInputProps('description')}
          />
          <WriteButton
            needs="operator"
            type="submit"
            disabled={!form.isDirty()}
            loading={write.isPending}
            style={{ alignSelf: 'flex-start' }}
          >
            {common.save}
          </WriteButton>
        </Stack>
      </form>
    </Section>
  )
}

/** Splits at Latin and Chinese commas. */
function tagsOf(text: string): string[] {
  return text
    .split(/[,，]/)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')
}

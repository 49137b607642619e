import { Alert, Stack, Text } from '@mantine/core'
import { useTexts } from '../texts/texts.js'
import { Empty } from './empty.js'
import { ButtonLink } from './links.js'
import { Page } from './page.js'

export interface MissingProps {
  readonly title: string
  /** link to a related page */
  readonly back: { readonly label: string; readonly to: string }
}

/** The page for an object that does not exist. */
export function Missing({ title, back }: MissingProps) {
  const t = useTexts()
  return (
    <Page title={title} above={[back]}>
      <Empty title={title} action={<ButtonLink to={back.to}>{back.label}</ButtonLink>}>
        {t.problem.advice.not_found}
      </Empty>
    </Page>
  )
}

/** Says above a page that its object does not exist any more. */
export function Gone({ title, back }: MissingProps) {
  const t = useTexts()
  return (
    <Alert color="orange" title={title} role="alert" mb="md">
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t.problem.advice.not_found}</Text>
        <ButtonLink to={back.to}>{back.label}</ButtonLink>
      </Stack>
    </Alert>
  )
}

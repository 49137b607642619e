import { ActionIcon, Button, Kbd } from '@mantine/core'
import { useHotkeys } from '@mantine/hooks'
import { spotlight } from '@mantine/spotlight'
import IconSearch from '~icons/search'
import { useTexts } from '../texts/texts.js'

/** Works in fields too, since no field uses it. */
const ANYWHERE = 'mod + K'
/** A character that is typed into fields. */
const OUTSIDE_FIELDS = '/'

/** Opens the search, even before it is loaded. */
export function SearchButton() {
  const t = useTexts()
  useHotkeys([[ANYWHERE, spotlight.open]], [])
  useHotkeys([[OUTSIDE_FIELDS, spotlight.open]])
  return (
    <>
      <Button
        variant="default"
        size="xs"
        visibleFrom="sm"
        onClick={spotlight.open}
        leftSection={<IconSearch size={15} />}
        rightSection={
          <Kbd size="xs" aria-hidden>
            {isMac() ? '⌘' : 'Ctrl'} K
          </Kbd>
        }
        className="search-button"
      >
        {t.nav.search}
      </Button>
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        hiddenFrom="sm"
        aria-label={t.nav.search}
        onClick={spotlight.open}
      >
        <IconSearch size={20} stroke={1.6} />
      </ActionIcon>
    </>
  )
}

const isMac = () => /mac|iphone|ipad/i.test(navigator.userAgent)

import type { Role } from '@gateway/contracts/operator.js'
import IconBell from '~icons/bell'
import IconCloudUpload from '~icons/cloud-upload'
import IconColumns2 from '~icons/columns-2'
import IconDownload from '~icons/download'
import IconFolderPlus from '~icons/folder-plus'
import IconKey from '~icons/key'
import IconKeyboard from '~icons/keyboard'
import IconLanguage from '~icons/language'
import IconLayoutGridAdd from '~icons/layout-grid-add'
import IconMoon from '~icons/moon'
import IconPlugConnected from '~icons/plug-connected'
import IconRefresh from '~icons/refresh'
import IconSend from '~icons/send'
import IconSun from '~icons/sun'
import IconUpload from '~icons/upload'
import IconUserShare from '~icons/user-share'
import { segment } from '../api/client.js'
import { NOT_SEEN } from '../api/list.js'
import { auditFile } from '../api/system.js'
import type { Texts } from '../texts/en.js'
import type { Language } from '../texts/language.js'
import type { Icon } from '../ui/icon.js'
import { SHOW_SHORTCUTS } from './shortcuts.js'

/** An action on its own page, or at a URL of the service. */
export interface SearchAction {
  readonly label: string
  readonly to: string
  /** synonyms by which it is found */
  readonly words?: string
  /** function to call instead of opening `to`, which then only identifies it */
  readonly run?: () => void
  readonly icon: Icon
  readonly needs: Role
  /** true if it leads out of the console: a file */
  readonly outside?: boolean
}

/** Actions that are available everywhere. */
export function generalActions(t: Texts): readonly SearchAction[] {
  const { words } = t.work.palette
  return [
    { label: t.tokens.issue, words: words.newToken, to: '/tokens/new', icon: IconKey, needs: 'admin' },
    { label: t.partner.title, words: words.partner, to: '/tokens/partner', icon: IconUserShare, needs: 'admin' },
    { label: t.sources.add, words: words.source, to: '/sources/new', icon: IconFolderPlus, needs: 'admin' },
    { label: t.upload.title, words: t.upload.formats, to: '/upload', icon: IconUpload, needs: 'operator' },
    { label: t.slicing.submit, words: words.slice, to: '/slicing/new', icon: IconLayoutGridAdd, needs: 'operator' },
    { label: t.pushes.newPush, words: words.publish, to: '/pushes/new', icon: IconSend, needs: 'operator' },
    {
      label: t.work.palette.retryFailed,
      words: words.retry,
      to: `/pushes?${new URLSearchParams(NOT_SEEN)}`,
      icon: IconRefresh,
      needs: 'operator',
    },
    { label: t.pushes.addTarget, to: '/pushes/targets/new', icon: IconPlugConnected, needs: 'admin' },
    {
      label: t.work.notifications.add,
      words: words.notifications,
      to: '/notifications',
      icon: IconBell,
      needs: 'admin',
    },
    {
      label: t.nav.exportAudit,
      to: auditFile({ format: 'csv' }),
      icon: IconDownload,
      needs: 'viewer',
      outside: true,
    },
  ]
}

/** Actions for a found basemap. */
export function basemapActions(t: Texts, code: string, name: string): readonly SearchAction[] {
  const here = `/basemaps/${segment(code)}`
  return [
    { label: `${t.basemaps.compare}: ${name}`, to: `${here}/compare`, icon: IconColumns2, needs: 'viewer' },
    {
      label: `${t.basemaps.push}: ${name}`,
      to: `/pushes/new?basemap=${encodeURIComponent(code)}`,
      icon: IconCloudUpload,
      needs: 'operator',
    },
  ]
}

/** Actions that change the look of the console, and its help. */
export function displayActions(
  t: Texts,
  set: { readonly scheme: (scheme: 'light' | 'dark') => void; readonly language: (language: Language) => void },
): readonly SearchAction[] {
  const { palette } = t.work
  const action = (label: string, words: string, icon: Icon, run: () => void): SearchAction => ({
    label,
    words,
    to: label,
    icon,
    needs: 'viewer',
    run,
  })
  return [
    action(palette.dark, palette.words.theme, IconMoon, () => set.scheme('dark')),
    action(palette.light, palette.words.theme, IconSun, () => set.scheme('light')),
    action(palette.chinese, palette.words.language, IconLanguage, () => set.language('zh')),
    action(palette.english, palette.words.language, IconLanguage, () => set.language('en')),
    action(palette.shortcuts, '?', IconKeyboard, () => window.dispatchEvent(new Event(SHOW_SHORTCUTS))),
  ]
}
